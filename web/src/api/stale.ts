// Which answers an event makes old. An answer without a rule stays.
import type { Get, Params } from "./client";
import type { Event } from "./schema";

// A turn happens often, and only the page of its task shows it.
const turn = (e: Event) => e.kind === "session.turn";

// Notices and the messages about them have a page.
const message = (e: Event) => e.kind.startsWith("notices.") || e.kind.startsWith("notification.");

// Trackers are read every minute. What changes tasks has other events, too.
const tracker = (e: Event) => e.kind.startsWith("tracker.") || e.kind.startsWith("issue.");

const note = (e: Event) => e.kind.startsWith("note.");

// visible reports whether an event changes something that people see of tasks in
// lists.
const visible = (e: Event) => !e.kind.startsWith("work.") && !e.kind.startsWith("locks.") && !message(e) && !tracker(e) && !note(e) && !turn(e);

const of = (...kinds: string[]) => (e: Event) => !turn(e) && kinds.some((k) => (k.endsWith(".") ? e.kind.startsWith(k) : e.kind === k));

const moves = of("session.ended", "landing.", "workspace.", "project.base_moved");

// A plan can store documents, too.
const writes = of("flow.document", "flow.planned");

const work = of("session.", "question.", "check.");

const rules: { [P in Get]?: (e: Event, params: Params<P>) => boolean } = {
  "/api/v1/tasks/{key}": (e, p) => p.path.key === e.task,
  "/api/v1/events": (e, p) => p.query?.task === (e.task ?? ""),
  "/api/v1/tasks/{key}/diff": (e, p) => p.path.key === e.task && moves(e),
  "/api/v1/tasks/{key}/review": (e, p) => p.path.key === e.task && visible(e),
  "/api/v1/sessions/{key}/output": (e, p) => e.kind === "session.ended" && e.subject === p.path.key,
  "/api/v1/board": visible,
  "/api/v1/status": visible,
  "/api/v1/inbox": visible,
  "/api/v1/groups": visible,
  "/api/v1/groups/{id}": visible,
  "/api/v1/flows": visible,
  "/api/v1/flows/{key}": visible, // the events of its steps name the steps
  "/api/v1/flows/{key}/documents/{name}": (e, p) => p.path.key === e.task && writes(e),
  "/api/v1/flows/{key}/documents/{name}/versions": (e, p) => p.path.key === e.task && writes(e),
  "/api/v1/schedules": of("schedule.", "project."),
  "/api/v1/projects/{project}/schedules/{name}": visible,
  "/api/v1/projects/{project}/templates": of("project."),
  "/api/v1/projects/{project}/templates/{name}": of("project."),
  "/api/v1/projects/{project}/template-stats": of("task.ended", "landing."),
  "/api/v1/reactions": of("task.reaction", "pull."), // a push is the result of a reaction
  "/api/v1/projects/{project}/reactions": of("project."),
  "/api/v1/projects/{project}/issues": (e) => tracker(e) || visible(e),
  "/api/v1/projects/{project}/issues/held": (e) => tracker(e) || e.kind === "task.changed",
  "/api/v1/health": of("tracker.read", "notification.failed", "notification.sent", "agent.", "session.ended", "landing.", "project."),
  "/api/v1/landings": visible,
  "/api/v1/graph": visible,
  "/api/v1/tasks": visible,
  "/api/v1/timeline": (e, p) => work(e) && (!p.query?.task || p.query.task === e.task),
  "/api/v1/projects": of("project.", "session.", "landing."),
  "/api/v1/agents": of("agent.", "session.ended", "project.changed", "task.created", "task.ended"),
  "/api/v1/usage": of("session.ended", "session.usage", "agent.budgets_changed"),
  "/api/v1/projects/{project}/locks": of("locks.", "session.ended", "session.parked", "session.unparked"),
  "/api/v1/projects/{project}/features": visible,
  "/api/v1/projects/{project}/notes": note,
  "/api/v1/projects/{project}/notes/{key}": (e, p) => note(e) && e.subject === p.path.key,
  "/api/v1/projects/{project}/config": of("project.changed", "project.added"),
  "/api/v1/projects/{project}/prompts": of("project."),
  "/api/v1/notifiers": message,
  "/api/v1/notifications": message,
  "/api/v1/hooks": of("hook.", "project."),
  "/api/v1/hooks/runs": of("hook."),
};

// stale reports whether an event makes the answer with a key old.
export function stale(e: Event, key: readonly unknown[]): boolean {
  if (key.length > 2) return false; // it has a version
  const rule = rules[key[0] as Get] as ((e: Event, params: unknown) => boolean) | undefined;
  return rule?.(e, key[1]) ?? false;
}
