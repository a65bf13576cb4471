// Removed workspaces, which can be restored or removed permanently.
import { useMemo } from "react";
import { change, useAnswer } from "../api/cache";
import { api, dataOf } from "../api/client";
import { queries } from "../api/queries";
import type { TrashItem } from "../api/schema";
import { ago, clock, useNow } from "../lib/format";
import { Link, toTask } from "../router";
import { Dialog } from "../ui/dialog";
import { Loading, ProblemBox } from "../ui/parts";
import { commands, trashCommands } from "./commands";
import { usePageCommands } from "./keys";

const empty = (tasks: string[]) => change("The trash is being emptied", () => dataOf(api.POST("/api/v1/trash/empty", { body: tasks.length > 0 ? { tasks } : {} })));

const none: TrashItem[] = [];

export function Trash() {
  const trash = useAnswer(queries.trash());
  const now = useNow();
  const list = trash.data?.trash ?? none;
  usePageCommands(useMemo(() => list.flatMap((x) => Object.values(trashCommands(x))), [list]));
  return (
    <section>
      <div className="page-head"><h2>Trash</h2><span className="grow" />{list.length > 0 && <button className="button small danger" onClick={commands.trash.run}>Empty the trash</button>}</div>
      {trash.problem && <ProblemBox problem={trash.problem} again={trash.again} />}
      {trash.loading && <Loading what="the trash" />}
      {trash.data && list.length === 0 && <p className="muted">No removed workspaces.</p>}
      {list.length > 0 && <TrashTable list={list} now={now} />}
      {trash.data?.more && <p className="muted">There is more than this list has.</p>}
    </section>
  );
}

// TrashDialog asks before removed workspaces are removed permanently: the one of a
// task, or all.
export function TrashDialog({ task, onClose }: { task?: string; onClose: () => void }) {
  return (
    <Dialog title={task ? `Remove the trash of ${task}` : "Empty the trash"} onClose={onClose}>
      <form className="form" onSubmit={(e) => {
        e.preventDefault();
        void empty(task ? [task] : []);
        onClose();
      }}>
        <p>{task ? "This workspace is removed permanently." : "All removed workspaces are removed permanently, except those in use."} Work on a branch that has not landed is lost.</p>
        <footer className="form-end">
          <button className="button danger">Remove permanently</button>
          <button type="button" className="button" onClick={onClose}>Cancel</button>
        </footer>
      </form>
    </Dialog>
  );
}

export function TrashTable({ list, now }: { list: TrashItem[]; now: number }) {
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Trash">
      <table className="data"><thead><tr><th>Task</th><th>Title</th><th>Removed</th><th>Kept until</th><th>Actions</th></tr></thead>
        <tbody>{list.map((x) => {
          const { restore, remove } = trashCommands(x);
          return (
            <tr key={x.task + x.removed_at}>
              <td><Link href={toTask(x.task)}>{x.task}</Link></td><td>{x.title}</td>
              <td title={clock(x.removed_at)}>{ago(x.removed_at, now)}</td><td>{clock(x.expires_at)}</td>
              <td>
                {restore && <button className="button small" onClick={restore.run}>Restore</button>}{" "}
                {remove ? <button className="button small" onClick={remove.run}>Remove</button> : <span className="muted">in use: {x.uses}</span>}
              </td>
            </tr>
          );
        })}</tbody>
      </table>
    </div>
  );
}
