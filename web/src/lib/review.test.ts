import { describe, expect, it } from "vitest";
import type { DiffLine, Hunk } from "../api/schema";
import { comment } from "../test/make";
import { changedParts, layOut, placed, placeOf, rangeText, spanned, visible, within, withPart, type Part } from "./review";

const text = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`);
const same = (old: number, now: number): DiffLine => ({ kind: "same", old, new: now, text: text[now - 1]! });

// Line 10 was added, and what was line 30 was removed after it.
const hunks: Hunk[] = [
  { old: 9, new: 9, lines: [same(9, 9), { kind: "added", new: 10, text: "line 10" }, same(10, 11)] },
  { old: 29, new: 30, section: "func b", lines: [same(29, 30), { kind: "removed", old: 30, text: "gone" }, same(31, 31)] },
];

const brief = (parts: Part[]) => parts.map((p) => ("gap" in p ? `gap ${p.gap.id}: ${p.gap.lines}` : `${p.lines[0]!.old ?? "-"}/${p.lines[0]!.new ?? "-"} +${p.lines.length}`));

describe("layOut", () => {
  it("lists hunks and what is between them", () => {
    expect(brief(layOut(hunks, undefined, {}))).toEqual(["gap 0: 8", "9/9 +3", "gap 1: 18", "29/30 +3"]);
    expect(brief(layOut(hunks, text, {}))).toEqual(["gap 0: 8", "9/9 +3", "gap 1: 18", "29/30 +3", "gap 2: 9"]);
  });
  it("shows lines of a gap from its start and its end, with the numbers of both sides", () => {
    const parts = layOut(hunks, text, { 1: { start: 2, end: 3 } });
    expect(brief(parts)).toEqual(["gap 0: 8", "9/9 +3", "11/12 +2", "gap 1: 13", "26/27 +3", "29/30 +3", "gap 2: 9"]);
    for (const p of parts) if ("lines" in p) for (const l of p.lines) if (l.kind !== "removed") expect(l.text).toBe(text[l.new! - 1]);
  });
  it("never shows more than there is, or a line twice", () => {
    for (const shown of [{ start: 99, end: 99 }, { start: 10, end: 10 }, { start: 18, end: 0 }]) {
      const parts = layOut(hunks, text, { 0: shown, 1: shown, 2: shown });
      const numbers = parts.flatMap((p) => ("lines" in p ? p.lines : [])).flatMap((l) => l.new ?? []);
      expect(new Set(numbers).size).toBe(numbers.length);
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
      if (shown.start + shown.end > 50) expect(numbers).toEqual(text.map((_, i) => i + 1));
    }
  });
  it("has no gap in a file that was added, removed or emptied", () => {
    const added: Hunk = { old: 0, new: 1, lines: [{ kind: "added", new: 1, text: "a" }] };
    const removed: Hunk = { old: 1, new: 0, lines: [{ kind: "removed", old: 1, text: "a" }] };
    expect(brief(layOut([added], ["a"], {}))).toEqual(["-/1 +1"]);
    expect(brief(layOut([removed], undefined, {}))).toEqual(["1/- +1"]);
    expect(brief(layOut([removed], [], {}))).toEqual(["1/- +1"]);
  });
});

describe("where comments are", () => {
  const lines = visible(layOut(hunks, text, {}));
  it("knows which lines are visible on which side", () => {
    expect(lines.has("new 10")).toBe(true);
    expect(lines.has("old 30")).toBe(true);
    expect(lines.has("new 5")).toBe(false);
  });
  it("puts a comment under its last line, and others on top", () => {
    const at = (id: number, first: number, last: number, side = "new") => comment({ id, side, at: { path: "a.go", first, last } });
    const all = [at(1, 9, 10), at(2, 5, 5), comment({ id: 3, at: undefined, outdated: true }), at(4, 30, 30, "old")];
    const found = placed(all, placeOf, lines);
    expect([...found].map(([line, list]) => [line, list.map((c) => c.id)])).toEqual([["new 10", [1]], ["", [2, 3]], ["old 30", [4]]]);
  });
});

describe("changedParts", () => {
  const parts = (...lines: [DiffLine["kind"], string][]) => {
    const all = lines.map(([kind, text]): DiffLine => ({ kind, text }));
    const found = changedParts(all);
    return all.map((l) => (found.has(l) ? l.text.slice(...found.get(l)!) : ""));
  };
  it("finds the words that differ", () => {
    expect(parts(["same", "x"], ["removed", "return total + 1"], ["added", "return totals + 1"], ["same", "y"])).toEqual(["", "total", "totals", ""]);
    expect(parts(["removed", "call(a)"], ["removed", "call(b)"], ["added", "call(a, c)"], ["added", "call(d)"])).toEqual(["", "b", ", c", "d"]);
  });
  it("does not compare lines that have little in common, or a different number of lines", () => {
    expect(parts(["removed", "alpha beta"], ["added", "something else"])).toEqual(["", ""]);
    expect(parts(["removed", "call(a)"], ["added", "call(b)"], ["added", "more"])).toEqual(["", "", ""]);
  });
  it("marks a part across tokens, and keeps the text", () => {
    expect(withPart([["k", "return"], ["", " a"], ["s", "bc"]], [7, 9])).toEqual([["k", "return"], ["", " "], [" word", "a"], ["s word", "b"], ["s", "c"]]);
  });
});

it("orders a selection", () => {
  expect(spanned("old", 7, 3)).toEqual({ side: "old", first: 3, last: 7 });
  expect(within({ side: "old", first: 3, last: 7 }, "old", 7)).toBe(true);
  expect(within({ side: "old", first: 3, last: 7 }, "new", 5)).toBe(false);
  expect([rangeText({ first: 3, last: 3 }), rangeText({ first: 3, last: 7 })]).toEqual(["line 3", "lines 3–7"]);
});
