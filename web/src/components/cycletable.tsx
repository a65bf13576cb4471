// The cycles of a flow: what each review found, which milestones were done after it, how
// many are left, and the cost.
import type { FlowCycle } from "../api/schema";
import { usd } from "../lib/format";
import { Markdown } from "../lib/markdown";
import { first } from "../lib/flow";

export function CycleTable({ cycles }: { cycles: FlowCycle[] }) {
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Cycles">
      <table className="data cycles">
        <thead><tr><th>Cycle</th><th>Found</th><th>Done</th><th className="num">Left</th><th className="num">Cost</th></tr></thead>
        <tbody>
          {cycles.map((c) => (
            <tr key={c.cycle}>
              <th scope="row">{c.cycle}</th>
              <td className="wide">{c.found ? <Found text={c.found} /> : <span className="muted">the review has not ended</span>}</td>
              <td className="wide">{(c.done ?? []).length > 0 ? <ul>{c.done!.map((m) => <li key={m}>☑ {m}</li>)}</ul> : <span className="muted">{c.none}</span>}</td>
              <td className="num">{c.of ? `${c.left} of ${c.of}` : ""}</td>
              <td className="num">{usd(c.cost_usd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Found({ text }: { text: string }) {
  const line = first(text);
  return line === text.trim() ? <>{line}</> : <details><summary>{line}</summary><Markdown text={text} /></details>;
}
