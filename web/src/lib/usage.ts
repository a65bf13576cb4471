// Adds up what sessions used.
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

// dayName returns a day in the server's format, in the browser's time zone.
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

// days adds the days without usage in between, so that a chart shows them. It
// starts with the first day with usage.
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
