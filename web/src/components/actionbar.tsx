// The actions of a task, as buttons. The rarer ones are in the menu “More”.
import { useRef } from "react";
import type { Task } from "../api/schema";
import { actionsOf, perform, type TaskAction } from "./actions";

const first: TaskAction["id"][] = ["land", "give"]; // what a person most likely wants

export function ActionBar({ t }: { t: Task }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const choose = (a: TaskAction) => {
    if (menu.current) menu.current.open = false;
    perform(t, a);
  };
  const all = actionsOf(t);
  const more = all.filter((a) => a.more);
  return (
    <div className="actions">
      {all.filter((a) => !a.more).map((a) => (
        <button key={a.id} className={"button" + (a.danger ? " danger" : "") + (first.includes(a.id) ? " primary" : "")} title={a.about} onClick={() => choose(a)}>{a.name}</button>
      ))}
      {more.length > 0 && (
        <details ref={menu} className="menu-box" onBlur={(e) => !e.currentTarget.contains(e.relatedTarget) && (e.currentTarget.open = false)}>
          <summary className="button">More</summary>
          <div>{more.map((a) => <button key={a.id} className="button ghost" title={a.about} onClick={() => choose(a)}>{a.name}</button>)}</div>
        </details>
      )}
    </div>
  );
}
