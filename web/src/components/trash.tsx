// Removed workspaces, which can be restored or removed permanently.
import { useState } from "react";
import { change, useAnswer } from "../api/cache";
import { api, dataOf } from "../api/client";
import { queries } from "../api/queries";
import type { TrashItem } from "../api/schema";
import { ago, clock, plural, useNow } from "../lib/format";
import { Link, toTask } from "../router";
import { Dialog } from "../ui/dialog";
import { Loading, ProblemBox } from "../ui/parts";

const restore = (key: string) =>
  change(`The workspace of ${key} comes back; its page shows the folder`, () => dataOf(api.POST("/api/v1/tasks/{key}/undo", { params: { path: { key } }, body: { kind: "removal" } })));

const empty = (tasks: string[]) => change("The trash is being emptied", () => dataOf(api.POST("/api/v1/trash/empty", { body: tasks.length > 0 ? { tasks } : {} })));

export function Trash() {
  const trash = useAnswer(queries.trash());
  const [asking, setAsking] = useState<string[]>(); // whose trash is to be removed; empty for all
  const now = useNow();
  const list = trash.data?.trash ?? [];
  const done = () => void trash.again();
  return (
    <section>
      <div className="page-head"><h2>Trash</h2><span className="grow" />{list.length > 0 && <button className="button small danger" onClick={() => setAsking([])}>Empty the trash</button>}</div>
      {trash.problem && <ProblemBox problem={trash.problem} again={trash.again} />}
      {trash.loading && <Loading what="the trash" />}
      {trash.data && list.length === 0 && <p className="muted">No removed workspaces.</p>}
      {list.length > 0 && <TrashTable list={list} now={now} onRestore={(key) => void restore(key).then(done)} onRemove={(key) => setAsking([key])} />}
      {trash.data?.more && <p className="muted">There is more than this list has.</p>}
      {asking && (
        <Dialog title={asking.length > 0 ? `Remove the trash of ${asking[0]}` : "Empty the trash"} onClose={() => setAsking(undefined)}>
          <form className="form" onSubmit={(e) => {
            e.preventDefault();
            void empty(asking).then(done);
            setAsking(undefined);
          }}>
            <p>{asking.length > 0 ? "This workspace is removed permanently." : `${plural(list.length, "workspace")} are removed permanently, except those in use.`} Work on a branch that has not landed is lost.</p>
            <footer className="form-end">
              <button className="button danger">Remove permanently</button>
              <button type="button" className="button" onClick={() => setAsking(undefined)}>Cancel</button>
            </footer>
          </form>
        </Dialog>
      )}
    </section>
  );
}

export function TrashTable({ list, now, onRestore, onRemove }: { list: TrashItem[]; now: number; onRestore: (key: string) => void; onRemove: (key: string) => void }) {
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Trash">
      <table className="data"><thead><tr><th>Task</th><th>Title</th><th>Removed</th><th>Kept until</th><th>Actions</th></tr></thead>
        <tbody>{list.map((x) => (
          <tr key={x.task + x.removed_at}>
            <td><Link href={toTask(x.task)}>{x.task}</Link></td><td>{x.title}</td>
            <td title={clock(x.removed_at)}>{ago(x.removed_at, now)}</td><td>{clock(x.expires_at)}</td>
            <td>
              {x.restores && <button className="button small" onClick={() => onRestore(x.task)}>Restore</button>}{" "}
              {x.uses ? <span className="muted">in use: {x.uses}</span> : <button className="button small" onClick={() => onRemove(x.task)}>Remove</button>}
            </td>
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}
