// The view of the timeline: which bars are in a time span, and its axis.
import type { TimelineBar, TimelineRow } from "../api/schema";
import { plural } from "./format";

export interface Span {
  from: number;
  to: number;
}

// within keeps the bars that are in a time span.
export function within(rows: TimelineRow[], s: Span): TimelineRow[] {
  const fits = (b: TimelineBar) => Date.parse(b.from) <= s.to && (b.to ? Date.parse(b.to) : Infinity) >= s.from;
  return rows.map((r) => ({ ...r, bars: (r.bars ?? []).filter(fits) })).filter((r) => r.bars.length > 0);
}

// counted says how many sessions and checks rows have.
export function counted(rows: TimelineRow[]): string {
  const bars = rows.flatMap((r) => r.bars ?? []);
  const checks = bars.filter((b) => b.kind === "check").length;
  return plural(bars.length - checks, "session") + (checks > 0 ? ` and ${plural(checks, "check")}` : "");
}

// sinceDay returns the start of the day of a time, in UTC. A view that moves a
// little then reads the same answer.
export function sinceDay(t: number): string {
  return new Date(Math.floor(t / 86_400_000) * 86_400_000).toISOString();
}

const SHORTEST = 10_000; // ms

// zoomed returns a longer or shorter span around a position in it, moved by a
// share of its length.
export function zoomed(s: Span, by: number, around: number, move: number): Span {
  const length = Math.max(SHORTEST, (s.to - s.from) * by);
  const from = s.from + (s.to - s.from) * (around + move) - length * around;
  return { from, to: from + length };
}

const LABEL = 64; // px: the longest time of the axis, and a space

// fitting returns how many times fit on an axis without an overlap.
export function fitting(width: number): number {
  return Math.max(1, Math.min(8, Math.floor(width / LABEL)));
}

// ticks returns round times for the axis, at most as many as intervals fit.
export function ticks(from: number, to: number, most: number): number[] {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 259200, 604800, 1209600, 2592000].map((s) => s * 1000);
  const step = steps.find((s) => (to - from) / s <= most) ?? steps.at(-1)!;
  const out: number[] = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) out.push(t);
  return out;
}
