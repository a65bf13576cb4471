// Makes what the server would send.
import type { Event, Output, Task, TaskDetail } from "../api/schema";

export function task(change: Partial<Task> & { id: number }): Task {
  return {
    key: `app-${change.id}`, project: "app", title: `task ${change.id}`, priority: 0, track: "main", agent: "scripted", created_at: "2026-01-01T10:00:00Z",
    status: "ready", stage: "queued", since: "2026-01-01T10:00:00Z", round: 0, sessions: 0, usage: {}, ...change,
  };
}

export function detail(change: Partial<TaskDetail> & { id: number }): TaskDetail {
  return { ...task(change), images: [], history: [], landings: [], check_runs: [], messages: [], questions: [], terminals: [], dependants: [], ...change };
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
