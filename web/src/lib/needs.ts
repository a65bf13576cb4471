// What a person can do about something that a project needs.
import { api, dataOf } from "../api/client";
import type { Need } from "../api/schema";
import type { Line } from "./diff";

export interface Choice {
  name: string;
  about: string;
  request: (project: string) => Promise<unknown>;
  done: string;
  primary?: boolean;
}

// choices returns the actions for a need. A person must move files that block a
// landing.
export function choices(n: Need): Choice[] {
  const params = (project: string) => ({ params: { path: { project } } });
  const confirm = (project: string) => dataOf(api.POST("/api/v1/projects/{project}/confirm", { ...params(project), body: { kind: n.kind as "policy", diff: n.diff } }));
  const restore = (project: string) => dataOf(api.POST("/api/v1/projects/{project}/restore-base", params(project)));
  switch (n.kind) {
    case "policy":
    case "git":
    case "features":
      return [{ name: "Confirm", about: "Apply the change", request: confirm, done: "Confirmed", primary: true }];
    case "base":
      return [
        { name: "Move it back", about: "Move the base back to where it was", request: restore, done: "The base is back where it was", primary: true },
        { name: "Keep it", about: "Leave the base where it is, and continue from there", request: confirm, done: "The base stays where it is" },
      ];
  }
  return [];
}

// needLines reads the diff of a need, which can also be a list.
export function needLines(diff: string): Line[] {
  return diff.replace(/\n$/, "").split("\n").map((l): Line => {
    if (/^(\+\+\+|---|@@)/.test(l)) return { kind: "hunk", text: l };
    if (l.startsWith("+")) return { kind: "add", text: l.slice(1) };
    if (l.startsWith("-")) return { kind: "del", text: l.slice(1) };
    return { kind: "same", text: l.replace(/^ /, "") };
  });
}
