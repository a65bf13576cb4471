import { describe, expect, it } from "vitest";
import type { Need } from "../api/schema";
import { choices, needLines, needsOf } from "./needs";

const need = (kind: string, since: string, change: Partial<Need> = {}): Need => ({ kind, since, text: `${kind} changed`, ...change });
const project = (prefix: string, needs?: Need[]) => ({ prefix, needs });

describe("what projects need a person for", () => {
  const all = [project("app", [need("policy", "2026-01-02T00:00:00Z"), need("base", "2026-01-01T00:00:00Z")]), project("web", [need("git", "2026-01-03T00:00:00Z")]), project("idle")];
  const none = { project: "", text: "", status: "" };
  const kinds = (f: Partial<typeof none>) => needsOf(all, { ...none, ...f }).map((n) => `${n.project} ${n.need.kind}`);
  it("lists the oldest first", () => expect(kinds({})).toEqual(["app base", "app policy", "web git"]));
  it("follows the board's filters", () => {
    expect(kinds({ project: "web" })).toEqual(["web git"]);
    expect(kinds({ text: "POLICY" })).toEqual(["app policy"]);
    expect(kinds({ status: "needs you" })).toHaveLength(3);
    expect(kinds({ status: "done" })).toEqual([]);
    expect(needsOf(undefined, none)).toEqual([]);
  });
});

describe("what can be done about a need", () => {
  it("confirms what the person saw", () => {
    for (const kind of ["policy", "git", "features"]) {
      expect(choices(need(kind, "", { diff: "-a\n+b\n" }))).toMatchObject([{ name: "Confirm", path: "confirm", body: { kind, diff: "-a\n+b\n" } }]);
    }
  });
  it("moves a base back or keeps it", () => {
    expect(choices(need("base", "", { diff: "abc bad" })).map((c) => [c.name, c.path, c.body])).toEqual([
      ["Move it back", "restore-base", {}], ["Keep it", "confirm", { kind: "base", diff: "abc bad" }],
    ]);
  });
  it("leaves files that are in the way to the person", () => expect(choices(need("checkout", ""))).toEqual([]));
});

describe("the diff of a need", () => {
  it("keeps every line", () =>
    expect(needLines("--- coppice.yaml: checks\n+++ coppice.yaml: checks\n@@\n checks:\n-- make\n+- true\n").map((l) => [l.kind, l.text])).toEqual([
      ["hunk", "--- coppice.yaml: checks"], ["hunk", "+++ coppice.yaml: checks"], ["hunk", "@@"], ["same", "checks:"], ["del", "- make"], ["add", "- true"],
    ]));
});
