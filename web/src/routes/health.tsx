// Whether the server is healthy, the facts about it, and its metrics.
import { useMemo, useState } from "react";
import { useAnswer } from "../api/cache";
import { useLine } from "../api/live";
import { queries } from "../api/queries";
import type { Health, Status } from "../api/schema";
import { commands, type Command } from "../components/commands";
import { DiskUse } from "../components/disk";
import { usePageCommands } from "../components/keys";
import { Trash } from "../components/trash";
import { ago, clock, plural, size, span, useNow } from "../lib/format";
import { Loading, Mono, ProblemBox } from "../ui/parts";

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
  const now = useNow();
  const health = useAnswer({ ...queries.health(), staleTime: 0 });
  const version = useAnswer(queries.version());
  const status = useAnswer(queries.status());
  const all = [health, version, status];
  const [refresh] = useState((): Command => ({ id: "refresh health", name: "Refresh the health of the server", hint: "this page", run: () => all.forEach((q) => q.again()) }));
  usePageCommands(useMemo(() => [refresh], [refresh]));
  return (
    <div className="page">
      <div className="page-head">
        <h1>Health</h1>
        <span className="grow" />
        <button className="button small" onClick={refresh.run}>Refresh</button>
        <button className="button small" onClick={commands.backup.run}>{commands.backup.name}</button>
      </div>
      {all.map((q, i) => q.problem && <ProblemBox key={i} problem={q.problem} again={q.again} />)}
      {health.data ? <Verdict h={health.data} /> : !health.problem && <Loading what="the health of the server" />}
      <Facts h={health.data} version={version.data?.version} status={status.data} now={now} />
      <DiskUse />
      <Trash />
      <AllMetrics />
    </div>
  );
}

// Verdict says whether the server is healthy, and what to do if not.
export function Verdict({ h }: { h: Health }) {
  const problems = h.problems ?? [];
  if (h.healthy) return <p className="verdict good" role="status"><strong>✓ Healthy</strong> <span className="muted">checked at {clock(h.at)}</span></p>;
  return (
    <section className="verdict bad" role="alert">
      <strong>✗ {plural(problems.length, "problem")}</strong>
      <ul>
        {problems.map((p) => (
          <li key={p.kind + p.text}>
            <p>{p.urgent && <span className="tag bad">urgent</span>} <Mono text={p.text} /></p>
            <p className="muted"><Mono text={p.fix} /></p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Facts({ h, version, status, now }: { h?: Health; version?: string; status?: Status; now: number }) {
  const { connection, since } = useLine();
  const counts = status?.counts ?? {};
  const sum = (...names: string[]) => names.reduce((n, s) => n + (counts[s] ?? 0), 0);
  const projects = status?.projects ?? [];
  return (
    <>
      <dl className="tiles health-facts">
        <div><dt>Version</dt><dd>{version ?? "…"} <small>{h?.started_at && `running for ${ago(h.started_at, now)}`}</small></dd></div>
        <div><dt>Connection</dt><dd>{connection} <small>for {span(now - since)}</small></dd></div>
        <div><dt>Free disk</dt><dd>{h?.disk_free ? size(h.disk_free) : "unknown"} <small>{h?.state}</small></dd></div>
        <div><dt>Newest backup</dt><dd>{h?.backup_at ? `${ago(h.backup_at, now)} ago` : "none yet"} <small>{h?.backup_at ? clock(h.backup_at) : "the server writes one a day"}</small></dd></div>
        <div><dt>Waiting tasks</dt><dd>{sum("ready", "waiting")} <small>{sum("ready")} ready to start</small></dd></div>
        <div><dt>Landing queue</dt><dd>{sum("landing")} <small>{sum("checking")} being checked</small></dd></div>
        {projects.map((p) => <div key={p.prefix}><dt>Sessions of {p.prefix}</dt><dd>{p.running} of {p.limit} <small>{p.paused_at ? "paused" : "in use"}{p.parked > 0 ? `, ${p.parked} parked` : ""}</small></dd></div>)}
      </dl>
      {projects.flatMap((p) => (p.warnings ?? []).map((w) => <p className="problem" role="alert" key={p.prefix + w}>{p.prefix}: {w}</p>))}
    </>
  );
}

// AllMetrics reads the metrics when they are unfolded.
function AllMetrics() {
  const [open, setOpen] = useState(false);
  const counted = useAnswer({ queryKey: ["metrics"], queryFn: metrics, staleTime: 0, enabled: open });
  return (
    <details className="metrics" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>All metrics</summary>
      {counted.problem && <ProblemBox problem={counted.problem} again={counted.again} />}
      {open && !counted.data && counted.loading && <Loading what="the metrics" />}
      {counted.data && (
        <div className="scroll-x" tabIndex={0} role="region" aria-label="All metrics">
          <table className="data"><thead><tr><th>What</th><th>Of</th><th className="num">Value</th></tr></thead>
            <tbody>{counted.data.map((m) => <tr key={m.name + m.labels}><td title={m.name}>{m.help || m.name}</td><td>{m.labels}</td><td className="num">{m.value}</td></tr>)}</tbody>
          </table>
        </div>
      )}
    </details>
  );
}
