// The actions of a task, as buttons. The rarer ones are in the menu “More”.
import type { Task } from "../api/schema";
import { Menu } from "../ui/menu";
import { actionsOf, perform, type TaskAction } from "./actions";

// first are the actions that a person most likely wants. Work that failed must be
// fixed before it lands.
const first = (t: Task): TaskAction["id"][] => (t.status === "failed" ? ["retry"] : ["land", "give"]);

export function ActionBar({ t }: { t: Task }) {
  const all = actionsOf(t);
  const more = all.filter((a) => a.more);
  return (
    <div className="actions">
      {all.filter((a) => !a.more).map((a) => (
        <button key={a.id} className={"button" + (a.danger ? " danger" : "") + (first(t).includes(a.id) ? " primary" : "")} title={a.about} onClick={() => perform(t, a)}>{a.name}</button>
      ))}
      {more.length > 0 && <Menu name="More" items={more.map((a) => ({ id: a.id, name: a.name, about: a.about, danger: a.danger, run: () => perform(t, a) }))} />}
    </div>
  );
}
