// The board as columns of cards. A column reads more of its tasks when the user
// scrolls to its end.
import { useRef, useState } from "react";
import { useAnswer } from "../api/cache";
import { queries, type BoardFilter } from "../api/queries";
import type { BoardColumn, InboxEntry, Task } from "../api/schema";
import { useNow } from "../lib/format";
import { VirtualList } from "../ui/virtual";
import { place } from "./actions";
import { Card, cardHeight, type Drag } from "./card";
import { Entries } from "./entry";

const LIMITS = [200, 500]; // tasks that a column reads when its end is reached

// useColumn returns the tasks of a column, and how to get more of them.
export function useColumn(filter: BoardFilter, column: BoardColumn): { tasks: Task[]; more?: () => void } {
  const [step, setStep] = useState(-1);
  const limit = LIMITS[step];
  const own = useAnswer({ ...queries.board({ ...filter, column: column.name, limit }), enabled: limit !== undefined });
  const tasks = (limit !== undefined && own.data?.columns?.find((c) => c.name === column.name)?.tasks) || column.tasks || [];
  return { tasks, more: tasks.length < column.count && step + 1 < LIMITS.length ? () => setStep(step + 1) : undefined };
}

export function Columns({ list, filter, entries }: { list: BoardColumn[]; filter: BoardFilter; entries: InboxEntry[] }) {
  const now = useNow(5000);
  const moving = useRef<Task>(undefined);
  const drag = (tasks: Task[]): Drag => ({
    onStart: (t) => (moving.current = t),
    onDrop: (target, before) => {
      const t = moving.current;
      moving.current = undefined;
      if (!t || t.key === target.key) return;
      const rest = tasks.filter((x) => x.key !== t.key);
      const at = rest.findIndex((x) => x.key === target.key) + (before ? 0 : 1);
      void place(t, { above: rest[at - 1]?.key, below: rest[at]?.key });
    },
  });
  return (
    <div className="columns" tabIndex={0} role="region" aria-label="Columns">
      {list.filter((c) => c.shown).map((c) => (
        <Column key={c.name} c={c} filter={filter} entries={c.needs ? entries : []} now={now} drag={c.ordered ? drag : undefined} />
      ))}
    </div>
  );
}

function Column({ c, filter, entries, now, drag }: { c: BoardColumn; filter: BoardFilter; entries: InboxEntry[]; now: number; drag?: (tasks: Task[]) => Drag }) {
  const { tasks, more } = useColumn(filter, c);
  const cut = c.count - tasks.length;
  const grip = drag?.(tasks);
  return (
    <section className={"column" + (c.needs ? " needs" : "")} aria-label={c.name}>
      <h2>{c.name} <span className="muted">{c.count + entries.length}</span></h2>
      <Entries list={entries} now={now} />
      {tasks.length > 0 && <VirtualList items={tasks} height={cardHeight(tasks)} label={c.name} id={(t) => t.key} onEnd={more} row={(t) => <Card t={t} now={now} column={c.name} drag={grip} />} />}
      {tasks.length === 0 && entries.length === 0 && <p className="column-empty">{c.needs ? "Nothing needs you." : "None."}</p>}
      {cut > 0 && <p className="muted column-more">{more ? <button className="button small ghost" onClick={more}>Show more of {c.count}</button> : `${tasks.length} of ${c.count}. Filter to see others.`}</p>}
    </section>
  );
}
