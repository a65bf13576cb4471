// What the pages of a task have in common: why it is in its status, and what is
// shown while it is not known.
import type { Result } from "../api/cache";
import type { TaskDetail } from "../api/schema";
import { Link } from "../router";
import { Empty, Loading, Mono, ProblemBox } from "../ui/parts";
import { Ask } from "./ask";

// NoTask is shown instead of a task: while it is read, and if there is none.
export function NoTask({ taskKey, task }: { taskKey: string; task: Result<TaskDetail> }) {
  if (task.problem?.code === "not_found") {
    return <Empty title={`There is no task ${taskKey}`}><p>It might belong to another server. <Link href="/">Go to the board</Link>.</p></Empty>;
  }
  return task.problem ? <ProblemBox problem={task.problem} again={task.again} /> : <Loading what={taskKey} />;
}

// Why shows why the task is in its status, and lets a person answer.
export function Why({ t }: { t: TaskDetail }) {
  if (t.question?.open) return <Ask t={t} />;
  const fix = t.fix ?? t.failure?.fix;
  const text = t.reason || t.failure?.text || t.warning;
  if (!text) return null;
  return (
    <div className={"why" + (t.status === "needs you" ? " needs" : t.status === "failed" ? " bad" : "")}>
      <p>{t.failure && t.status !== "done" && <span className="problem-code">{t.failure.class}</span>}<Mono text={text} /></p>
      {fix && <p className="muted"><Mono text={fix} /></p>}
    </div>
  );
}
