import { expect, it } from "vitest";
import { relativeIn, relativeTo } from "./relative";

const workspace = (path: string) => ({ workspace: { path } }) as unknown as Parameters<typeof relativeTo>[0];
const relative = relativeTo(workspace("/s/a.b/coppice-1"));

it.each([
  ["see /s/a.b/coppice-1/web/a.ts:7, then", "see web/a.ts:7, then"],
  ["cd /s/a.b/coppice-1 && ls /s/a.b/coppice-check-2/x", "cd . && ls x"],
  ["/s/a.b/git and /s/aXb/coppice-1/a", "/s/a.b/git and /s/aXb/coppice-1/a"],
])("shows %s", (text, want) => expect(relative(text)).toBe(want));

it("knows the workspace of a verifier, and changes nothing without a workspace", () => {
  const path = "/s/a.b/coppice-2";
  expect(relativeTo({ history: [{}, { path }] } as unknown as Parameters<typeof relativeTo>[0])).toBe(relative);
  const none = relativeTo({ history: null });
  expect(none("/coppice-1/a")).toBe("/coppice-1/a");
});

it("changes all texts of a value, not the value itself", () => {
  const input = { n: 1, none: null, list: ["/s/a.b/coppice-1/a", { path: "/s/a.b/coppice-1/b" }] };
  expect(relativeIn(input, relative)).toEqual({ n: 1, none: null, list: ["a", { path: "b" }] });
  expect(input.list[0]).toBe("/s/a.b/coppice-1/a");
});
