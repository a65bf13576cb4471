// What pages show of a flow: durations, groups of steps, the statements of a debate,
// and the fields of a spec.
import type { FlowStep } from "../api/schema";

const units: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1, µs: 1e-3, ns: 1e-6 };

// milliseconds reads a duration of the server, such as 1h2m3.5s.
export function milliseconds(text = ""): number {
  return [...text.matchAll(/([\d.]+)(ms|µs|ns|d|h|m|s)/g)].reduce((n, m) => n + Number(m[1]) * units[m[2]!]!, 0);
}

// parts names the parts of the keys of steps. Rounds are counted from 0.
const parts: Record<string, (n: number) => string> = {
  c: (n) => `cycle ${n}`,
  l: (n) => `loop ${n}`,
  r: (n) => `round ${n + 1}`,
  "": (n) => `item ${n}`,
};

function partName(part: string): string {
  const [, letters = "", digits] = /^(\D*)(\d*)$/.exec(part) ?? [];
  return digits && parts[letters] ? parts[letters](Number(digits)) : part;
}

// groupName names what the steps of a group have in common: cycle 3 for c3/review-2.
export function groupName(key: string): string {
  const name = key.split("/").slice(0, -1).map(partName).join(", ");
  return name && name[0]!.toUpperCase() + name.slice(1);
}

export interface StepGroup {
  name: string; // empty if the steps have nothing in common
  steps: FlowStep[];
}

// groupsOf groups steps by the parts that their keys share, in the order of their first
// steps.
export function groupsOf(steps: FlowStep[]): StepGroup[] {
  const groups = new Map<string, FlowStep[]>();
  for (const s of steps) {
    const name = groupName(s.key);
    groups.set(name, [...(groups.get(name) ?? []), s]);
  }
  return [...groups].map(([name, list]) => ({ name, steps: list }));
}

// Round has the step of each side. A newer step with the same key replaces an older one.
export interface Round {
  name: string;
  sides: (FlowStep | undefined)[];
}

const SIDES = ["a", "b"];

// roundsOf returns the steps of a debate's rounds, by side.
export function roundsOf(steps: FlowStep[]): Round[] {
  const rounds = new Map<string, Round>();
  for (const s of steps) {
    const m = /(?:^|\/)r\d+\/([ab])$/.exec(s.key);
    if (!m || s.left) continue;
    const name = groupName(s.key);
    const round = rounds.get(name) ?? { name, sides: SIDES.map(() => undefined) };
    round.sides[SIDES.indexOf(m[1]!)] = s;
    rounds.set(name, round);
  }
  return [...rounds.values()];
}

// field returns a text of a JSON object that might be cut off.
function field(json: string, name: string): string {
  const text = new RegExp(`"${name}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)`).exec(json)?.[1] ?? "";
  try {
    return JSON.parse(`"${text.replace(/\\(u[0-9a-fA-F]{0,3})?$/, "")}"`) as string;
  } catch {
    return text;
  }
}

export interface Statement {
  verdict: string; // empty if the result is not a statement
  summary: string;
  position: string;
  changed: string;
}

// statementOf reads what a side answered in a round.
export function statementOf(result = ""): Statement {
  const read = (name: string) => field(result, name);
  return { verdict: read("verdict"), summary: read("summary"), position: read("position"), changed: read("changed") };
}

// readable returns the result of a step as text: a statement without its JSON.
export function readable(result: string): string {
  const { verdict, summary, position, changed } = statementOf(result);
  return verdict ? [`${verdict}: ${summary}`, position, changed && `Changed: ${changed}`].filter(Boolean).join("\n\n") : result;
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
