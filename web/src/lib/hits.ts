// The place of a search result, in words and as a link.
import type { Hit } from "../api/schema";
import { to, toTask, type Param } from "../router";

// views are the views of a session that show a source. The conversation shows
// the others.
const views: Record<string, Param<"/tasks/{key}", "view">> = { stdout: "raw", app: "app" };
const names: Record<string, string> = { stdout: "raw output", stderr: "error output", host: "host", app: "app log" };

export function placeOf(h: Hit): string {
  if (h.kind === "check") return to("/tasks/{key}", { key: h.task, tab: "checks", check: String(h.check) });
  if (h.kind !== "output" || !h.session) return toTask(h.task);
  return to("/tasks/{key}", { key: h.task, session: h.session, view: views[h.source ?? ""], at: h.offset === undefined ? undefined : String(h.offset) });
}

// sourceOf is empty for the task itself and for an agent's messages and
// actions.
export function sourceOf(h: Hit): string {
  if (h.kind === "check") return "check log" + (h.command ? ` · ${h.command}` : "");
  return names[h.source ?? ""] ?? "";
}
