// The feed holds every task and keeps them up to date by the event log. Events
// say which tasks changed. The feed reads those again, in batches. It derives
// nothing that the server derives.
import { ApiError } from "./client";
import type { Event, Status, Task, TaskPage } from "./schema";

export type Connection = "connecting" | "live" | "lost" | "signed-out";

export interface FeedState {
  connection: Connection;
  since: number; // when the connection got into this state
  loaded: boolean;
  error?: unknown;
  tasks: ReadonlyMap<string, Task>;
  seq: number;
  truncated: boolean; // there are more tasks than the feed holds
}

export interface Server {
  status(): Promise<Status>;
  page(before: number, statuses?: string[]): Promise<TaskPage>;
  task(key: string): Promise<Task | undefined>;
}

export interface Timers {
  now(): number;
  later(f: () => void, ms: number): void;
}

export const MOST = 5000; // tasks held
const SINGLE = 8; // changed tasks that are read one by one
const SOON = 60; // ms to gather changes
const LANES = 1500; // ms between reads of tasks whose reasons depend on others

// taskOf returns the key of the task that an event is about, "" if it is about
// none.
export function taskOf(e: Event): string {
  if (!e.task_id || !e.subject) return "";
  const key = e.subject.split(".")[0]!;
  return /^[a-z][a-z0-9]*-\d+$/.test(key) ? key : "";
}

// quiet reports whether an event changes nothing that people see of a task.
export function quiet(e: Event): boolean {
  return e.kind.startsWith("work.");
}

// merge returns the tasks with some of them replaced, or the same map if
// nothing differs.
export function merge(old: ReadonlyMap<string, Task>, fresh: Iterable<Task>): ReadonlyMap<string, Task> {
  let next: Map<string, Task> | undefined;
  for (const t of fresh) {
    const before = old.get(t.key);
    if (before && JSON.stringify(before) === JSON.stringify(t)) continue;
    next ??= new Map(old);
    next.set(t.key, t);
  }
  return next ?? old;
}

export class Feed {
  private state: FeedState;
  private listeners = new Set<() => void>();
  private eventListeners = new Set<(e: Event) => void>();
  private dirty = new Set<string>();
  private flushing = false;
  private flushSoon = false;
  private lanesSoon = false;
  private loading?: Promise<void>;

  constructor(
    private server: Server,
    private timers: Timers,
  ) {
    this.state = { connection: "connecting", since: timers.now(), loaded: false, tasks: new Map(), seq: 0, truncated: false };
  }

  snapshot = (): FeedState => this.state;

  subscribe = (f: () => void): (() => void) => {
    this.listeners.add(f);
    return () => this.listeners.delete(f);
  };

  onEvent(f: (e: Event) => void): () => void {
    this.eventListeners.add(f);
    return () => this.eventListeners.delete(f);
  }

  private set(change: Partial<FeedState>): void {
    this.state = { ...this.state, ...change };
    this.listeners.forEach((f) => f());
  }

  setConnection(connection: Connection, error?: unknown): void {
    if (connection === this.state.connection) {
      if (error !== undefined) this.set({ error });
      return;
    }
    this.set({ connection, error, since: this.timers.now() });
  }

  // load reads everything again and returns the position in the log from which
  // changes must be followed.
  async load(): Promise<number> {
    const status = await this.server.status();
    const all = new Map<string, Task>();
    let truncated = false;
    for (let before = 0; ; ) {
      const page = await this.server.page(before);
      for (const t of page.tasks ?? []) all.set(t.key, t);
      if (!page.next) break;
      if (all.size >= MOST) {
        truncated = true;
        break;
      }
      before = page.next;
    }
    for (const t of [...(status.needs_you ?? []), ...(status.active ?? []), ...(status.waiting ?? [])]) if (!all.has(t.key)) all.set(t.key, t);
    this.set({ tasks: all, loaded: true, truncated, seq: status.seq });
    return status.seq;
  }

  // reset reads everything again because the log cannot say what changed.
  reset(): void {
    this.loading ??= this.load()
      .then(
        () => undefined,
        (error: unknown) => this.set({ error }),
      )
      .finally(() => (this.loading = undefined));
  }

  take(e: Event): void {
    this.state = { ...this.state, seq: e.seq };
    this.eventListeners.forEach((f) => f(e));
    if (quiet(e)) return;
    if (e.kind === "project.removed") this.forget(e.subject ?? "");
    const key = taskOf(e);
    if (key !== "") this.touch(key);
    if (!this.lanesSoon) {
      this.lanesSoon = true;
      this.timers.later(() => void this.lanes(), LANES);
    }
  }

  // forget removes the tasks of a project.
  private forget(project: string): void {
    const kept = [...this.state.tasks].filter(([, t]) => t.project !== project);
    if (kept.length < this.state.tasks.size) this.set({ tasks: new Map(kept) });
  }

  // touch marks a task to be read again soon.
  touch(key: string): void {
    this.dirty.add(key);
    if (this.flushSoon || this.flushing) return;
    this.flushSoon = true;
    this.timers.later(() => void this.flush(), SOON);
  }

  put(tasks: Task[]): void {
    const next = merge(this.state.tasks, tasks.map((t) => ({ ...t, body: undefined })));
    if (next !== this.state.tasks) this.set({ tasks: next });
  }

  async flush(): Promise<void> {
    this.flushSoon = false;
    if (this.flushing || this.dirty.size === 0) return;
    this.flushing = true;
    const keys = [...this.dirty];
    this.dirty.clear();
    try {
      const fresh = keys.length <= SINGLE ? await Promise.all(keys.map((k) => this.server.task(k))) : await this.pages(keys);
      this.put(fresh.filter((t) => t !== undefined));
    } catch (err) {
      if (err instanceof ApiError && err.problem.status === 404) this.reset();
      else keys.forEach((k) => this.dirty.add(k)); // read when the connection is back
    } finally {
      this.flushing = false;
      if (this.dirty.size > 0 && this.state.connection === "live") this.touch(keys[0]!);
    }
  }

  // pages reads whole pages, newest first, until it has seen every key.
  private async pages(keys: string[]): Promise<Task[]> {
    const missing = new Set(keys);
    const out: Task[] = [];
    for (let before = 0; missing.size > 0; ) {
      const page = await this.server.page(before);
      for (const t of page.tasks ?? []) {
        missing.delete(t.key);
        out.push(t);
      }
      if (!page.next || out.length >= MOST) break;
      before = page.next;
    }
    return out;
  }

  // lanes reads tasks again whose reason for waiting depends on others.
  private async lanes(): Promise<void> {
    this.lanesSoon = false;
    if (![...this.state.tasks.values()].some((t) => t.status === "waiting" || t.status === "ready")) return;
    try {
      for (let before = 0; ; ) {
        const page = await this.server.page(before, ["waiting", "ready"]);
        this.put(page.tasks ?? []);
        if (!page.next) return;
        before = page.next;
      }
    } catch {
      // The next event tries again. A lost connection is reported separately.
    }
  }

  // live is called whenever the connection works. It reads what could not be
  // read without it.
  live(): void {
    this.setConnection("live");
    const first = this.dirty.values().next();
    if (!first.done) this.touch(first.value);
  }
}
