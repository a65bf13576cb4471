// Makes what the server would send.
import type { Event, InboxEntry, Output, ReviewComment, Task, TaskDetail } from "../api/schema";

export function task(change: Partial<Task> & { id: number }): Task {
  return {
    key: `app-${change.id}`, project: "app", title: `task ${change.id}`, priority: 0, track: "main", agent: "scripted", created_at: "2026-01-01T10:00:00Z",
    status: "ready", stage: "queued", since: "2026-01-01T10:00:00Z", round: 0, sessions: 0, usage: {}, ...change,
  };
}

export function comment(change: Partial<ReviewComment> & { id: number }): ReviewComment {
  const at = { path: "a.go", first: 2, last: 2 };
  return { task_id: 1, path: "a.go", side: "new", first: 2, last: 2, blob: "b1", code: "two\n", text: `comment ${change.id}`, by: "person", state: "draft", created_at: "2026-01-01T10:00:00Z", at, ...change };
}

export function entry(change: Partial<InboxEntry> & { id: string }): InboxEntry {
  const [kind, task] = change.id.split("/") as [InboxEntry["kind"], string];
  return {
    kind, project: "app", task, title: `title of ${task}`, text: "it broke", since: "2026-01-01T10:00:00Z", blocks: "work", can_snooze: true, actions: [], ...change,
  };
}

export function detail(change: Partial<TaskDetail> & { id: number }): TaskDetail {
  return { ...task(change), limits: { turns: 1000 }, images: [], history: [], landings: [], check_runs: [], messages: [], questions: [], terminals: [], dependants: [], ...change };
}

let seq = 0;

export function event(kind: string, subject: string, change: Partial<Event> = {}): Event {
  seq++;
  return { seq, at: new Date(Date.UTC(2026, 0, 1, 10, 0, seq)).toISOString(), kind, subject, task_id: 1, by: "engine", ...change };
}

let offset = 0;

export function agentEvent(e: Record<string, unknown>): Output {
  offset += 10;
  return { offset, at: "2026-01-01T10:00:00Z", kind: "event", event: e };
}

export function wrote(kind: string, text: string): Output {
  offset += 10;
  return { offset, at: "2026-01-01T10:00:00Z", kind, data: btoa(text) };
}
