// A debate as a grid of sides and rounds: the verdict and the summary of each statement.
import type { FlowStep } from "../api/schema";
import type { Round } from "../lib/flow";
import { Markdown } from "../lib/markdown";
import { Link, toTask } from "../router";
import { StatusBadge } from "../ui/parts";

const tones: Record<string, string> = { agree: " good", disagree: " bad" };

export function DebateGrid({ rounds }: { rounds: Round[] }) {
  const sides = [0, 1].map((n) => rounds.map((r) => r.sides[n]).find((s) => s !== undefined));
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Rounds">
      <table className="data debate">
        <thead><tr><th>Round</th>{sides.map((s, n) => <th key={n}>{s ? s.agent + (s.model ? ` · ${s.model}` : "") : `side ${n + 1}`}</th>)}</tr></thead>
        <tbody>{rounds.map((r) => <tr key={r.name}><th scope="row">{r.name}</th>{r.sides.map((s, n) => <td key={n}>{s && <Statement s={s} />}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}

function Statement({ s }: { s: FlowStep }) {
  const { said } = s;
  return (
    <div className="statement">
      <p>
        {said ? <span className={"tag" + (tones[said.verdict] ?? "")}>{said.verdict}</span> : <StatusBadge status={s.status} />} <Link href={toTask(s.task)}>{s.task}</Link>
      </p>
      {said ? <Markdown text={said.summary} /> : s.result && <Markdown text={s.result} />}
      {said?.changed && <p className="muted">Changed: {said.changed}</p>}
      {said?.position && <details><summary>Position</summary><Markdown text={said.position} /></details>}
    </div>
  );
}
