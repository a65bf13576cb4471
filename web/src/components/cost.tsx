// What a task has used, session by session.
import type { TaskDetail, Usage } from "../api/schema";
import { cost, count } from "../lib/format";
import { Empty } from "../ui/parts";

const columns: [string, (u: Usage) => string][] = [
  ["Cost", cost],
  ["Input", (u) => count(u.input_tokens)],
  ["Output", (u) => count(u.output_tokens)],
  ["Cache read", (u) => count(u.cache_read_tokens)],
  ["Cache write", (u) => count(u.cache_write_tokens)],
  ["Turns", (u) => count(u.turns)],
];

export function Cost({ t }: { t: TaskDetail }) {
  const sessions = t.history ?? [];
  if (sessions.length === 0) return <Empty title="Nothing used yet"><p>The tokens and costs of its sessions appear here.</p></Empty>;
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Cost by session">
      <table className="data">
        <thead><tr><th>Session</th><th>Role</th><th>Agent</th>{columns.map(([n]) => <th key={n} className="num">{n}</th>)}</tr></thead>
        <tbody>
          {sessions.map((s) => (
            <tr key={s.key}><td className="whole">{s.key}</td><td>{s.role}</td><td>{s.agent}{s.model ? ` · ${s.model}` : ""}</td>{columns.map(([n, f]) => <td key={n} className="num">{f(s.usage)}</td>)}</tr>
          ))}
        </tbody>
        <tfoot><tr><th>Total</th><td /><td />{columns.map(([n, f]) => <td key={n} className="num">{f(t.usage)}</td>)}</tr></tfoot>
      </table>
    </div>
  );
}
