// The board as a table, with actions on selected tasks.
import { useMemo, useState } from "react";
import type { BoardColumn, InboxEntry, Task } from "../api/schema";
import { plural, useNow } from "../lib/format";
import { VirtualList } from "../ui/virtual";
import { bulk, can, manyActions } from "./actions";
import { Row, ROW } from "./card";
import { Entries } from "./entry";
import { usePageCommands } from "./keys";

type Item = { column: BoardColumn } | { task: Task } | { cut: BoardColumn };

const idOf = (i: Item) => ("task" in i ? i.task.key : "cut" in i ? "rest of " + i.cut.name : "group " + i.column.name);

function itemsOf(column: BoardColumn): Item[] {
  const tasks = column.tasks ?? [];
  if (tasks.length === 0) return [];
  return [{ column }, ...tasks.map((task) => ({ task })), ...(tasks.length < column.count ? [{ cut: column }] : [])];
}

interface Props {
  list: BoardColumn[];
  entries: InboxEntry[];
  all?: boolean; // offers to select all tasks
  more?: () => void; // reads more tasks of each column
}

export function Table({ list, entries, all, more }: Props) {
  const now = useNow(5000);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const items = useMemo(() => list.flatMap(itemsOf), [list]);
  const keys = items.flatMap((i) => ("task" in i ? [i.task.key] : []));
  const tasks = items.flatMap((i) => ("task" in i && chosen.has(i.task.key) ? [i.task] : []));
  const select = (keys: string[], on: boolean) => {
    const next = new Set(chosen);
    keys.forEach((k) => (on ? next.add(k) : next.delete(k)));
    setChosen(next);
  };
  const offers = manyActions.map((a) => ({ a, fit: tasks.filter((t) => can(t, a.id)) })).filter(({ a, fit }) => fit.length > 0 || !a.more);
  const runAll = ({ a, fit }: (typeof offers)[number]) => void bulk(fit.map((t) => t.key), a).then(() => setChosen(new Set()));
  usePageCommands(useMemo(
    () => offers.filter((o) => o.fit.length > 0).map((o) => ({ id: `selected ${o.a.id}`, name: `${o.a.name} ${plural(o.fit.length, "selected task")}`, hint: "selected tasks", run: () => runAll(o) })),
    [items, chosen],
  ));
  const row = (i: Item) => {
    if ("task" in i) return <Row t={i.task} now={now} selected={chosen.has(i.task.key)} onSelect={(on) => select([i.task.key], on)} />;
    if ("cut" in i) return <div className="row muted">{i.cut.tasks?.length} of {i.cut.count}. {more ? <button className="button small ghost" onClick={more}>Show more</button> : "Filter to see others."}</div>;
    const part = i.column.tasks ?? [];
    return (
      <div className="group-row">
        <input type="checkbox" aria-label={`Select all of ${i.column.name}`} checked={part.every((t) => chosen.has(t.key))} onChange={(e) => select(part.map((t) => t.key), e.target.checked)} />
        <h2>{i.column.name}</h2> <span className="muted">{i.column.count}</span>
      </div>
    );
  };
  return (
    <>
      <Entries list={entries} now={now} />
      {all && <label className="check"><input type="checkbox" checked={keys.length > 0 && keys.every((k) => chosen.has(k))} onChange={(e) => select(keys, e.target.checked)} /> Select all {keys.length} tasks</label>}
      {tasks.length > 0 && (
        <div className="bulk" role="toolbar" aria-label="Selected tasks">
          <strong>{plural(tasks.length, "task")} selected</strong>
          {offers.map((o) => <button key={o.a.id} className={"button small" + (o.a.danger ? " danger" : "")} disabled={o.fit.length === 0} title={o.a.about} onClick={() => runAll(o)}>{o.a.name} {o.fit.length}</button>)}
          <button className="button small ghost" onClick={() => setChosen(new Set())}>Clear</button>
        </div>
      )}
      <VirtualList items={items} height={ROW} className="table" label="Tasks" id={idOf} row={row} />
    </>
  );
}
