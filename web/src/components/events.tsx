// The event log of a task.
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import { clock } from "../lib/format";
import { Loading, ProblemBox } from "../ui/parts";

export function Events({ task }: { task: string }) {
  const events = useAnswer(queries.events(task));
  if (!events.data) return events.problem ? <ProblemBox problem={events.problem} again={events.again} /> : <Loading what="the log" />;
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Events">
      <table className="data events">
        <thead><tr><th className="num">Seq</th><th>At</th><th>What</th><th>Subject</th><th>By</th><th>Reason</th></tr></thead>
        <tbody>
          {[...events.data].reverse().map((e) => (
            <tr key={e.seq}><td className="num">{e.seq}</td><td>{clock(e.at)}</td><td><code>{e.kind}</code></td><td>{e.subject}</td><td>{e.by}</td><td>{e.reason}</td></tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
