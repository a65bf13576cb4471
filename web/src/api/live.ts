// Connects the feed to the server: one stream of events for the whole page.
import { useSyncExternalStore } from "react";
import { ApiError, get, query, signedOut } from "./client";
import { Feed, taskOf, type FeedState } from "./feed";
import { invalidate } from "./query";
import { browserParts, Order, share, type Word } from "./share";
import type { Event, Status, Task, TaskDetail, TaskPage } from "./schema";

const PAGE = 500;

export const feed = new Feed(
  {
    status: () => get<Status>("/status"),
    page: (before, status) => get<TaskPage>("/tasks" + query({ limit: PAGE, before: before || undefined, status })),
    task: async (key) => {
      const d = await get<TaskDetail>("/tasks/" + key);
      return asTask(d);
    },
  },
  { now: () => Date.now(), later: (f, ms) => void setTimeout(f, ms) },
);

// asTask removes the fields that only the task's own page shows.
export function asTask(d: TaskDetail): Task {
  const { history: _h, landings: _l, check_runs: _c, messages: _m, questions: _q, workspace: _w, dependants: _d, body: _b, ...task } = d;
  return task as Task;
}

// stale returns which cached answers an event makes old.
export function stale(e: Event): (name: string) => boolean {
  const key = taskOf(e);
  const changes = /^(session\.ended|landing\.|workspace\.|project\.base_moved)/.test(e.kind);
  return (name) => {
    if (key !== "" && (name === "task:" + key || name === "events:" + key)) return true;
    if (key !== "" && changes && name.startsWith(`diff:${key}:`)) return true;
    if (name === "needs") return e.kind.startsWith("project.") || e.kind.startsWith("landing.");
    if (name === "projects") return e.kind.startsWith("project.") || e.kind.startsWith("session.");
    if (name === "status" || name.startsWith("landings ")) return !e.kind.startsWith("work.");
    if (name.startsWith("agents ")) return e.kind.startsWith("agent.") || e.kind === "session.ended" || e.kind === "project.changed";
    if (name.startsWith("usage ")) return e.kind === "session.ended" || e.kind === "session.usage";
    if (name.startsWith("archived ")) return e.kind === "task.archived" || e.kind === "task.unarchived";
    if (name.startsWith("config ")) return e.kind === "project.changed" || e.kind === "project.added";
    return false;
  };
}

let started = false;

// start connects one time. The connection stays while the page is open.
export function start(): void {
  if (started) return;
  started = true;
  signedOut.addEventListener("signed-out", () => feed.setConnection("signed-out"));
  void run();
}

async function run(): Promise<void> {
  feed.onEvent((e) => invalidate(stale(e)));
  const reload = () => {
    feed.reset();
    invalidate(() => true);
  };
  const order = new Order(0, reload);
  let known = () => {};
  const ready = new Promise<void>((resolve) => (known = resolve));
  const receive = (w: Word) => {
    if (w.say === "open") {
      const again = feed.snapshot().connection !== "connecting";
      feed.live();
      if (again) invalidate(() => true); // what failed without a connection
    } else if (w.say === "lost") {
      feed.setConnection(w.status === 401 ? "signed-out" : "lost", new ApiError({ code: "unavailable", title: "", status: w.status, detail: w.detail }));
    } else if (w.message.event === "reset") {
      order.start(Number(w.message.id));
      reload();
    } else if (w.message.event === "message") {
      const e = JSON.parse(w.message.data) as Event;
      order.pass(e.seq, () => feed.take(e));
      feed.live(); // another tab might have opened the connection before this one
    }
  };
  share("/api/v1/events", { place: () => order.place(), receive }, ready, browserParts());
  order.start(await firstLoad());
  if (feed.snapshot().connection === "connecting") feed.live(); // the load shows it; the tab that reads reports a break
  known();
}

async function firstLoad(): Promise<number> {
  for (let pause = 250; ; pause = Math.min(pause * 2, 4000)) {
    try {
      return await feed.load();
    } catch (err) {
      feed.setConnection(isSignedOut(err) ? "signed-out" : "lost", err);
      await new Promise((r) => setTimeout(r, pause));
    }
  }
}

function isSignedOut(err: unknown): boolean {
  return err instanceof ApiError && err.problem.status === 401;
}

export function useFeed(): FeedState {
  return useSyncExternalStore(feed.subscribe, feed.snapshot);
}

let listOf: ReadonlyMap<string, Task> | undefined;
let list: Task[] = [];

// useTasks returns every task; the same array until something changes.
export function useTasks(): Task[] {
  return useSyncExternalStore(feed.subscribe, () => {
    const { tasks } = feed.snapshot();
    if (tasks !== listOf) {
      listOf = tasks;
      list = [...tasks.values()];
    }
    return list;
  });
}

export function useTask(key: string): Task | undefined {
  return useSyncExternalStore(feed.subscribe, () => feed.snapshot().tasks.get(key));
}
