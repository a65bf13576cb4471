// The place of a search result, in words and as a link.
import { query } from "../api/client";
import type { Hit } from "../api/schema";

// views are the views of a session that show a source. The conversation shows
// the others.
const views: Record<string, string> = { stdout: "raw", app: "app" };
const names: Record<string, string> = { stdout: "raw output", stderr: "error output", host: "host", app: "app log" };

export function placeOf(h: Hit): string {
  const task = "/tasks/" + h.task;
  if (h.kind === "check") return task + query({ tab: "checks", check: h.check });
  if (h.kind !== "output" || !h.session) return task;
  return task + query({ session: h.session, view: views[h.source ?? ""], at: h.offset });
}

// sourceOf is empty for the task itself and for an agent's messages and
// actions.
export function sourceOf(h: Hit): string {
  if (h.kind === "check") return "check log" + (h.command ? ` · ${h.command}` : "");
  return names[h.source ?? ""] ?? "";
}
