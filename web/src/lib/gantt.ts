// Reads from the event log when sessions ran and when they waited for a person.
import type { Event } from "../api/schema";

export interface Bar {
  session: string;
  task: string;
  title: string; // when it was created
  role: string;
  from: number;
  to?: number; // absent while it runs
  ended: string; // how
  waits: { from: number; to?: number }[];
}

export function bars(events: Event[]): Bar[] {
  const out = new Map<string, Bar>();
  const open = new Map<string, string>(); // the running session of a task
  const titles = new Map<string, string>();
  for (const e of events) {
    const at = Date.parse(e.at);
    const subject = e.subject ?? "";
    const task = subject.split(".")[0] ?? "";
    const session = subject.includes(".") ? subject : open.get(task);
    const bar = session ? out.get(session) : undefined;
    switch (e.kind) {
      case "task.created":
        titles.set(task, e.reason ?? "");
        break;
      case "session.created":
        if (!subject.includes(".")) break;
        out.set(subject, { session: subject, task, title: titles.get(task) ?? "", role: (e.reason ?? "").split(" ")[0] ?? "", from: at, ended: "", waits: [] });
        open.set(task, subject);
        break;
      case "session.ended":
        if (!bar) break;
        bar.to = at;
        bar.ended = e.reason ?? "";
        close(bar, at);
        open.delete(task);
        break;
      case "question.asked":
        if (bar && bar.waits.every((w) => w.to !== undefined)) bar.waits.push({ from: at });
        break;
      case "question.answered":
        if (bar) close(bar, at);
        break;
    }
  }
  return [...out.values()].sort((a, b) => a.from - b.from);
}

function close(bar: Bar, at: number): void {
  for (const w of bar.waits) w.to ??= at;
}

export interface Lane {
  task: string;
  title: string;
  bars: Bar[]; // in the order in which they ran
}

export interface Span {
  from: number;
  to: number;
}

// lanes puts the sessions of a task into one row, the row that started last
// first.
export function lanes(list: Bar[]): Lane[] {
  const out = new Map<string, Lane>();
  for (const b of list) {
    const lane = out.get(b.task) ?? { task: b.task, title: b.title, bars: [] };
    lane.bars.push(b);
    out.set(b.task, lane);
  }
  return [...out.values()].sort((a, b) => b.bars[0]!.from - a.bars[0]!.from);
}

// within keeps the sessions that ran in a time span.
export function within(list: Lane[], s: Span): Lane[] {
  return list.map((l) => ({ ...l, bars: l.bars.filter((b) => b.from <= s.to && (b.to ?? Infinity) >= s.from) })).filter((l) => l.bars.length > 0);
}

const SHORTEST = 10_000; // ms

// zoomed returns a longer or shorter span around a position in it, moved by a
// share of its length.
export function zoomed(s: Span, by: number, around: number, move: number): Span {
  const length = Math.max(SHORTEST, (s.to - s.from) * by);
  const from = s.from + (s.to - s.from) * (around + move) - length * around;
  return { from, to: from + length };
}

// ticks returns round times for the axis, about as many as fit.
export function ticks(from: number, to: number, most: number): number[] {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 259200, 604800, 1209600, 2592000].map((s) => s * 1000);
  const step = steps.find((s) => (to - from) / s <= most) ?? steps.at(-1)!;
  const out: number[] = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) out.push(t);
  return out;
}
