import { describe, expect, it } from "vitest";
import { task } from "../test/make";
import { said } from "./board";
import { lineDiff, needLines, parsePatch } from "./diff";
import { axisTime, clock, cost, count, size, span, usd } from "./format";
import { fitting, sinceDay, ticks, within, zoomed } from "./gantt";
import { layout } from "./graph";
import { parts, plainText } from "./markdown";
import { dayName, days, sums } from "./usage";
import { at, find, grown, offsets, sizes } from "../ui/log";
import { range } from "../ui/virtual";
import type { ConfigKey, TimelineBar, UsageRow } from "../api/schema";
import { bySection, choices, read, written } from "./config";
import { editorLink, editors, fault } from "./editor";
import { placeOf, sourceOf } from "./hits";
import { marked } from "./marks";
import { readMetrics } from "../routes/health";
import { diskRows } from "../components/disk";
import { left } from "../components/removeproject";

describe("disk", () => {
  it("writes sizes", () => expect([0, 1023, 1024, 1536, 256 * 2 ** 20, 1.25 * 2 ** 30, 2 ** 50].map((n) => size(n))).toEqual(["0 B", "1023 B", "1 KiB", "1.5 KiB", "256 MiB", "1.3 GiB", "1024 TiB"]));
  it("shows the parts, the largest first", () => {
    const part = (what: string, bytes: number, partial = false) => ({ what, bytes, path: "/state/" + what, partial });
    const d = { at: "", total: 0, free: 0, state: "/state", projects: [{ prefix: "app", total: 0, parts: [part("trash", 0), part("workspaces", 5), part("repository", 0, true)] }], server: [part("database", 9)], kept: [] };
    expect(diskRows(d).map((r) => `${r.of} ${r.part.what}`)).toEqual([" database", "app workspaces", "app repository"]);
  });
  it("says what a removal leaves", () => {
    const gone = { id: 1, prefix: "app", path: "/app", left: [{ what: "workspaces", path: "/state/w" }] };
    expect(left(gone)).toBe(" Not removed: workspaces: /state/w.");
    expect(left({ ...gone, left: [] })).toBe("");
  });
});

