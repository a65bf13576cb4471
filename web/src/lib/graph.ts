// Lays tasks, or parts of a flow, out by their dependencies: each is to the right of
// those that it depends on, and of the task whose agent created it, and near them.

export interface Item {
  key: string;
  id: number; // its place among items without an order
  after?: string[] | null;
  parent?: string;
}

export interface Node<T extends Item = Item> {
  item: T;
  x: number; // column
  y: number; // row within it
}

export interface Edge<T extends Item = Item> {
  from: Node<T>;
  to: Node<T>;
  child?: boolean; // an agent of the first created the second
}

export interface Drawing<T extends Item = Item> {
  nodes: Node<T>[];
  edges: Edge<T>[];
  columns: number;
  rows: number;
}

const BESIDE = 3; // columns of items that have no line

// layout draws connected items in one block, and the blocks below each other,
// those with the newest item first. Items without a line are beside each other, the
// oldest first.
export function layout<T extends Item>(items: T[]): Drawing<T> {
  const out: Drawing<T> = { nodes: [], edges: [], columns: 0, rows: 0 };
  const all = parts(items);
  const single = all.filter((p) => p.length === 1).flat().sort((a, b) => a.id - b.id);
  const blocks = all.filter((p) => p.length > 1).map(block);
  if (single.length > 0) blocks.push({ nodes: single.map((item, i) => ({ item, x: i % BESIDE, y: Math.floor(i / BESIDE) })), edges: [], columns: Math.min(BESIDE, single.length), rows: Math.ceil(single.length / BESIDE) });
  for (const d of blocks) {
    for (const n of d.nodes) n.y += out.rows;
    out.nodes.push(...d.nodes);
    out.edges.push(...d.edges);
    out.columns = Math.max(out.columns, d.columns);
    out.rows += d.rows;
  }
  return out;
}

// before lists the items to the left of one.
const before = (t: Item): string[] => [...(t.after ?? []), ...(t.parent && !t.after?.includes(t.parent) ? [t.parent] : [])];

// parts splits items into connected groups.
function parts<T extends Item>(tasks: T[]): T[][] {
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
  const out = new Map<string, T[]>();
  for (const t of [...tasks].sort((a, b) => b.id - a.id)) {
    const k = find(t.key);
    out.set(k, [...(out.get(k) ?? []), t]);
  }
  return [...out.values()];
}

// block puts each task to the right of the tasks that it depends on. The
// columns are sorted by their neighbours, from the left and from the right.
function block<T extends Item>(tasks: T[]): Drawing<T> {
  const by = new Map(tasks.map((t) => [t.key, t]));
  const after = (t: T) => before(t).filter((k) => by.has(k));
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
  const columns: T[][] = [];
  for (const t of [...tasks].sort((a, b) => a.id - b.id)) (columns[depth.get(t.key)!] ??= []).push(t);
  for (let x = 0; x < columns.length; x++) columns[x] ??= [];
  const next = new Map<string, string[]>();
  for (const t of tasks) for (const k of after(t)) next.set(k, [...(next.get(k) ?? []), t.key]);
  const y = new Map<string, number>();
  columns.forEach((list) => list.forEach((t, i) => y.set(t.key, i)));
  const sweep = (list: T[], near: (t: T) => string[]) => {
    const mid = (t: T) => {
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
  const nodes = new Map<string, Node<T>>();
  columns.forEach((list, x) => list.forEach((item, i) => nodes.set(item.key, { item, x, y: i })));
  const edges = tasks.flatMap((t) => after(t).map((k) => ({ from: nodes.get(k)!, to: nodes.get(t.key)!, child: k === t.parent })));
  return { nodes: [...nodes.values()], edges, columns: columns.length, rows: Math.max(0, ...columns.map((c) => c.length)) };
}
