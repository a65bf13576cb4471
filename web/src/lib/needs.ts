// What projects need a person for, and what the person can do about it.
import type { Need } from "../api/schema";
import type { Line } from "./diff";

export interface ProjectNeed {
  project: string;
  need: Need;
}

interface Needy {
  prefix: string;
  needs?: Need[] | null;
}

// needsOf lists the needs of projects, the oldest first.
export function needsOf(projects: Needy[] | null | undefined, filter: { project: string; text: string; status: string }): ProjectNeed[] {
  if (filter.status && filter.status !== "needs you") return [];
  const text = filter.text.toLowerCase();
  return (projects ?? [])
    .filter((p) => !filter.project || p.prefix === filter.project)
    .flatMap((p) => (p.needs ?? []).map((need) => ({ project: p.prefix, need })))
    .filter(({ project, need }) => !text || project.includes(text) || need.text.toLowerCase().includes(text))
    .sort((a, b) => a.need.since.localeCompare(b.need.since));
}

export interface Choice {
  name: string;
  about: string;
  path: string; // below the project's
  body: Record<string, string>;
  done: string;
  primary?: boolean;
}

// choices returns the actions for a need. A person must move files that block a
// landing.
export function choices(n: Need): Choice[] {
  const confirm = { kind: n.kind, ...(n.diff ? { diff: n.diff } : {}) };
  switch (n.kind) {
    case "policy":
    case "git":
    case "features":
      return [{ name: "Confirm", about: "Apply the change", path: "confirm", body: confirm, done: "Confirmed", primary: true }];
    case "base":
      return [
        { name: "Move it back", about: "Move the base back to where it was", path: "restore-base", body: {}, done: "The base is back where it was", primary: true },
        { name: "Keep it", about: "Leave the base where it is, and continue from there", path: "confirm", body: confirm, done: "The base stays where it is" },
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
