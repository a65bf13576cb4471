// Reads from the log when sessions ran and when they waited for a person.
import type { Event } from "../api/schema";

export interface Bar {
  session: string;
  task: string;
  role: string;
  from: number;
  to?: number; // open when it still runs
  ended: string; // how
  waits: { from: number; to?: number }[];
}

export function bars(events: Event[]): Bar[] {
  const out = new Map<string, Bar>();
  const open = new Map<string, string>(); // the running session of a task
  for (const e of events) {
    const at = Date.parse(e.at);
    const subject = e.subject ?? "";
    const task = subject.split(".")[0] ?? "";
    const session = subject.includes(".") ? subject : open.get(task);
    const bar = session ? out.get(session) : undefined;
    switch (e.kind) {
      case "session.created":
        if (!subject.includes(".")) break;
        out.set(subject, { session: subject, task, role: (e.reason ?? "").split(" ")[0] ?? "", from: at, ended: "", waits: [] });
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

// ticks are round moments for the axis, about as many as there is room for.
export function ticks(from: number, to: number, most: number): number[] {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800].map((s) => s * 1000);
  const step = steps.find((s) => (to - from) / s <= most) ?? steps.at(-1)!;
  const out: number[] = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) out.push(t);
  return out;
}
