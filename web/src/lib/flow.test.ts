import { describe, expect, it } from "vitest";
import { step } from "../test/make";
import { first, groupsOf, indented, milliseconds, roundsOf, specRows } from "./flow";

describe("flows", () => {
  it.each([["1h2m3.5s", 3_723_500], ["90s", 90_000], ["2d", 172_800_000], ["250ms", 250], ["0s", 0], ["", 0]])("reads the duration %s", (text, ms) => expect(milliseconds(text)).toBe(ms));

  it("groups steps as the server says, in the order of their first steps", () => {
    const groups = groupsOf([step({ key: "assess" }), step({ key: "1", group: "Cycle 1" }), step({ key: "2", group: "Cycle 1" }), step({ key: "c1/3", group: "Cycle 2" }), step({ key: "close" })]);
    expect(groups.map((g) => [g.name, g.steps.map((s) => s.key)])).toEqual([["", ["assess", "close"]], ["Cycle 1", ["1", "2"]], ["Cycle 2", ["c1/3"]]]);
  });

  it("finds the steps of rounds", () => {
    const rounds = roundsOf({ rounds: [{ name: "Round 1", tasks: ["app-3", "app-2"] }, { name: "Round 2", tasks: ["", "app-5"] }], steps: ["app-2", "app-3", "app-5"].map((task) => step({ key: task, task })) });
    expect(rounds.map((r) => [r.name, r.sides.map((s) => s?.task)])).toEqual([["Round 1", ["app-3", "app-2"]], ["Round 2", [undefined, "app-5"]]]);
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
