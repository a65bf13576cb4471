// When the sessions and checks of a task ran.
import { useState } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import type { TimelineBar } from "../api/schema";
import { time, useNow } from "../lib/format";
import type { Span } from "../lib/gantt";
import { Chart, type Lane } from "./gantt";

// lanes returns a row for the sessions, and one for each command that checks.
function lanes(task: string, bars: TimelineBar[]): Lane[] {
  const commands = new Set(bars.map((b) => b.command ?? ""));
  return [...commands].map((command) => ({
    id: command, task, name: <span title={command}>{command ? <code>{command}</code> : "sessions"}</span>, bars: bars.filter((b) => (b.command ?? "") === command),
  }));
}

export default function TaskBars({ task }: { task: string }) {
  const now = useNow(2000);
  const [own, setOwn] = useState<Span>();
  const bars = useAnswer(queries.taskTimeline(task)).data?.rows?.[0]?.bars ?? [];
  if (bars.length === 0) return null;
  const end = Math.max(...bars.map((b) => (b.to ? time(b.to) : now)));
  return <Chart label="Sessions and checks" lanes={lanes(task, bars)} view={own ?? { from: time(bars[0]!.from) - 1000, to: end + 1000 }} onView={setOwn} />;
}
