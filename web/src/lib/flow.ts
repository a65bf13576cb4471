// What pages show of a flow: durations, groups of steps, the statements of a debate,
// and the fields of a spec.
import type { FlowDetail, FlowStep } from "../api/schema";

const units: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1, µs: 1e-3, ns: 1e-6 };

// milliseconds reads a duration of the server, such as 1h2m3.5s.
export function milliseconds(text = ""): number {
  return [...text.matchAll(/([\d.]+)(ms|µs|ns|d|h|m|s)/g)].reduce((n, m) => n + Number(m[1]) * units[m[2]!]!, 0);
}

export interface StepGroup {
  name: string; // empty if the steps have nothing in common
  steps: FlowStep[];
}

// groupsOf returns the groups of steps, in the order of their first steps.
export function groupsOf(steps: FlowStep[]): StepGroup[] {
  const groups = new Map<string, FlowStep[]>();
  for (const s of steps) groups.set(s.group ?? "", [...(groups.get(s.group ?? "") ?? []), s]);
  return [...groups].map(([name, list]) => ({ name, steps: list }));
}

// Round has the step of each side.
export interface Round {
  name: string;
  sides: (FlowStep | undefined)[];
}

// roundsOf returns the rounds of a flow's debates with their steps.
export function roundsOf({ rounds, steps }: Pick<FlowDetail, "rounds" | "steps">): Round[] {
  return (rounds ?? []).map((r) => ({ name: r.name, sides: (r.tasks ?? []).map((key) => steps?.find((s) => s.task === key)) }));
}

// indented returns a result that is JSON as a block with one field per line.
export function indented(result: string): string {
  try {
    return result.startsWith("{") ? "```json\n" + JSON.stringify(JSON.parse(result), null, 2) + "\n```" : result;
  } catch {
    return result; // it is cut off, or is not JSON
  }
}

const SUMMARY = 80; // characters

// first returns the first line of a text, shortened.
export function first(text: string): string {
  const line = text.trim().split("\n")[0]!;
  return line.length > SUMMARY ? line.slice(0, SUMMARY) + "…" : line;
}

// specRows lists the fields of a spec that have a value, as text.
export function specRows(spec: unknown, name = ""): [string, string][] {
  if (spec === undefined || spec === null || spec === "" || spec === false || spec === 0) return [];
  if (Array.isArray(spec)) {
    if (spec.every((v) => typeof v !== "object")) return spec.length ? [[name, spec.join(", ")]] : [];
    return [[name, spec.map((v: { title?: string; body?: string }) => v.title ?? v.body ?? JSON.stringify(v)).join("\n")]];
  }
  if (typeof spec === "object") return Object.entries(spec).flatMap(([n, v]) => specRows(v, name ? `${name}.${n}` : n));
  return [[name, spec === true ? "yes" : String(spec)]];
}
