import { describe, expect, it } from "vitest";
import { event, task } from "../test/make";
import { groups, matches, order, priorityBetween } from "./board";
import { lineDiff, parsePatch } from "./diff";
import { count, span, usd } from "./format";
import { bars, ticks } from "./gantt";
import { connected, layout } from "./graph";
import { parts } from "./markdown";
import { dayOf, days, sums } from "./usage";
import { range } from "../ui/virtual";
import { keysOf } from "../routes/settings";
import { readMetrics } from "../routes/health";

describe("the board", () => {
  const all = [
    task({ id: 1, status: "done", stage: "ended", ended_at: "2026-01-01T11:00:00Z" }), task({ id: 2, status: "needs you", track: "docs" }), task({ id: 3, priority: 2 }), task({ id: 4 }),
    task({ id: 5, status: "cancelled", stage: "ended", ended_at: "2026-01-01T12:00:00Z", project: "web" }),
  ];
  it("puts what needs a person first, however it is grouped", () => {
    for (const by of ["status", "project", "track"]) {
      const list = groups(all, by);
      expect(list[0]).toMatchObject({ name: "Needs you", tasks: [{ id: 2 }] });
      expect(list.flatMap((g) => g.tasks)).toHaveLength(all.length);
    }
  });
  it("orders by status, priority and age", () => expect([...all].sort(order).map((t) => t.id)).toEqual([2, 3, 4, 1, 5]));
  it("filters", () => {
    const f = { text: "", project: "", track: "", agent: "", status: "" };
    expect(all.filter((t) => matches(t, { ...f, project: "web" })).map((t) => t.id)).toEqual([5]);
    expect(all.filter((t) => matches(t, { ...f, text: "TASK 3" })).map((t) => t.id)).toEqual([3]);
    expect(all.filter((t) => matches(t, { ...f, text: "app-4" })).map((t) => t.id)).toEqual([4]);
    expect(all.filter((t) => matches(t, { ...f, track: "docs", status: "done" }))).toEqual([]);
  });
  it("finds a priority that puts a task where it was dropped", () => {
    const list = [9, 5, 5, 5, 0, 0, -10].map((priority, i) => task({ id: i + 1, priority }));
    for (const t of list) {
      const rest = list.filter((x) => x !== t);
      for (let at = 0; at <= rest.length; at++) {
        const above = rest[at - 1];
        const below = rest[at];
        const p = priorityBetween(t, above, below);
        expect(p).toBeGreaterThanOrEqual(-10);
        expect(p).toBeLessThanOrEqual(10);
        const now = [...rest, { ...t, priority: p }].sort(order);
        const place = now.findIndex((x) => x.id === t.id);
        // Between two of the same priority there is no place for every age; it is then next to them.
        const tight = above && below && above.priority === below.priority;
        if (!tight && !(above?.priority === -10)) expect(place).toBe(at);
      }
    }
  });
});

describe("patches", () => {
  const patch = `diff --git a/a.txt b/a.txt
index 1..2 100644
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@ head
 same
-old
+new
\\ No newline at end of file
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
--- looks like a header
diff --git a/x b/y
similarity index 100%
rename from x
rename to y
diff --git a/pic b/pic
new file mode 100644
Binary files /dev/null and b/pic differ
`;
  it("are read file by file", () => {
    const files = parsePatch(patch);
    expect(files.map((f) => [f.path, f.state, f.added, f.removed])).toEqual([["a.txt", "changed", 1, 1], ["gone", "deleted", 0, 1], ["y", "renamed", 0, 0], ["pic", "binary", 0, 0]]);
    expect(files[0]!.lines[1]).toEqual({ kind: "same", text: "same", old: 1, new: 1 });
    expect(files[1]!.lines[1]!.text).toBe("-- looks like a header");
    expect(files[2]!.from).toBe("x");
  });
  it.each(["", "\n", "nonsense", "@@ -1,9 +1,9 @@\n+a", "diff --git a/x b/x\n@@ -1 +1 @@"])("survive %j", (text) => expect(() => parsePatch(text)).not.toThrow());
  it("are made from two texts, and give both back", () => {
    for (const [a, b] of [["", ""], ["a\nb\nc", "a\nc"], ["x", "y\nz"], ["a\nb\na\nb", "b\na\nb\na"], ["", "one"]] as const) {
      const lines = lineDiff(a, b);
      expect(lines.filter((l) => l.kind !== "add").map((l) => l.text).join("\n")).toBe(a);
      expect(lines.filter((l) => l.kind !== "del").map((l) => l.text).join("\n")).toBe(b);
    }
  });
});

