// Lays tasks out by what they wait for: each stands to the right of all that it
// comes after, and near them.
import type { Task } from "../api/schema";

export interface Node {
  task: Task;
  x: number; // column
  y: number; // row within it
}

export interface Edge {
  from: Node;
  to: Node;
}

export function layout(tasks: Task[]): { nodes: Node[]; edges: Edge[]; columns: number; rows: number } {
  const by = new Map(tasks.map((t) => [t.key, t]));
  const after = (t: Task) => (t.after ?? []).filter((k) => by.has(k));
  const depth = new Map<string, number>();
  // The server refuses cycles; should there be one, it is cut where it closes.
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
  const nodes = new Map<string, Node>();
  columns.forEach((list, x) => {
    const mid = (t: Task) => {
      const ys = after(t).map((k) => nodes.get(k)?.y ?? 0);
      return ys.length ? ys.reduce((a, b) => a + b, 0) / ys.length : t.id;
    };
    const sorted = x === 0 ? list : [...list].sort((a, b) => mid(a) - mid(b) || a.id - b.id);
    sorted.forEach((task, y) => nodes.set(task.key, { task, x, y }));
  });
  const edges = tasks.flatMap((t) => after(t).map((k) => ({ from: nodes.get(k)!, to: nodes.get(t.key)! })));
  return { nodes: [...nodes.values()], edges, columns: columns.length, rows: Math.max(0, ...columns.map((c) => c.length)) };
}

// connected leaves out tasks that wait for nothing and that nothing waits for.
export function connected(tasks: Task[]): Task[] {
  const keys = new Set(tasks.map((t) => t.key));
  const linked = new Set<string>();
  for (const t of tasks) for (const k of t.after ?? []) if (keys.has(k)) linked.add(k).add(t.key);
  return tasks.filter((t) => linked.has(t.key));
}
