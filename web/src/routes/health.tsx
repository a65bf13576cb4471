// The state of the server: its version, the connection to it, and its metrics.
import { useAnswer } from "../api/cache";
import { useLine } from "../api/live";
import { queries } from "../api/queries";
import { commands } from "../components/commands";
import { DiskUse } from "../components/disk";
import { clock, span, useNow } from "../lib/format";
import { Loading, ProblemBox } from "../ui/parts";

export interface Metric {
  name: string;
  labels: string;
  value: number;
  help: string;
}

// readMetrics reads the Prometheus text format.
export function readMetrics(text: string): Metric[] {
  const help = new Map<string, string>();
  const out: Metric[] = [];
  for (const line of text.split("\n")) {
    const about = /^# HELP (\S+) (.*)$/.exec(line);
    if (about) help.set(about[1]!, about[2]!);
    const m = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (m) out.push({ name: m[1]!, labels: (m[2] ?? "").replaceAll('"', "").replaceAll(",", ", "), value: Number(m[3]), help: help.get(m[1]!) ?? "" });
  }
  return out;
}

async function metrics(): Promise<Metric[]> {
  const resp = await fetch("/metrics");
  if (!resp.ok) throw new Error(`the server answered ${resp.status}`);
  return readMetrics(await resp.text());
}

export default function HealthPage() {
  const { connection, since, seq } = useLine();
  const now = useNow();
  const version = useAnswer(queries.version());
  const status = useAnswer(queries.status());
  const counted = useAnswer({ queryKey: ["metrics"], queryFn: metrics, staleTime: 0 });
  return (
    <div className="page">
      <div className="page-head">
        <h1>Health</h1>
        <span className="grow" />
        <button className="button small" onClick={() => [version, status, counted].forEach((q) => q.again())}>Refresh</button>
        <button className="button small" onClick={commands.backup.run}>{commands.backup.name}</button>
      </div>
      <dl className="tiles">
        <div><dt>Connection</dt><dd>{connection} <small>for {span(now - since)}</small></dd></div>
        <div><dt>Version</dt><dd>{version.data?.version ?? "…"} <small>API {version.data?.api}</small></dd></div>
        <div><dt>Newest event</dt><dd>{seq} <small>{status.data && `as of ${clock(status.data.at)}`}</small></dd></div>
        {(status.data?.projects ?? []).map((p) => <div key={p.prefix}><dt>{p.prefix}</dt><dd>{p.running} / {p.limit} <small>{p.paused_at ? "paused" : "sessions"}{p.parked > 0 ? `, ${p.parked} parked` : ""}</small></dd></div>)}
      </dl>
      {(status.data?.warnings ?? []).map((w) => <p className="problem" role="alert" key={w}>{w}</p>)}
      {[version, status, counted].map((q, i) => q.problem && <ProblemBox key={i} problem={q.problem} again={q.again} />)}
      <DiskUse />
      <h2>Counts</h2>
      {!counted.data && counted.loading && <Loading what="the counts" />}
      {counted.data && (
        <div className="scroll-x" tabIndex={0} role="region" aria-label="Counts">
          <table className="data"><thead><tr><th>What</th><th>Of</th><th className="num">Value</th></tr></thead>
            <tbody>{counted.data.map((m) => <tr key={m.name + m.labels}><td title={m.name}>{m.help || m.name}</td><td>{m.labels}</td><td className="num">{m.value}</td></tr>)}</tbody>
          </table>
        </div>
      )}
    </div>
  );
}
