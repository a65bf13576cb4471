// Adds up what sessions have used.
import type { Usage, UsageRow } from "../api/schema";

export interface Sum {
  name: string;
  sessions: number;
  usage: Required<Usage>;
}

export const zero: Required<Usage> = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, cost_usd: 0, turns: 0, priced: false, estimated: false };

const numbers = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd", "turns"] as const;

export function plus(a: Required<Usage>, b: Usage): Required<Usage> {
  const out = { ...a, priced: a.priced || !!b.priced, estimated: a.estimated || !!b.estimated };
  for (const k of numbers) out[k] += b[k] ?? 0;
  return out;
}

// dayName is a day as the server names it, in the time of this browser.
export function dayName(d: Date): string {
  return `${d.getFullYear()}-${String(d.getMonth() + 1).padStart(2, "0")}-${String(d.getDate()).padStart(2, "0")}`;
}

export function sums(rows: UsageRow[], by: (r: UsageRow) => string): Sum[] {
  const out = new Map<string, Sum>();
  for (const r of rows) {
    const name = by(r);
    const s = out.get(name) ?? { name, sessions: 0, usage: zero };
    out.set(name, { name, sessions: s.sessions + r.sessions, usage: plus(s.usage, r.usage) });
  }
  return [...out.values()];
}

// days fills the days in between with nothing, so that a chart does not lie.
// It begins with the first day on which there was anything.
export function days(list: Sum[], from: string, to: string): Sum[] {
  const by = new Map(list.map((s) => [s.name, s]));
  const first = [...by.keys()].sort()[0] ?? to;
  const out: Sum[] = [];
  for (const d = new Date((first > from ? first : from) + "T12:00:00"); dayName(d) <= to; d.setDate(d.getDate() + 1)) {
    const name = dayName(d);
    out.push(by.get(name) ?? { name, sessions: 0, usage: zero });
  }
  return out;
}
