// The answer of a task, and the schema that it must match.
import type { TaskDetail } from "../api/schema";
import { Markdown } from "../lib/markdown";
import { Copy, Empty } from "../ui/parts";

const pretty = (value: unknown) => JSON.stringify(value, null, 2);

export function Answer({ t }: { t: TaskDetail }) {
  const a = t.answer;
  const last = (t.history ?? []).findLast((s) => s.answer)?.answer;
  return (
    <div className="answer">
      {a && a.value === undefined && <><Markdown text={a.text ?? ""} /><Copy text={a.text ?? ""} label="Copy the answer" hidden /></>}
      {a && a.value !== undefined && <><pre>{pretty(a.value)}</pre><Copy text={pretty(a.value)} label="Copy the answer" hidden /></>}
      {!a && <Empty title="No answer yet"><p>{last?.problem ? `The last try: ${last.problem}` : "It appears here when a session has ended with an answer."}</p></Empty>}
      {t.schema !== undefined && <details><summary>The schema it must match</summary><pre>{pretty(t.schema)}</pre></details>}
    </div>
  );
}
