// What the page reads from the server. The key of an answer is its path and
// parameters, so that a rule can name it with types: see stale.ts.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { get, type Answer, type Get, type Params } from "./client";
import type { Event, Review, Says } from "./schema";

let open = () => {};
const following = new Promise<void>((resolve) => (open = resolve));

// startReading lets reads start. They wait until the position in the event log
// is known, so that no change is missed between an answer and the first event.
export const startReading = () => open();

// Key is the key of an answer. With a version, such as the commits that it is
// about, the answer never changes.
export type Key<P extends Get = Get> = readonly [P, Params<P>] | readonly [P, Params<P>, string];

export function read<P extends Get>(path: P, params: Params<P>, { version, ...options }: { text?: boolean; version?: string } = {}) {
  const queryKey: Key<P> = version === undefined ? [path, params] : [path, params, version];
  return queryOptions({
    queryKey,
    queryFn: async ({ signal }): Promise<Answer<P>> => {
      await following;
      return get(path, params, { signal, ...options });
    },
  });
}

export interface BoardFilter {
  project?: string;
  track?: string;
  agent?: string;
  status?: string;
  text?: string;
  archived?: boolean;
  group_id?: number;
  label?: string;
  flagged?: boolean;
  unread?: boolean;
  pull?: "open";
  group?: "status" | "project" | "track";
  column?: string;
  limit?: number;
}

// Commits are a task and the two commits between which its change is.
type Commits = Pick<Review, "task" | "base" | "head">;

// Marks choose tasks by what people mark them with.
export type Marks = Pick<BoardFilter, "group_id" | "label" | "flagged" | "unread">;

const EVENTS = 5000; // of one task

async function eventsOf(task: string, signal: AbortSignal): Promise<Event[]> {
  const out: Event[] = [];
  for (let after = 0; out.length < EVENTS; ) {
    const page = await get("/api/v1/events", { query: { task, after: String(after), limit: 1000 } }, { signal });
    out.push(...(page.events ?? []));
    if (!page.more) break;
    after = page.next;
  }
  return out;
}

