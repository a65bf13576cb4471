// The board: which tasks it shows, in which columns, in which order.
import type { Task } from "../api/schema";

export const STATUSES = ["needs you", "working", "verifying", "fixing", "checking", "landing", "ready", "waiting", "failed", "done", "cancelled"] as const;

export interface Filter {
  text: string;
  project: string;
  track: string;
  agent: string;
  status: string;
}

export interface Group {
  name: string;
  tasks: Task[];
}

export function matches(t: Task, f: Filter): boolean {
  if (f.project && t.project !== f.project) return false;
  if (f.track && t.track !== f.track) return false;
  if (f.agent && t.agent !== f.agent) return false;
  if (f.status && t.status !== f.status) return false;
  if (!f.text) return true;
  const text = f.text.toLowerCase();
  return t.key.includes(text) || t.title.toLowerCase().includes(text) || (t.reason ?? "").toLowerCase().includes(text);
}

const columns: [string, string[]][] = [
  ["Needs you", ["needs you"]],
  ["Working", ["working", "verifying", "fixing"]],
  ["Checking", ["checking"]],
  ["Landing", ["landing"]],
  ["Waiting", ["ready", "waiting"]],
  ["Failed", ["failed"]],
  ["Done", ["done", "cancelled"]],
];

export const NEEDS_YOU = "Needs you";

const rank = new Map<string, number>(STATUSES.map((s, i) => [s, i]));

// order sorts waiting tasks by priority, ended ones newest first, and all
// others oldest first, because those need attention first.
export function order(a: Task, b: Task): number {
  const byStatus = (rank.get(a.status) ?? 99) - (rank.get(b.status) ?? 99);
  if (byStatus !== 0) return byStatus;
  if (a.ended_at || b.ended_at) return (b.ended_at ?? "").localeCompare(a.ended_at ?? "") || b.id - a.id;
  return b.priority - a.priority || a.id - b.id;
}

// groups sorts tasks into columns. What needs a person comes first in every
// grouping. Empty groups are left out unless they are statuses.
export function groups(tasks: Task[], by: string): Group[] {
  const sorted = [...tasks].sort(order);
  if (by !== "project" && by !== "track") {
    return columns.map(([name, statuses]) => ({ name, tasks: sorted.filter((t) => statuses.includes(t.status)) }));
  }
  const rest = new Map<string, Task[]>();
  const needs: Task[] = [];
  for (const t of sorted) {
    if (t.status === "needs you") {
      needs.push(t);
      continue;
    }
    const name = by === "project" ? t.project : `${t.project} · ${t.track}`;
    rest.set(name, [...(rest.get(name) ?? []), t]);
  }
  const others = [...rest].sort(([a], [b]) => a.localeCompare(b)).map(([name, list]) => ({ name, tasks: list }));
  return [{ name: NEEDS_YOU, tasks: needs }, ...others];
}

const LEAST = -10;
const MOST = 10;

// priorityBetween returns the priority that puts a task between two others of a
// list that is sorted by priority and then by id.
export function priorityBetween(t: Task, above: Task | undefined, below: Task | undefined): number {
  const clamp = (n: number) => Math.max(LEAST, Math.min(MOST, n));
  if (!above && !below) return t.priority;
  if (!above) return t.priority >= below!.priority && (t.priority > below!.priority || t.id < below!.id) ? t.priority : clamp(below!.priority + (t.id < below!.id ? 0 : 1));
  if (!below) return t.priority <= above.priority && (t.priority < above.priority || t.id > above.id) ? t.priority : clamp(above.priority - (t.id > above.id ? 0 : 1));
  if (t.id < below.id) return below.priority;
  if (t.id > above.id) return above.priority;
  return clamp(Math.min(above.priority, below.priority + 1));
}

export function values(tasks: Task[], of: (t: Task) => string): string[] {
  return [...new Set(tasks.map(of))].filter(Boolean).sort();
}
