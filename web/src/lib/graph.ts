// Lays tasks out by their dependencies: each is to the right of the tasks that
// it depends on, and of the task whose agent created it, and near them.
import type { Task } from "../api/schema";

export interface Node {
  task: Task;
  x: number; // column
  y: number; // row within it
}

export interface Edge {
  from: Node;
  to: Node;
  child?: boolean; // an agent of the first created the second
}

export interface Drawing {
  nodes: Node[];
  edges: Edge[];
  columns: number;
  rows: number;
}

// layout draws connected tasks in one block, and the blocks below each other,
// those with the newest task first.
export function layout(tasks: Task[]): Drawing {
  const out: Drawing = { nodes: [], edges: [], columns: 0, rows: 0 };
  for (const part of parts(tasks)) {
    const d = block(part);
    for (const n of d.nodes) n.y += out.rows;
    out.nodes.push(...d.nodes);
    out.edges.push(...d.edges);
    out.columns = Math.max(out.columns, d.columns);
    out.rows += d.rows;
  }
  return out;
}

// before lists the tasks to the left of a task.
const before = (t: Task): string[] => [...(t.after ?? []), ...(t.parent && !t.after?.includes(t.parent) ? [t.parent] : [])];

// parts splits tasks into connected groups.
function parts(tasks: Task[]): Task[][] {
  const by = new Map(tasks.map((t) => [t.key, t]));
  const head = new Map<string, string>();
  const find = (key: string): string => {
    let k = key;
    while (head.has(k)) k = head.get(k)!;
    return k;
  };
  for (const t of tasks) {
    for (const k of before(t)) {
      const [a, b] = [find(t.key), find(k)];
      if (by.has(k) && a !== b) head.set(a, b);
    }
  }
  const out = new Map<string, Task[]>();
  for (const t of [...tasks].sort((a, b) => b.id - a.id)) {
    const k = find(t.key);
    out.set(k, [...(out.get(k) ?? []), t]);
  }
  return [...out.values()];
}

// block puts each task to the right of the tasks that it depends on. The
// columns are sorted by their neighbours, from the left and from the right.
function block(tasks: Task[]): Drawing {
  const by = new Map(tasks.map((t) => [t.key, t]));
  const after = (t: Task) => before(t).filter((k) => by.has(k));
  const depth = new Map<string, number>();
  // The server refuses cycles. If there is one, it is cut where it closes.
  const walk = (key: string, path: Set<string>): number => {
    const known = depth.get(key);
    if (known !== undefined) return known;
    if (path.has(key)) return 0;
    path.add(key);
    const d = Math.max(-1, ...after(by.get(key)!).map((k) => walk(k, path))) + 1;
    path.delete(key);
    depth.set(key, d);
    return d;
  };
  tasks.forEach((t) => walk(t.key, new Set()));
  const columns: Task[][] = [];
  for (const t of [...tasks].sort((a, b) => a.id - b.id)) (columns[depth.get(t.key)!] ??= []).push(t);
  for (let x = 0; x < columns.length; x++) columns[x] ??= [];
  const next = new Map<string, string[]>();
  for (const t of tasks) for (const k of after(t)) next.set(k, [...(next.get(k) ?? []), t.key]);
  const y = new Map<string, number>();
  columns.forEach((list) => list.forEach((t, i) => y.set(t.key, i)));
  const sweep = (list: Task[], near: (t: Task) => string[]) => {
    const mid = (t: Task) => {
      const ys = near(t).map((k) => y.get(k)!);
      return ys.length ? ys.reduce((a, b) => a + b, 0) / ys.length : y.get(t.key)!;
    };
    list.map((t) => ({ t, m: mid(t) })).sort((a, b) => a.m - b.m || a.t.id - b.t.id).forEach(({ t }, i) => {
      list[i] = t;
      y.set(t.key, i);
    });
  };
  for (let round = 0; round < 4; round++) {
    columns.forEach((list) => sweep(list, after));
    [...columns].reverse().forEach((list) => sweep(list, (t) => next.get(t.key) ?? []));
  }
  const nodes = new Map<string, Node>();
  columns.forEach((list, x) => list.forEach((task, i) => nodes.set(task.key, { task, x, y: i })));
  const edges = tasks.flatMap((t) => after(t).map((k) => ({ from: nodes.get(k)!, to: nodes.get(t.key)!, child: k === t.parent })));
  return { nodes: [...nodes.values()], edges, columns: columns.length, rows: Math.max(0, ...columns.map((c) => c.length)) };
}
