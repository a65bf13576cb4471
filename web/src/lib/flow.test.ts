import { describe, expect, it } from "vitest";
import { step } from "../test/make";
import { first, groupName, groupsOf, indented, milliseconds, readable, roundsOf, specRows, statementOf } from "./flow";

describe("flows", () => {
  it.each([["1h2m3.5s", 3_723_500], ["90s", 90_000], ["2d", 172_800_000], ["250ms", 250], ["0s", 0], ["", 0]])("reads the duration %s", (text, ms) => expect(milliseconds(text)).toBe(ms));

  it.each([["c3/review-2", "Cycle 3"], ["l1/r0/a", "Loop 1, round 1"], ["2/l1/r1/b", "Item 2, loop 1, round 2"], ["l1/verify/2", "Loop 1, verify"], ["lead", ""]])("names the group of %s", (key, name) => expect(groupName(key)).toBe(name));

  it("groups steps in the order of their first steps", () => {
    const groups = groupsOf(["assess", "c1/review", "c1/implement", "c2/review", "close"].map((key) => step({ key })));
    expect(groups.map((g) => [g.name, g.steps.map((s) => s.key)])).toEqual([["", ["assess", "close"]], ["Cycle 1", ["c1/review", "c1/implement"]], ["Cycle 2", ["c2/review"]]]);
  });

  it("puts the newest step of each side into its round, without those that no longer count", () => {
    const rounds = roundsOf([step({ key: "l1/r0/a", task: "app-2", left: true }), step({ key: "l1/r0/a", task: "app-3" }), step({ key: "l1/r0/b", task: "app-4" }), step({ key: "l1/r1/b", task: "app-5" }), step({ key: "l1/action", task: "app-6" })]);
    expect(rounds.map((r) => [r.name, r.sides.map((s) => s?.task)])).toEqual([["Loop 1, round 1", ["app-3", "app-4"]], ["Loop 1, round 2", [undefined, "app-5"]]]);
  });

  it("reads a statement, also if it is cut off", () => {
    const whole = JSON.stringify({ verdict: "partial", summary: "A \"cache\"\nof files", position: "Files.", changed: "" });
    expect(statementOf(whole)).toEqual({ verdict: "partial", summary: "A \"cache\"\nof files", position: "Files.", changed: "" });
    for (let end = whole.indexOf("cache"); end < whole.length; end++) expect(statementOf(whole.slice(0, end)).summary).toContain("A \"");
    expect(readable(whole)).toBe("partial: A \"cache\"\nof files\n\nFiles.");
    expect(readable("It failed.")).toBe("It failed.");
    expect(statementOf("It failed.").verdict).toBe("");
    expect(statementOf().verdict).toBe("");
  });

  it("lists the fields of a spec that have a value", () => {
    const spec = { between: ["alpha", "beta"], rounds: 3, verify: true, action: "", loops: 0, limits: { review: { turns: 30 } }, tasks: [{ title: "One" }, { body: "Two" }], agents: [] };
    expect(specRows(spec)).toEqual([["between", "alpha, beta"], ["rounds", "3"], ["verify", "yes"], ["limits.review.turns", "30"], ["tasks", "One\nTwo"]]);
    expect(specRows(undefined)).toEqual([]);
  });

  it("writes JSON with a field per line, and leaves other texts", () => {
    expect(indented('{"a":1}')).toBe('```json\n{\n  "a": 1\n}\n```');
    expect(indented('{"a":')).toBe('{"a":');
    expect(indented("done")).toBe("done");
    expect(first("\n" + "x".repeat(90) + "\nmore")).toBe("x".repeat(80) + "…");
  });
});