describe("the graph", () => {
  it("puts each task to the right of what it comes after", () => {
    const tasks = [task({ id: 1 }), task({ id: 2, after: ["app-1"] }), task({ id: 3, after: ["app-1", "app-2", "app-77"] }), task({ id: 4 })];
    const g = layout(tasks);
    const x = new Map(g.nodes.map((n) => [n.task.id, n.x]));
    expect([1, 2, 3, 4].map((i) => x.get(i))).toEqual([0, 1, 2, 0]);
    expect(g.edges).toHaveLength(3);
    expect(connected(tasks).map((t) => t.id)).toEqual([1, 2, 3]);
  });
  it("ends on a cycle", () => expect(layout([task({ id: 1, after: ["app-2"] }), task({ id: 2, after: ["app-1"] })]).nodes).toHaveLength(2));
});

describe("the timeline", () => {
  it("makes bars of the log, with the time that a person was waited for", () => {
    const list = bars([
      event("session.created", "app-1.1", { reason: "implement with scripted" }), event("question.asked", "app-1.1"), event("question.answered", "app-1"),
      event("session.ended", "app-1.1", { reason: "done" }), event("session.created", "app-1.2", { reason: "fix with scripted" }), event("question.asked", "app-1.2"), event("session.ended", "app-9.9"),
    ]);
    expect(list.map((b) => [b.session, b.role, b.ended, b.waits.length])).toEqual([["app-1.1", "implement", "done", 1], ["app-1.2", "fix", "", 1]]);
    expect(list[0]!.waits[0]!.to! - list[0]!.waits[0]!.from).toBe(1000);
    expect(list[1]!.to).toBeUndefined();
  });
  it("has round marks, and not too many", () => {
    expect(ticks(1_000, 61_000, 8)).toEqual([10_000, 20_000, 30_000, 40_000, 50_000, 60_000]);
    expect(ticks(0, 86_400_000 * 400, 8).length).toBeLessThan(60);
  });
});

describe("usage", () => {
  it("adds up, and leaves no day out", () => {
    const tasks = [task({ id: 1, sessions: 1, ended_at: "2026-01-01T12:00:00Z", usage: { cost_usd: 1 } }), task({ id: 2, sessions: 2, ended_at: "2026-01-04T12:00:00Z", usage: { cost_usd: 2, turns: 3 } }), task({ id: 3 })];
    expect(sums(tasks, (t) => t.agent)).toMatchObject([{ name: "scripted", tasks: 2, usage: { cost_usd: 3, turns: 3 } }]);
    const list = days(sums(tasks, dayOf), 30);
    expect(list.map((d) => d.usage.cost_usd)).toEqual([1, 0, 0, 2]);
    expect(days([], 30)).toEqual([]);
  });
});

describe("words", () => {
  it.each([[0, "0 s"], [59_400, "59 s"], [61_000, "1 m 1 s"], [600_000, "10 m"], [3_600_000, "1 h"], [5_400_000, "1 h 30 m"], [864_000_000, "10 d"], [-5, "0 s"]])("%d is %s", (ms, text) => expect(span(ms)).toBe(text));
  it("are short for money and counts", () => {
    expect([undefined, 0.001, 0.426, 1234.5].map(usd)).toEqual(["$0", "<$0.01", "$0.43", "$1,235"]);
    expect([undefined, 999, 1500, 25_000, 2_500_000].map(count)).toEqual(["0", "999", "1.5 k", "25 k", "2.5 M"]);
  });
  it("of Markdown become parts, and code stays as it is", () => {
    expect(parts("# Head\ntext\nmore\n\n- one\n- two\n  goes on\n```sh\n# not a head\n\n- nor a list\n```\nend").map((p) => [p.kind, p.lines.length])).toEqual([["heading", 1], ["text", 2], ["list", 2], ["code", 3], ["text", 1]]);
    expect(parts("```\nnever closed")).toMatchObject([{ kind: "code", lines: ["never closed"] }]);
  });
});

describe("lists", () => {
  it("draw what can be seen and a little more", () => {
    expect(range(0, 400, 40, 1000)).toEqual([0, 16]);
    expect(range(20_000, 400, 40, 1000)).toEqual([494, 516]);
    expect(range(99_999, 400, 40, 10)).toEqual([4, 10]);
    expect(range(0, 400, 40, 0)).toEqual([0, 0]);
  });
});

describe("settings and health", () => {
  it("name every key", () => expect(keysOf({ a: 1, b: { c: ["x", "y"], d: null }, e: [{ f: 2 }] })).toEqual([["a", "1"], ["b.c", "x\ny"], ["b.d", ""], ["e[0].f", "2"]]));
  it("read the counts", () => expect(readMetrics('# HELP x_total Things.\n# TYPE x_total counter\nx_total{a="b",c="d"} 3\ny 1\n')).toEqual([{ name: "x_total", labels: "a=b, c=d", value: 3, help: "Things." }, { name: "y", labels: "", value: 1, help: "" }]));
});
