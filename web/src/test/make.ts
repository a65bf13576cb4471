// Makes what the server would send.
import type { Board, Event, FlowDetail, FlowStep, InboxEntry, Issue, Output, Project, PullMark, Reacted, Review, ReviewComment, ReviewFile, Schedule, Session, Task, TaskDetail } from "../api/schema";

export function task(change: Partial<Task> & { id: number }): Task {
  return {
    key: `app-${change.id}`, project: "app", title: `task ${change.id}`, priority: 0, track: "main", agent: "scripted", created_at: "2026-01-01T10:00:00Z",
    status: "ready", stage: "queued", since: "2026-01-01T10:00:00Z", round: 0, sessions: 0, usage: {}, can_change: true, can_send: true, ...change,
  };
}

export function pull(change: Partial<PullMark>): PullMark {
  return { number: 12, url: "https://forge.example/12", branch: "coppice/app-1", base: "main", state: "open", state_text: change.draft ? "draft" : (change.state ?? "open"), ...change };
}

export function reacted(change: Partial<Reacted> & { id: number }): Reacted {
  return { key: `ci-failed/${change.id}`, event: "ci-failed", do: "send-to-agent", at: "2026-01-01T10:00:00Z", ...change };
}

export function comment(change: Partial<ReviewComment> & { id: number }): ReviewComment {
  const at = { path: "a.go", first: 2, last: 2 };
  const can = { draft: ["edit", "delete"], sent: ["resolve", "edit"], resolved: ["reopen"] }[change.state ?? "draft"] as ReviewComment["can"];
  return { can, task_id: 1, path: "a.go", side: "new", first: 2, last: 2, blob: "b1", code: "two\n", text: `comment ${change.id}`, file: change.path ?? "a.go", by: "person", state: "draft", created_at: "2026-01-01T10:00:00Z", at, ...change };
}

export function entry(change: Partial<InboxEntry> & { id: string }): InboxEntry {
  const [kind, task] = change.id.split("/") as [InboxEntry["kind"], string];
  return {
    kind, project: "app", task, title: `title of ${task}`, text: "it broke", since: "2026-01-01T10:00:00Z", blocks: "work", can_snooze: true, actions: [], ...change,
  };
}

export function detail(change: Partial<TaskDetail> & { id: number }): TaskDetail {
  return { ...task(change), limits: { turns: 1000 }, images: [], history: [], landings: [], check_runs: [], refusals: 0, messages: [], questions: [], terminals: [], dependants: [], children: [], ...change };
}

export function step(change: Partial<FlowStep> & { key: string }): FlowStep {
  return {
    name: change.key, phase: change.key, task: "app-2", task_id: 2, title: `step ${change.key}`, state: "done", status: "done", agent: "scripted", cost_usd: 0.5, took: "1m30s",
    created_at: "2026-01-01T10:00:00Z", started: "2026-01-01T10:01:00Z", ended: "2026-01-01T10:03:00Z", ...change,
  };
}

export function flow(change: Partial<FlowDetail> & { steps: FlowStep[] }): FlowDetail {
  const kind = change.kind ?? "cycle";
  return {
    kind, done: change.steps.filter((s) => s.state === "done").length, of: change.steps.length, documents: [], outline: [], metrics: { queued: "1m", worked: "3m", cost_usd: 1, phases: [] },
    task: detail({ id: 1, title: "Greet everyone", stage: "flow", status: "working", flow: { kind }, can: ["stop", "pause", "wrap-up"] }), ...change,
  };
}

export function issue(change: Partial<Issue> & { issue: string }): Issue {
  return { id: 1, tracker: "gitea", name: "#" + change.issue, title: `issue ${change.issue}`, can: [], ...change };
}

export function schedule(change: Partial<Schedule> & { name: string }): Schedule {
  return { project: "app", state: "waiting", can: ["run", "pause", "remove"], title: "Update the dependencies", when: "every 6h", every: "6h", next: [], runs: 0, created_at: "2026-01-01T10:00:00Z", ...change };
}

export function session(change: Partial<Session> & { n: number }): Session {
  return {
    id: change.n, key: `app-1.${change.n}`, agent: "scripted", role: "implement", state: "done", round: 0, track: "main", project_id: 1, task_id: 1, cursor: 0, usage: {},
    created_at: "2026-01-01T10:00:00Z", started_at: "2026-01-01T10:00:00Z", ended_at: "2026-01-01T10:02:00Z", ...change,
  };
}

export function file(change: Partial<ReviewFile> & { path: string }): ReviewFile {
  return { kind: "changed", blob: "b1", added: 1, removed: 0, viewed: false, ...change };
}

export function review(change: Partial<Review> = {}): Review {
  return { task: "app-1", base: "b".repeat(40), head: "c".repeat(40), files: [], comments: [], checks: [], drafts: 0, viewed: 0, ...change };
}

const first = { agent: "scripted", limits: { turns: 1000 } };
export const defaults: Project["defaults"] = {
  retry: "same", branch: "coppice/{key}",
  first: [{ ...first, result: "change" }, { ...first, result: "answer", without: ["checks", "interactive"] }, { ...first, result: "checkout", without: ["checks", "after"] }],
};

export function project(change: Partial<Project> & { prefix: string }): Project {
  const policy = { agent: { use: "scripted" }, limits: { sessions: 6 }, base: "main", tracks: [{ name: "main", default: true }] } as Project["policy"];
  return { id: 1, path: `/src/${change.prefix}`, created_at: "2026-01-01T10:00:00Z", last_task: 3, running: 0, policy, defaults, ...change };
}

export function board(columns: Record<string, Task[]>, change: Partial<Board> = {}): Board {
  const list = Object.entries(columns).map(([name, tasks]) => ({ name, count: tasks.length, tasks, needs: name === "Needs you", shown: name === "Needs you" || tasks.length > 0, ordered: true }));
  return { seq: 1, count: list.reduce((n, c) => n + c.count, 0), empty: false, needs: [], statuses: [], projects: [], tracks: [], agents: [], groups: [], labels: [], entries: [], columns: list, ...change };
}

let seq = 0;

export function event(kind: string, subject: string, change: Partial<Event> = {}): Event {
  seq++;
  return { seq, at: new Date(Date.UTC(2026, 0, 1, 10, 0, seq)).toISOString(), kind, subject, task: subject.split(".")[0], by: "engine", ...change };
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
