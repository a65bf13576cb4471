import { describe, expect, it } from "vitest";
import { event, task } from "../test/make";
import { ApiError } from "./client";
import { Feed, merge, quiet, taskOf, type Server } from "./feed";
import type { Task } from "./schema";

// fake is a server whose tasks a test changes, and timers that a test turns.
function setup(tasks: Task[]) {
  const all = new Map(tasks.map((t) => [t.key, t]));
  const asked: string[] = [];
  let broken = false;
  const answer = <T>(name: string, value: T): Promise<T> => {
    asked.push(name);
    return broken ? Promise.reject(new Error("gone")) : Promise.resolve(value);
  };
  const server: Server = {
    status: () => answer("status", { seq: 7, at: "", counts: {}, projects: [], limited: [], needs_you: [], active: [], waiting: [] }),
    page: (before, statuses) => {
      const list = [...all.values()].sort((a, b) => b.id - a.id).filter((t) => (!before || t.id < before) && (!statuses || statuses.includes(t.status)));
      return answer("page", { tasks: list.slice(0, 3), next: list.length > 3 ? list[2]!.id : undefined });
    },
    task: (key) => {
      const t = all.get(key);
      if (t) return answer(key, t);
      return Promise.reject(new ApiError({ code: "not_found", detail: "no", status: 404, title: "" }));
    },
  };
  let later: (() => void)[] = [];
  const feed = new Feed(server, { now: () => 0, later: (f) => void later.push(f) });
  const turn = async () => {
    const now = later;
    later = [];
    now.forEach((f) => f());
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  return { feed, all, asked, turn, pending: () => later.length, cut: (on: boolean) => (broken = on) };
}

describe("taskOf", () => {
  it.each([
    [event("task.stage", "app-1"), "app-1"],
    [event("session.ended", "app-12.3"), "app-12"],
    [event("project.added", "app", { task_id: undefined }), ""],
    [event("agent.limited", "scripted", { task_id: 1 }), ""],
    [event("task.stage", "", {}), ""],
  ])("names the task of %o", (e, key) => expect(taskOf(e)).toBe(key));
  it("knows what nobody sees", () => {
    expect(quiet(event("work.offered", "app-1"))).toBe(true);
    expect(quiet(event("task.stage", "app-1"))).toBe(false);
  });
});

describe("merge", () => {
  it("keeps the map when nothing differs, and the other tasks when something does", () => {
    const a = task({ id: 1 });
    const b = task({ id: 2 });
    const old = new Map([[a.key, a], [b.key, b]]);
    expect(merge(old, [{ ...a }])).toBe(old);
    const next = merge(old, [{ ...a, status: "working" }]);
    expect(next).not.toBe(old);
    expect(next.get(a.key)?.status).toBe("working");
    expect(next.get(b.key)).toBe(b);
    expect(old.get(a.key)?.status).toBe("ready");
  });
});

describe("Feed", () => {
  it("loads every page and returns where to follow from", async () => {
    const s = setup([1, 2, 3, 4, 5, 6, 7].map((id) => task({ id })));
    expect(await s.feed.load()).toBe(7);
    expect(s.feed.snapshot().tasks.size).toBe(7);
    expect(s.feed.snapshot().loaded).toBe(true);
  });

  it("leaves out the tasks of a project that was removed", async () => {
    const s = setup([task({ id: 1 }), task({ id: 2, key: "web-2", project: "web" })]);
    await s.feed.load();
    s.feed.take(event("project.removed", "app", { task_id: undefined }));
    expect([...s.feed.snapshot().tasks.keys()]).toEqual(["web-2"]);
  });

  it("reads a changed task once, however many events name it", async () => {
    const s = setup([task({ id: 1 }), task({ id: 2, status: "done", stage: "ended" })]);
    await s.feed.load();
    s.feed.live();
    s.all.set("app-1", task({ id: 1, status: "working", stage: "session" }));
    s.asked.length = 0;
    for (let i = 0; i < 5; i++) s.feed.take(event("task.stage", "app-1"));
    s.feed.take(event("work.offered", "app-2"));
    await s.turn();
    expect(s.asked.filter((a) => a.startsWith("app-"))).toEqual(["app-1"]);
    expect(s.feed.snapshot().tasks.get("app-1")?.status).toBe("working");
  });

  it("reads pages when many changed", async () => {
    const s = setup(Array.from({ length: 12 }, (_, i) => task({ id: i + 1, status: "working", stage: "session" })));
    await s.feed.load();
    s.feed.live();
    for (const k of s.all.keys()) s.all.set(k, { ...s.all.get(k)!, status: "done" });
    s.asked.length = 0;
    for (const k of s.all.keys()) s.feed.take(event("task.ended", k));
    await s.turn();
    expect(new Set(s.asked)).toEqual(new Set(["page"]));
    expect([...s.feed.snapshot().tasks.values()].every((t) => t.status === "done")).toBe(true);
  });

  it("reads tasks again whose reason depends on others", async () => {
    const s = setup([task({ id: 1, status: "waiting", reason: "no free session" }), task({ id: 2, status: "working", stage: "session" })]);
    await s.feed.load();
    s.feed.live();
    s.all.set("app-1", task({ id: 1, status: "ready" }));
    s.feed.take(event("session.ended", "app-2.1"));
    await s.turn();
    expect(s.feed.snapshot().tasks.get("app-1")?.status).toBe("ready");
  });

  it("forgets no change while the connection is lost", async () => {
    const s = setup([task({ id: 1 })]);
    await s.feed.load();
    s.feed.live();
    s.all.set("app-1", task({ id: 1, status: "done", stage: "ended" }));
    s.cut(true);
    s.feed.take(event("task.ended", "app-1"));
    s.feed.setConnection("lost", new Error("gone"));
    await s.turn();
    expect(s.feed.snapshot().tasks.get("app-1")?.status).toBe("ready");
    s.cut(false);
    s.feed.live();
    await s.turn();
    expect(s.feed.snapshot().tasks.get("app-1")?.status).toBe("done");
    expect(s.feed.snapshot().connection).toBe("live");
  });

  it("reads everything again when the log was reset", async () => {
    const s = setup([task({ id: 1 })]);
    await s.feed.load();
    s.all.clear();
    s.all.set("app-9", task({ id: 9 }));
    s.feed.reset();
    await s.turn();
    expect([...s.feed.snapshot().tasks.keys()]).toEqual(["app-9"]);
  });

  it("notifies its listeners only of changes", async () => {
    const s = setup([task({ id: 1 })]);
    await s.feed.load();
    let calls = 0;
    s.feed.subscribe(() => calls++);
    s.feed.put([task({ id: 1 })]);
    expect(calls).toBe(0);
    s.feed.put([task({ id: 1, priority: 2 })]);
    expect(calls).toBe(1);
  });
});