export const queries = {
  board: (filter: BoardFilter) => ({ ...read("/api/v1/board", { query: filter }), placeholderData: keepPreviousData }),
  task: (key: string) => read("/api/v1/tasks/{key}", { path: { key } }),
  tasks: (text: string, limit: number) => ({ ...read("/api/v1/tasks", { query: { text, limit } }), placeholderData: keepPreviousData }),
  diff: (key: string, since: "base" | "session") => read("/api/v1/tasks/{key}/diff", { path: { key }, query: { since } }, { text: true }),
  review: (key: string) => read("/api/v1/tasks/{key}/review", { path: { key }, query: { files: "only" } }),
  reviewHunks: (c: Commits, path: string) => ({ ...read("/api/v1/tasks/{key}/review", { path: { key: c.task }, query: { path } }, { version: `${c.base} ${c.head}` }), placeholderData: keepPreviousData }),
  reviewText: (c: Commits, path: string) => ({ ...read("/api/v1/tasks/{key}/review/text", { path: { key: c.task }, query: { path } }, { version: `${c.base} ${c.head}` }), placeholderData: keepPreviousData }),
  events: (task: string) => queryOptions({ queryKey: ["/api/v1/events", { query: { task } }] as const satisfies Key<"/api/v1/events">, queryFn: ({ signal }) => eventsOf(task, signal) }),
  landings: (project: string, marks: Marks = {}) => ({ ...read("/api/v1/landings", { query: { project: project || undefined, ...marks } }), placeholderData: keepPreviousData }),
  graph: (project: string, all: boolean, marks: Marks = {}) => ({ ...read("/api/v1/graph", { query: { project: project || undefined, all, ...marks } }), placeholderData: keepPreviousData }),
  timeline: (from?: string, marks: Marks = {}) => ({ ...read("/api/v1/timeline", { query: { from, ...marks } }), placeholderData: keepPreviousData }),
  inbox: (project: string, all: boolean, marks: Marks = {}) => ({ ...read("/api/v1/inbox", { query: { project: project || undefined, all, ...marks } }), placeholderData: keepPreviousData }),
  groups: (project: string, before?: number) => ({ ...read("/api/v1/groups", { query: { project: project || undefined, before } }), placeholderData: keepPreviousData }),
  flows: (project: string, open: boolean, before?: number) => ({ ...read("/api/v1/flows", { query: { project: project || undefined, open, before } }), placeholderData: keepPreviousData }),
  flow: (key: string) => read("/api/v1/flows/{key}", { path: { key } }),
  document: (key: string, name: string) => read("/api/v1/flows/{key}/documents/{name}", { path: { key, name } }),
  documentVersion: (key: string, name: string, version: number) => read("/api/v1/flows/{key}/documents/{name}", { path: { key, name }, query: { version } }, { version: String(version) }),
  documentVersions: (key: string, name: string) => read("/api/v1/flows/{key}/documents/{name}/versions", { path: { key, name } }),
  schedules: (project: string) => ({ ...read("/api/v1/schedules", { query: { project: project || undefined } }), placeholderData: keepPreviousData }),
  schedule: (project: string, name: string) => read("/api/v1/projects/{project}/schedules/{name}", { path: { project, name } }),
  templates: (project: string) => read("/api/v1/projects/{project}/templates", { path: { project } }),
  template: (project: string, name: string) => read("/api/v1/projects/{project}/templates/{name}", { path: { project, name } }),
  templateStats: (project: string) => read("/api/v1/projects/{project}/template-stats", { path: { project } }),
  reactions: (project: string, before?: number) => ({ ...read("/api/v1/reactions", { query: { project: project || undefined, before } }), placeholderData: keepPreviousData }),
  reactionRules: (project: string) => read("/api/v1/projects/{project}/reactions", { path: { project } }),
  locks: (project: string) => read("/api/v1/projects/{project}/locks", { path: { project } }),
  group: (id: string) => read("/api/v1/groups/{id}", { path: { id } }),
  taskTimeline: (task: string) => read("/api/v1/timeline", { query: { task } }),
  checkLog: (key: string, id: number) => read("/api/v1/tasks/{key}/checks/{id}/log", { path: { key, id } }, { text: true }),
  usage: (query: Params<"/api/v1/usage">["query"]) => ({ ...read("/api/v1/usage", { query }), placeholderData: keepPreviousData }),
  search: (query: Params<"/api/v1/search">["query"]) => ({ ...read("/api/v1/search", { query }), placeholderData: keepPreviousData }),
  pictures: (key: string) => read("/api/v1/sessions/{key}/output", { path: { key }, query: { kinds: ["image"], limit: 200 } }),
  projects: () => read("/api/v1/projects", {}),
  config: (project: string) => read("/api/v1/projects/{project}/config", { path: { project } }),
  prompts: (project: string) => read("/api/v1/projects/{project}/prompts", { path: { project } }),
  notes: (project: string, prefix: string, after: string) => ({ ...read("/api/v1/projects/{project}/notes", { path: { project }, query: { all: true, prefix: prefix || undefined, after: after || undefined } }), placeholderData: keepPreviousData }),
  note: (project: string, key: string, task?: string) => read("/api/v1/projects/{project}/notes/{key}", { path: { project, key }, query: { task } }),
  features: (project: string) => read("/api/v1/projects/{project}/features", { path: { project } }),
  agents: (project: string) => read("/api/v1/agents", { query: { project: project || undefined } }),
  status: () => read("/api/v1/status", { query: { brief: true } }),
  health: () => read("/api/v1/health", {}),
  version: () => read("/api/v1/version", {}),
  disk: () => read("/api/v1/disk", {}),
  trash: () => read("/api/v1/trash", {}),
  issues: (project: string, ended: boolean, before?: number) => ({ ...read("/api/v1/projects/{project}/issues", { path: { project }, query: { ended: ended || undefined, before } }), placeholderData: keepPreviousData }),
  heldIssue: (project: string, tracker: string, issue: string) => read("/api/v1/projects/{project}/issues/held", { path: { project }, query: { tracker, issue } }),
  notifiers: () => read("/api/v1/notifiers", {}),
  notifySettings: () => read("/api/v1/notifiers/settings", {}),
  notifications: (notifier: string, before: string) => read("/api/v1/notifications", { query: { limit: 50, notifier: notifier || undefined, before: Number(before) || undefined } }),
  hooks: () => read("/api/v1/hooks", {}),
  hookRuns: () => read("/api/v1/hooks/runs", { query: { limit: 20 } }),
};

// saysKey is the key of the line of a task's session, which its stream sends.
export const saysKey = (task: string) => ["says", task] as const;
export type SaysLine = Says | null;
