// The history of a task: when its sessions and checks ran, and what happened in
// order, in words for people.
import { lazy, Suspense } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import type { Event, TaskDetail } from "../api/schema";
import { clock, span, time } from "../lib/format";
import { Empty, Loading, ProblemBox } from "../ui/parts";

const TaskBars = lazy(() => import("./taskbars"));

const words: Record<string, string> = {
  "task.created": "Created", "task.changed": "Changed", "task.ended": "Ended", "task.stop_asked": "Stop requested", "task.retry_asked": "Restarted",
  "task.requeue_asked": "Requeued", "task.revert_asked": "Revert requested", "task.unstop_asked": "Undo of the stop requested", "workspace.trash_emptied": "Trash removed",
  "task.land_asked": "Landing requested", "task.warned": "Warning", "session.created": "Session", "session.started": "Agent started", "session.ended": "Session ended",
  "session.warned": "Warning", "session.parked": "Parked", "session.unparked": "No longer parked", "question.asked": "Asked", "question.answered": "Answered", "message.sent": "Message", "message.delivered": "Message delivered",
  "message.failed": "Message not delivered", "workspace.ready": "Workspace ready", "workspace.removed": "Workspace removed", "workspace.restored": "Workspace restored",
  "workspace.undo_asked": "Restore requested", "landing.opened": "Offered", "landing.merged": "Merge", "landing.verified": "Verified", "landing.queued": "In the queue", "landing.pushed": "Pushed",
  "landing.waits": "Waiting", "landing.retry": "Retried", "landing.ended": "Landing ended", "check.started": "Checks started", "check.ended": "Check",
  "preview.started": "Preview requested", "preview.ready": "Preview ready", "preview.stop_asked": "Preview stop requested", "preview.ended": "Preview ended",
};

// story leaves out events that only matter to Coppice itself.
export function story(events: Event[]): Event[] {
  return events.filter((e) => words[e.kind] !== undefined);
}

export function History({ t }: { t: TaskDetail }) {
  const events = useAnswer(queries.events(t.key));
  if (!events.data) return events.problem ? <ProblemBox problem={events.problem} again={events.again} /> : <Loading what="the timeline" />;
  const list = story(events.data);
  if (list.length === 0) return <Empty title="Nothing happened yet" />;
  const begin = time(list[0]!.at);
  return (
    <div className="history">
      <Suspense fallback={null}><TaskBars task={t.key} /></Suspense>
      <ol className="story">
        {list.map((e) => (
          <li key={e.seq} className={"e-" + e.kind.split(".")[0]}>
            <time dateTime={e.at} title={clock(e.at)}>+{span(time(e.at) - begin)}</time>
            <span><strong>{words[e.kind]}</strong> {e.kind.startsWith("session.") && <code>{e.subject}</code>} {e.reason}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