describe("the board", () => {
  it("does not repeat a status that the column says", () => {
    expect(said("Needs you", "needs you")).toBe(true);
    expect(said("Working", "verifying")).toBe(false);
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

describe("the diff of an entry", () => {
  it("keeps every line", () => {
    expect(needLines("--- a\n+++ b\n@@\n---- rule\n+++ plus\n").map((l) => l.kind)).toEqual(["hunk", "hunk", "hunk", "del", "add"]);
    expect(needLines("--- coppice.yaml: checks\n+++ coppice.yaml: checks\n@@\n checks:\n-- make\n+- true\n").map((l) => [l.kind, l.text])).toEqual([
      ["hunk", "--- coppice.yaml: checks"], ["hunk", "+++ coppice.yaml: checks"], ["hunk", "@@"], ["same", "checks:"], ["del", "- make"], ["add", "- true"],
    ]);
  });
});

describe("the graph", () => {
  it("puts each task to the right of what it comes after", () => {
    const tasks = [task({ id: 1 }), task({ id: 2, after: ["app-1"] }), task({ id: 3, after: ["app-1", "app-2", "app-77"] }), task({ id: 4 })];
    const g = layout(tasks);
    const x = new Map(g.nodes.map((n) => [n.item.id, n.x]));
    expect([1, 2, 3, 4].map((i) => x.get(i))).toEqual([0, 1, 2, 0]);
    expect(g.edges).toHaveLength(3);
  });
  it("ends on a cycle", () => expect(layout([task({ id: 1, after: ["app-2"] }), task({ id: 2, after: ["app-1"] })]).nodes).toHaveLength(2));
});

describe("the timeline", () => {
  it("has round marks, and not too many", () => {
    expect(ticks(1_000, 61_000, 8)).toEqual([10_000, 20_000, 30_000, 40_000, 50_000, 60_000]);
    expect(ticks(0, 86_400_000 * 400, 8).length).toBeLessThan(60);
  });
  it("has no more times than fit", () => {
    for (const width of [90, 240, 390, 470, 640, 1200]) {
      for (const seconds of [3, 7, 8, 11, 61, 900, 3600, 86_400, 604_800]) {
        const [a, b] = ticks(0, seconds * 1000, fitting(width));
        if (a !== undefined && b !== undefined) expect(((b - a) / (seconds * 1000)) * width).toBeGreaterThanOrEqual(64);
      }
    }
  });
});

describe("a span of time", () => {
  const bar = (session: string, from: number, to?: number): TimelineBar => ({ kind: "session", session, role: "implement", from: new Date(from).toISOString(), to: to ? new Date(to).toISOString() : undefined, state: "done" });
  const rows = [{ task: "app-2", title: "Second", bars: [bar("app-2.1", 5000)] }, { task: "app-1", title: "First", bars: [bar("app-1.1", 2000, 3000), bar("app-1.2", 6000)] }];
  it("keeps the sessions in it", () => {
    expect(within(rows, { from: 0, to: 3000 }).map((l) => l.task)).toEqual(["app-1"]);
    expect(within(rows, { from: 3001, to: 9000 }).map((l) => l.bars?.length)).toEqual([1, 1]);
  });
  it("is read by the day", () => expect(sinceDay(Date.parse("2026-03-04T23:59:59Z"))).toBe("2026-03-04T00:00:00.000Z"));
  it("zooms around a place, and moves", () => {
    expect(zoomed({ from: 0, to: 100_000 }, 0.5, 0.5, 0)).toEqual({ from: 25_000, to: 75_000 });
    expect(zoomed({ from: 0, to: 100_000 }, 2, 0, 0)).toEqual({ from: 0, to: 200_000 });
    expect(zoomed({ from: 0, to: 100_000 }, 1, 0.5, -0.5)).toEqual({ from: -50_000, to: 50_000 });
    expect(zoomed({ from: 0, to: 10_000 }, 0.1, 0.5, 0)).toEqual({ from: 0, to: 10_000 });
  });
});

describe("usage", () => {
  it("adds up, and leaves no day out", () => {
    const row = (day: string, cost_usd: number, sessions: number): UsageRow => ({ day, project: "app", agent: "scripted", sessions, usage: { cost_usd, turns: sessions, estimated: cost_usd > 1 } });
    const rows = [row("2026-01-04", 2, 2), row("2026-01-01", 1, 1)];
    expect(sums(rows, (r) => r.agent)).toMatchObject([{ name: "scripted", sessions: 3, usage: { cost_usd: 3, turns: 3, estimated: true, priced: false } }]);
    const perDay = sums(rows, (r) => r.day);
    expect(days(perDay, "2025-12-01", "2026-01-05").map((d) => d.usage.cost_usd)).toEqual([1, 0, 0, 2, 0]);
    expect(days(perDay, "2026-01-03", "2026-01-04").map((d) => d.name)).toEqual(["2026-01-03", "2026-01-04"]);
    expect(days([], "2026-01-01", "2026-01-04").map((d) => d.sessions)).toEqual([0]);
    expect(dayName(new Date(2026, 0, 5, 23, 59))).toBe("2026-01-05");
  });
});

describe("times", () => {
  it("have 24 hours and a day", () => {
    const at = new Date();
    at.setHours(15, 4, 5);
    expect(clock(at.toISOString())).toMatch(/^[A-Z][a-z]{2} \d+ 15:04:05$/);
    expect(clock("2020-01-02T12:00:00Z")).toMatch(/^2020 Jan \d /);
    expect(axisTime(at.getTime(), 3600_000)).toBe("15:04");
    expect(axisTime(at.getTime(), 60_000)).toBe("15:04:05");
  });
});

describe("Markdown in lists", () => {
  it("is text without its marks", () => {
    expect(plainText("## Added **CartTotal**\n- uses `sum()`\n- see [the docs](http://x)")).toBe("Added CartTotal uses sum() see the docs");
    expect(plainText("snake_case and 2 * 3 * 4")).toBe("snake_case and 2 * 3 * 4");
    expect(plainText("it is *friendly*, *kind* and a*b*c in *.go and (*T)")).toBe("it is friendly, kind and a*b*c in *.go and (*T)");
    expect(plainText("```\nmake\n```")).toBe("make");
  });
});

describe("words", () => {
  it.each([[0, "0 s"], [59_400, "59 s"], [61_000, "1 m 1 s"], [600_000, "10 m"], [3_600_000, "1 h"], [5_400_000, "1 h 30 m"], [94_680_000, "26 h"], [864_000_000, "10 d"], [-5, "0 s"]])("%d is %s", (ms, text) => expect(span(ms)).toBe(text));
  it("are short for money and counts", () => {
    expect([undefined, 0.001, 0.426, 1234.5].map(usd)).toEqual(["$0", "<$0.01", "$0.43", "$1,235"]);
    expect([{ cost_usd: 1.5 }, { cost_usd: 1.5, estimated: true }, { estimated: true }].map(cost)).toEqual(["$1.50", "~$1.50", "$0"]);
    expect([undefined, 999, 1500, 25_000, 2_500_000].map(count)).toEqual(["0", "999", "1.5 k", "25 k", "2.5 M"]);
  });
  it("of Markdown become parts, and code stays as it is", () => {
    expect(parts("# Head\ntext\nmore\n\n- one\n- two\n  continues\n```sh\n# not a head\n\n- nor a list\n```\nend").map((p) => [p.kind, p.lines.length])).toEqual([["heading", 1], ["text", 2], ["list", 2], ["code", 3], ["text", 1]]);
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

describe("keys of the configuration", () => {
  const key = (shape: ConfigKey["shape"], change: Partial<ConfigKey> = {}): ConfigKey => ({ key: "a.b", default: "", doc: "", text: "", type: "in words", shape, ...change });
  it.each([
    ["choice", "queue", ["queue", "branch"], "branch", "branch"], ["switch", true, ["true", "false"], "false", false], ["number", 5, [], " 7 ", 7],
    ["text", "80%", [], "90%", "90%"], ["lines", ["a", "b"], [], "c\n\n d ", ["c", "d"]], ["json", { x: 1 }, [], '{"x": 2}', { x: 2 }],
  ] as [ConfigKey["shape"], unknown, string[], string, unknown][])("of shape %s are edited", (shape, value, offered, text, meant) => {
    const k = key(shape, { value, ...(shape === "choice" ? { one_of: offered } : {}) });
    expect(choices(k)).toEqual(offered);
    expect(read(k, written(k))).toEqual(value);
    expect(read(k, text)).toEqual(meant);
  });
  it("refuse invalid texts", () => {
    expect(() => read(key("number"), "many")).toThrow("a number");
    expect(() => read(key("json"), "{")).toThrow("not valid JSON");
  });
  it("are below their headings", () => {
    const keys = ["base", "land", "land.how", "tracks", "tracks[].name"].map((k) => ({ ...key("text"), key: k }));
    expect(bySection(keys).map(([name, list]) => [name, list.length])).toEqual([["general", 1], ["land", 2], ["tracks", 2]]);
  });
});

describe("links to an editor", () => {
  it("open known editors, and no script", () => {
    for (const e of editors) expect(fault(e.template), e.id).toBe("");
    expect(editorLink("vscode://file{path}", "/path/a b/x#y")).toBe("vscode://file/path/a%20b/x%23y");
    for (const bad of ["javascript:alert('{path}')", "https://example.org/{path}", "vscode://file", "{path}"]) expect(editorLink(bad, "/x"), bad).toBeUndefined();
  });
});

describe("marks", () => {
  it("cut a text without losing any of it", () => {
    expect(marked("one two", [[4, 3]])).toEqual([{ text: "one ", hit: false }, { text: "two", hit: true }]);
    for (const marks of [[], [[0, 3], [2, 9]], [[5, 2], [0, 1]], [[-3, 2], [90, 1]], [[1, 0]]]) expect(marked("one two", marks).map((p) => p.text).join("")).toBe("one two");
  });
});

describe("a log", () => {
  const items = Array.from({ length: 100 }, (_, i) => i);
  const places = offsets(sizes(items, (i) => i, new Map([[0, 10], [1, 30]])));
  it("knows where its rows are", () => {
    expect([...places.slice(0, 4)]).toEqual([0, 10, 40, 84]);
    for (const i of items) expect(at(places, places[i]!)).toBe(i);
    const heights = new Map([[3, 7], [60, 9]]);
    for (const [from, to] of [[10, 90], [0, 50], [50, 100], [20, 20], [0, 100]] as const) {
      const old = items.slice(from, to);
      const want = [...sizes(items, (i) => i, heights)];
      expect([...grown(items, (i) => i, heights, { items: old, high: sizes(old, (i) => i, heights) })], `${from} to ${to}`).toEqual(want);
    }
    expect([...grown([1, 5, 9], (i) => i, heights, { items: [5, 7], high: new Float64Array([1, 2]) })]).toEqual([44, 44, 44]);
    expect([-1, 0, 50, 99, 100].map((n) => find(items, (i) => i, n))).toEqual([0, 0, 50, 99, 100]);
    expect(at(places, -5)).toBe(0);
    expect(at(places, 1e9)).toBe(99);
    expect(at(offsets(new Float64Array(0)), 5)).toBe(0);
  });
});

describe("settings and health", () => {
  it("read the counts", () => expect(readMetrics('# HELP x_total Things.\n# TYPE x_total counter\nx_total{a="b",c="d"} 3\ny 1\n')).toEqual([{ name: "x_total", labels: "a=b, c=d", value: 3, help: "Things." }, { name: "y", labels: "", value: 1, help: "" }]));
});

describe("hits", () => {
  const base = { task: "app-1", title: "t", at: "", snippet: "", marks: [] };
  const out = { ...base, kind: "output" as const, session: "app-1.2", offset: 7 };
  it.each([
    [{ ...base, kind: "task" as const }, "/tasks/app-1", ""],
    [{ ...out, source: "event" as const }, "/tasks/app-1?session=app-1.2&at=7", ""],
    [{ ...out, source: "host" as const }, "/tasks/app-1?session=app-1.2&at=7", "host"],
    [{ ...out, source: "stderr" as const }, "/tasks/app-1?session=app-1.2&at=7", "error output"],
    [{ ...out, source: "stdout" as const }, "/tasks/app-1?session=app-1.2&view=raw&at=7", "raw output"],
    [{ ...out, source: "app" as const }, "/tasks/app-1?session=app-1.2&view=app&at=7", "app log"],
    [{ ...base, kind: "check" as const, check: 3, command: "make test" }, "/tasks/app-1?tab=checks&check=3", "check log · make test"],
  ])("links %o to where it is seen", (h, place, source) => {
    expect(placeOf(h)).toBe(place);
    expect(sourceOf(h)).toBe(source);
  });
});
