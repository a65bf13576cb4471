// How many tasks of a group have which status, as a bar and in words.
import type { Group } from "../api/schema";
import { statuses } from "../api/tables";

// countsOf returns the counts of a group in the order of statuses, without zeros.
export function countsOf(g: Pick<Group, "counts">): [string, number][] {
  return statuses.flatMap((s): [string, number][] => (g.counts[s] ? [[s, g.counts[s]]] : []));
}

export function GroupBar({ g }: { g: Group }) {
  const list = countsOf(g);
  const words = list.map(([s, n]) => `${n} ${s}`).join(", ");
  return (
    <span className="group-counts">
      <span className="group-bar" aria-hidden="true">{list.map(([s, n]) => <i key={s} className={`s-${s.replace(" ", "-")}`} style={{ flexGrow: n }} title={`${n} ${s}`} />)}</span>
      <small className="muted">{words}</small>
    </span>
  );
}
