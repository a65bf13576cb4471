// When sessions ran and when they waited for a person.
import { useEffect, useMemo, useState } from "react";
import { get, problemOf, query } from "../api/client";
import { feed, useTasks } from "../api/live";
import type { Event, EventPage, Problem } from "../api/schema";
import { bars, ticks, type Bar } from "../lib/gantt";
import { plural, span, useNow } from "../lib/format";
import { Link, useParam } from "../router";
import { Empty, Loading, ProblemBox } from "../ui/parts";

const BACK = 20_000; // events that are read
const spans: Record<string, number> = { "15 m": 15, "1 h": 60, "6 h": 360, "1 d": 1440, "7 d": 10080, all: 0 };
const MOST = 400; // bars drawn

// useLog reads the newest part of the log and goes on live.
function useLog(): { events?: Event[]; problem?: Problem } {
  const [events, setEvents] = useState<Event[]>();
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => {
    const stop = new AbortController();
    let later: Event[] = [];
    let all: Event[] | undefined;
    let frame = 0;
    const off = feed.onEvent((e) => {
      if (!/^(session|question)\./.test(e.kind)) return;
      later.push(e);
      if (!all || frame) return;
      frame = requestAnimationFrame(() => {
        frame = 0;
        all = [...all!, ...later];
        later = [];
        setEvents(all);
      });
    });
    const run = async () => {
      const out: Event[] = [];
      const head = await get<EventPage>("/events" + query({ limit: 1 }), stop.signal);
      for (let after = Math.max(0, head.last - BACK); ; ) {
        const page = await get<EventPage>("/events" + query({ after, limit: 1000 }), stop.signal);
        out.push(...(page.events ?? []).filter((e) => /^(session|question)\./.test(e.kind)));
        if (!page.more) break;
        after = page.next;
      }
      const last = out.at(-1)?.seq ?? 0;
      all = [...out, ...later.filter((e) => e.seq > last)];
      later = [];
      setEvents(all);
    };
    run().catch((err: unknown) => !stop.signal.aborted && setProblem(problemOf(err)));
    return () => {
      stop.abort();
      off();
      cancelAnimationFrame(frame);
    };
  }, []);
  return { events, problem };
}

export default function TimelinePage() {
  const { events, problem } = useLog();
  const now = useNow(2000);
  const [zoom, setZoom] = useParam("zoom", "1 h");
  const all = useMemo(() => bars(events ?? []), [events]);
  if (problem) return <ProblemBox problem={problem} />;
  if (!events) return <Loading what="the log" />;
  if (all.length === 0) return <Empty title="No session yet"><p>Each session becomes a bar here, with the time it waited for a person marked.</p></Empty>;
  const minutes = spans[zoom] ?? 60;
  const since = minutes > 0 ? now - minutes * 60_000 : 0;
  const shown = all.filter((b) => (b.to ?? now) >= since).slice(-MOST);
  const from = Math.max(since, (shown[0]?.from ?? since) - 2000); // no empty time before the first bar
  return (
    <div className="page">
      <div className="page-head">
        <h1>Timeline</h1>
        <span className="muted">{plural(shown.length, "session")}</span>
        <span className="grow" />
        <div className="segments" role="group" aria-label="Zoom">{Object.keys(spans).map((z) => <button key={z} aria-pressed={z === zoom} onClick={() => setZoom(z)}>{z}</button>)}</div>
      </div>
      <p className="legend muted"><span className="swatch" /> ran <span className="swatch now" /> runs <span className="swatch waits" /> waits for a person <span className="swatch failed" /> ended badly</p>
      {shown.length === 0 ? <Empty title={`No session in the last ${zoom}`}><p>Choose a longer time.</p></Empty> : <Chart list={shown} from={from} to={now} />}
    </div>
  );
}

function Chart({ list, from, to }: { list: Bar[]; from: number; to: number }) {
  const tasks = useTasks();
  const titles = useMemo(() => new Map(tasks.map((t) => [t.key, t.title])), [tasks]);
  const pos = (t: number) => (100 * (Math.max(from, Math.min(to, t)) - from)) / Math.max(1, to - from);
  const long = to - from > 36 * 3600_000;
  const label = (t: number) => new Date(t).toLocaleString(undefined, long ? { month: "short", day: "numeric" } : { hour: "2-digit", minute: "2-digit", second: to - from < 600_000 ? "2-digit" : undefined });
  return (
    <div className="gantt" role="list" aria-label="Sessions">
      <div className="gantt-axis" aria-hidden="true">{ticks(from, to, 8).filter((t) => pos(t) > 3 && pos(t) < 95).map((t) => <span key={t} style={{ left: `${pos(t)}%` }}>{label(t)}</span>)}</div>
      {list.map((b) => {
        const end = b.to ?? to;
        const bad = b.ended !== "" && b.ended !== "done";
        const title = `${b.session} ${b.role}: ${span(end - b.from)}${b.ended ? `, ${b.ended}` : ", runs"}`;
        return (
          <div key={b.session} role="listitem" className="gantt-row" data-row>
            <Link href={`/tasks/${b.task}?session=${b.session}`} title={titles.get(b.task)}><span className="key">{b.session}</span> {titles.get(b.task)}</Link>
            <span className="gantt-lane" title={title}>
              <span className={"gantt-bar" + (bad ? " failed" : "") + (b.to === undefined ? " runs" : "")} style={{ left: `${pos(b.from)}%`, width: `${Math.max(0.3, pos(end) - pos(b.from))}%` }} />
              {b.waits.map((w) => <span key={w.from} className="gantt-wait" style={{ left: `${pos(w.from)}%`, width: `${Math.max(0.2, pos(w.to ?? to) - pos(w.from))}%` }} />)}
            </span>
            <span className="gantt-span">{span(end - b.from)}</span>
          </div>
        );
      })}
    </div>
  );
}
