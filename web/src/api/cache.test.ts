// @vitest-environment happy-dom
import { QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { event } from "../test/make";
import { newCache, Refresher } from "./cache";
import { queries, saysKey, type SaysLine } from "./queries";
import { clearLines, takeLine } from "./says";
import { stale } from "./stale";

describe("which answers an event makes old", () => {
  const old = (kind: string, subject: string, key: readonly unknown[]) => stale(event(kind, subject), key);
  it("names the task", () => {
    expect(old("task.changed", "app-1", queries.task("app-1").queryKey)).toBe(true);
    expect(old("session.started", "app-1.2", queries.task("app-1").queryKey)).toBe(true);
    expect(old("task.changed", "app-12", queries.task("app-1").queryKey)).toBe(false);
    expect(old("task.changed", "app-1", queries.events("app-1").queryKey)).toBe(true);
  });
  it("takes the task from the server, not from the subject", () => {
    expect(stale(event("schedule.run", "nightly", { task: "app-1" }), queries.task("app-1").queryKey)).toBe(true);
    expect(stale(event("notification.sent", "app-1", { task: undefined }), queries.task("app-1").queryKey)).toBe(false);
  });
  it("leaves a diff until the work moves", () => {
    expect(old("task.changed", "app-1", queries.diff("app-1", "base").queryKey)).toBe(false);
    expect(old("session.ended", "app-1.1", queries.diff("app-1", "base").queryKey)).toBe(true);
  });
  it("reads a review again, but never the lines between two commits", () => {
    expect(old("task.review_changed", "app-1", queries.review("app-1").queryKey)).toBe(true);
    expect(old("session.ended", "app-1.1", queries.review("app-1").queryKey)).toBe(true);
    expect(old("task.review_changed", "app-2", queries.review("app-1").queryKey)).toBe(false);
    const commits = { task: "app-1", base: "b1", head: "h1" };
    for (const q of [queries.reviewHunks(commits, "a.go"), queries.reviewText(commits, "a.go")]) expect(old("session.ended", "app-1.1", q.queryKey)).toBe(false);
    expect(queries.reviewHunks({ ...commits, head: "h2" }, "a.go").queryKey).not.toEqual(queries.reviewHunks(commits, "a.go").queryKey);
  });
  it("reads a timeline again when a check ran, that of a task only for its own", () => {
    expect(old("check.started", "app-1", queries.timeline().queryKey)).toBe(true);
    expect(old("check.ended", "app-1", queries.taskTimeline("app-1").queryKey)).toBe(true);
    expect(old("check.ended", "app-2", queries.taskTimeline("app-1").queryKey)).toBe(false);
    expect(old("task.changed", "app-1", queries.taskTimeline("app-1").queryKey)).toBe(false);
  });
  it("leaves the board if only work was done", () => {
    expect(old("work.taken", "app-1", queries.board({}).queryKey)).toBe(false);
    expect(old("task.created", "app-1", queries.board({ archived: true }).queryKey)).toBe(true);
    expect(old("project.changed", "app", queries.board({}).queryKey)).toBe(true);
  });
  it("never makes what has no rule old", () => expect(old("task.changed", "app-1", queries.version().queryKey)).toBe(false));
});

describe("Refresher", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  // setup watches one answer whose reads the test ends.
  function setup(watch = true) {
    const client = newCache();
    const ends: (() => void)[] = [];
    let n = 0;
    const read = vi.fn(() => new Promise<number>((resolve) => ends.push(() => resolve(++n))));
    const options = { queryKey: ["/api/v1/board", {}], queryFn: read };
    const observer = new QueryObserver(client, options);
    if (watch) observer.subscribe(() => {});
    return { client, read, ends, observer, r: new Refresher(client, () => Date.now()) };
  }
  const all = () => true;

  it("gathers changes into one read", async () => {
    const { r, read, ends } = setup();
    ends[0]!();
    await vi.advanceTimersByTimeAsync(0);
    for (let i = 0; i < 20; i++) r.mark(all);
    await vi.advanceTimersByTimeAsync(60);
    expect(read).toHaveBeenCalledTimes(2);
  });
  it("reads again what changed while it was read", async () => {
    const { r, read, ends } = setup();
    r.mark(all); // the first read might not have the change
    await vi.advanceTimersByTimeAsync(200);
    expect(read).toHaveBeenCalledTimes(1);
    ends[0]!();
    await vi.advanceTimersByTimeAsync(60);
    expect(read).toHaveBeenCalledTimes(2);
  });
  it("gives a slow answer time", async () => {
    const { r, read, ends } = setup();
    ends[0]!();
    r.mark(all);
    await vi.advanceTimersByTimeAsync(160); // the second read takes 100 ms
    ends[1]!();
    await vi.advanceTimersByTimeAsync(0);
    r.mark(all);
    await vi.advanceTimersByTimeAsync(240);
    expect(read).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(120);
    expect(read).toHaveBeenCalledTimes(3);
  });
  it("does not read what nobody looks at, until somebody does", async () => {
    const { client, r, read, observer } = setup(false);
    client.setQueryData(["/api/v1/board", {}], 1);
    r.mark(all);
    await vi.advanceTimersByTimeAsync(500);
    expect(read).not.toHaveBeenCalled();
    observer.subscribe(() => {});
    expect(read).toHaveBeenCalledTimes(1);
  });
});

describe("lines of sessions", () => {
  it("notify only the viewers of their task", () => {
    const client = newCache();
    const seen: string[] = [];
    for (const key of ["app-1", "app-2"]) {
      new QueryObserver<SaysLine>(client, { queryKey: saysKey(key), enabled: false }).subscribe((r) => seen.push(`${key} ${r.data?.says ?? "-"}`));
    }
    takeLine(client, { task: "app-1", session: "app-1.1", says: "reads" });
    takeLine(client, { task: "app-1", session: "app-1.1", says: "writes" });
    clearLines(client);
    return vi.waitFor(() => {
      expect(seen.filter((s) => s.startsWith("app-2"))).toEqual([]);
      expect(seen.at(-1)).toBe("app-1 -");
      expect(seen).toContain("app-1 writes");
    });
  });
});
