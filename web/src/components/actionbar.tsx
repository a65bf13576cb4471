// The actions of a task, as buttons. The rarer ones are in the menu “More”.
import type { ReactNode } from "react";
import type { Task } from "../api/schema";
import { Menu } from "../ui/menu";
import { actionsOf, perform, type TaskAction } from "./actions";

// ActionBar shows an action under another name if names has one. Such an action is
// never behind “More”. A page's own buttons follow the one that lands. A page that
// shows a commit names it as head: only that commit is approved.
export function ActionBar({ t, names = {}, head, children }: { t: Task; names?: Partial<Record<TaskAction["id"], string>>; head?: string; children?: ReactNode }) {
  const all = actionsOf(t).map((a) => (names[a.id] ? { ...a, name: names[a.id]!, more: false } : a));
  const more = all.filter((a) => a.more);
  const shown = all.filter((a) => !a.more);
  const after = shown.findIndex((a) => a.id === "land") + 1;
  const buttons = (list: TaskAction[]) => list.map((a) => (
    <button key={a.id} className={"button" + (a.danger ? " danger" : "") + (a.id === t.primary ? " primary" : "")} title={a.about} onClick={() => perform(t, a, head)}>{a.name}</button>
  ));
  return (
    <div className="actions">
      {buttons(shown.slice(0, after))}
      {children}
      {buttons(shown.slice(after))}
      {more.length > 0 && <Menu name="More" items={more.map((a) => ({ id: a.id, name: a.name, about: a.about, danger: a.danger, run: () => perform(t, a, head) }))} />}
    </div>
  );
}
