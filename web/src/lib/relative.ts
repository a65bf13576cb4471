// Paths in logs, relative to the workspace that they are in. Only what people
// see changes: the raw view, copies and downloads keep the whole paths.
import type { TaskDetail } from "../api/schema";
import { workspacePrefix } from "../api/tables";

export type Relative = (text: string) => string;

const made = new Map<string, Relative>(); // by directory: a view compares functions by identity
const same: Relative = (text) => text;

// relativeTo returns a function that removes the directories of workspaces from
// texts. All workspaces of a project are beside each other, those of verifiers
// and checks too.
export function relativeTo(t: Pick<TaskDetail, "workspace" | "history">): Relative {
  const path = t.workspace?.path ?? (t.history ?? []).find((s) => s.path)?.path ?? "";
  const beside = path.slice(0, path.lastIndexOf("/"));
  if (!beside) return same;
  let relative = made.get(beside);
  if (!relative) {
    const inside = new RegExp(beside.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + `/${workspacePrefix}[\\w-]+(/?)`, "g");
    relative = (text) => (text.includes(beside) ? text.replace(inside, (_, slash: string) => (slash ? "" : ".")) : text);
    made.set(beside, relative);
  }
  return relative;
}

// relativeIn returns a value with all its texts changed.
export function relativeIn<T>(value: T, relative: Relative): T {
  if (relative === same) return value;
  const change = (v: unknown): unknown => {
    if (typeof v === "string") return relative(v);
    if (Array.isArray(v)) return v.map(change);
    return typeof v === "object" && v !== null ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, change(x)])) : v;
  };
  return change(value) as T;
}
