// @vitest-environment happy-dom
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Need } from "../api/schema";
import { choices, needLines } from "./needs";

const need = (kind: string, since: string, change: Partial<Need> = {}): Need => ({ kind, since, text: `${kind} changed`, ...change });

// requests records what the choices send.
function requests(n: Need): Promise<[string, string, unknown][]> {
  const fetch = vi.fn(async (r: Request) => Response.json({}, { headers: { "x-url": r.url } }));
  vi.stubGlobal("fetch", fetch);
  return Promise.all(choices(n).map(async (c, i) => {
    await c.request("app");
    const r = fetch.mock.calls[i]![0];
    return [c.name, new URL(r.url).pathname, await r.clone().json()] as [string, string, unknown];
  }));
}

afterEach(() => vi.unstubAllGlobals());

describe("what can be done about a need", () => {
  it("confirms what the person saw", async () => {
    for (const kind of ["policy", "git", "features"]) {
      expect(await requests(need(kind, "", { diff: "-a\n+b\n" }))).toEqual([["Confirm", "/api/v1/projects/app/confirm", { kind, diff: "-a\n+b\n" }]]);
    }
  });
  it("moves a base back or keeps it", async () => {
    const n = need("base", "", { diff: "abc bad" });
    expect(choices(n).map((c) => c.name)).toEqual(["Move it back", "Keep it"]);
    expect((await requests(n)).map(([name, path]) => [name, path])).toEqual([["Move it back", "/api/v1/projects/app/restore-base"], ["Keep it", "/api/v1/projects/app/confirm"]]);
  });
  it("leaves files that are in the way to the person", () => expect(choices(need("checkout", ""))).toEqual([]));
});

describe("the diff of a need", () => {
  it("keeps every line", () =>
    expect(needLines("--- coppice.yaml: checks\n+++ coppice.yaml: checks\n@@\n checks:\n-- make\n+- true\n").map((l) => [l.kind, l.text])).toEqual([
      ["hunk", "--- coppice.yaml: checks"], ["hunk", "+++ coppice.yaml: checks"], ["hunk", "@@"], ["same", "checks:"], ["del", "- make"], ["add", "- true"],
    ]));
});
