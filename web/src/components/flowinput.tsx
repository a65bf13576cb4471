// What a person asked of a flow: its description and its spec.
import type { FlowDetail } from "../api/schema";
import { specRows } from "../lib/flow";
import { Markdown } from "../lib/markdown";

const LONG = 1200; // characters of a description that are shown without a click

export function FlowInput({ f }: { f: FlowDetail }) {
  const body = f.task.body ?? "";
  const rows = specRows(f.spec);
  if (!body && rows.length === 0) return null;
  return (
    <section className="flow-part">
      <h2>Input</h2>
      {body && (body.length > LONG ? <details><summary>Description</summary><Markdown text={body} /></details> : <Markdown text={body} />)}
      {rows.length > 0 && (
        <table className="data flow-spec">
          <tbody>{rows.map(([name, value]) => <tr key={name}><th scope="row">{name}</th><td>{value}</td></tr>)}</tbody>
        </table>
      )}
      {f.branch && <p className="muted">Its steps land on <code>{f.branch}</code>.</p>}
    </section>
  );
}
