// Adds up what tasks have used.
import type { Task, Usage } from "../api/schema";

export interface Sum {
  name: string;
  tasks: number;
  usage: Required<Usage>;
}

export const zero: Required<Usage> = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, cost_usd: 0, turns: 0 };

export function plus(a: Required<Usage>, b: Usage): Required<Usage> {
  const out = { ...a };
  for (const k of Object.keys(zero) as (keyof Usage)[]) out[k] += b[k] ?? 0;
  return out;
}

// dayOf is the day a task's cost counts for: the one it ended on, or the one it
// was last heard of.
export function dayOf(t: Task): string {
  const d = new Date(t.ended_at ?? t.since);
  return `${d.getFullYear()}-${String(d.getMonth() + 1).padStart(2, "0")}-${String(d.getDate()).padStart(2, "0")}`;
}

export function sums(tasks: Task[], by: (t: Task) => string): Sum[] {
  const out = new Map<string, Sum>();
  for (const t of tasks) {
    if (t.sessions === 0) continue;
    const name = by(t);
    const s = out.get(name) ?? { name, tasks: 0, usage: zero };
    out.set(name, { name, tasks: s.tasks + 1, usage: plus(s.usage, t.usage) });
  }
  return [...out.values()];
}

// days fills the days in between with nothing, so that a chart does not lie.
export function days(list: Sum[], most: number): Sum[] {
  const sorted = [...list].sort((a, b) => a.name.localeCompare(b.name));
  const last = sorted.at(-1);
  const first = sorted[0];
  if (!first || !last) return [];
  const by = new Map(sorted.map((s) => [s.name, s]));
  const out: Sum[] = [];
  for (const d = new Date(last.name + "T12:00:00"); out.length < most; d.setDate(d.getDate() - 1)) {
    const name = `${d.getFullYear()}-${String(d.getMonth() + 1).padStart(2, "0")}-${String(d.getDate()).padStart(2, "0")}`;
    if (name < first.name) break;
    out.unshift(by.get(name) ?? { name, tasks: 0, usage: zero });
  }
  return out;
}
