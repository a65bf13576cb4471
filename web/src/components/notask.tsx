// NoTask is shown instead of a task: while it is read, and if there is none.
import type { Result } from "../api/cache";
import { Link } from "../router";
import { Empty, Loading, ProblemBox } from "../ui/parts";

export function NoTask({ taskKey, task }: { taskKey: string; task: Result<unknown> }) {
  if (task.problem?.code === "not_found") {
    return <Empty title={`There is no task ${taskKey}`}><p>It might belong to another server. <Link href="/">Go to the board</Link>.</p></Empty>;
  }
  return task.problem ? <ProblemBox problem={task.problem} again={task.again} /> : <Loading what={taskKey} />;
}
