// When sessions ran and when they waited for a person: a row for each task, the
// newest first. Ctrl and the wheel zoom, dragging moves.
import { useEffect, useMemo, useRef, useState } from "react";
import { get, problemOf, query } from "../api/client";
import { feed, useTasks } from "../api/live";
import type { Event, EventPage, Problem } from "../api/schema";
import { bars, lanes, ticks, within, zoomed, type Lane, type Span } from "../lib/gantt";
import { plural, span, useNow } from "../lib/format";
import { Link, useParam } from "../router";
import { Empty, Loading, ProblemBox } from "../ui/parts";

const BACK = 20_000; // events that are read
const spans: Record<string, number> = { "15 m": 15, "1 h": 60, "6 h": 360, "1 d": 1440, "7 d": 10080, all: 0 };
const MOST = 400; // rows drawn
const SHOWN = /^(session\.(created|ended)|question\.|task\.created)/;

// useLog reads the newest part of the log and follows it live.
function useLog(): { events?: Event[]; problem?: Problem } {
  const [events, setEvents] = useState<Event[]>();
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => {
    const stop = new AbortController();
    let later: Event[] = [];
    let all: Event[] | undefined;
    let frame = 0;
    const off = feed.onEvent((e) => {
      if (!SHOWN.test(e.kind)) return;
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
        out.push(...(page.events ?? []).filter((e) => SHOWN.test(e.kind)));
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
  const [own, setOwn] = useState<Span>(); // the span that the user zoomed or moved to
  const all = useMemo(() => lanes(bars(events ?? [])), [events]);
  if (problem) return <ProblemBox problem={problem} />;
  if (!events) return <Loading what="the log" />;
  if (all.length === 0) return <Empty title="No session yet"><p>Each session becomes a bar here, with the time it waited for a person marked.</p></Empty>;
  const minutes = spans[zoom] ?? 60;
  const since = minutes > 0 ? now - minutes * 60_000 : 0;
  const preset = within(all, { from: since, to: now });
  const first = Math.min(...preset.flatMap((l) => l.bars.map((b) => b.from)));
  const view = own ?? { from: Math.max(since, (Number.isFinite(first) ? first : since) - 2000), to: now }; // no empty time before the first bar
  const shown = within(all, view);
  const choose = (z: string) => {
    setOwn(undefined);
    setZoom(z);
  };
  return (
    <div className="page">
      <div className="page-head">
        <h1>Timeline</h1>
        <span className="muted">{plural(shown.reduce((n, l) => n + l.bars.length, 0), "session")} of {plural(shown.length, "task")}</span>
        <span className="grow" />
        <div className="segments" role="group" aria-label="Move">
          <button aria-label="Earlier" title="Earlier" onClick={() => setOwn(zoomed(view, 1, 0.5, -0.5))}>‹</button>
          <button aria-label="Zoom in" title="Zoom in" onClick={() => setOwn(zoomed(view, 0.5, 0.5, 0))}>+</button>
          <button aria-label="Zoom out" title="Zoom out" onClick={() => setOwn(zoomed(view, 2, 0.5, 0))}>−</button>
          <button aria-label="Later" title="Later" onClick={() => setOwn(zoomed(view, 1, 0.5, 0.5))}>›</button>
        </div>
        <div className="segments" role="group" aria-label="Zoom">{Object.keys(spans).map((z) => <button key={z} aria-pressed={!own && z === zoom} onClick={() => choose(z)}>{z}</button>)}</div>
      </div>
      <p className="legend muted"><span className="swatch" /> finished <span className="swatch now" /> running <span className="swatch waits" /> waiting for you <span className="swatch failed" /> failed</p>
      {shown.length === 0 ? <Empty title={own ? "No session in this time" : `No session in the last ${zoom}`}><p>Choose a longer time.</p></Empty> : <Chart list={shown.slice(0, MOST)} view={view} onView={setOwn} />}
      {shown.length > MOST && <p className="muted">The newest {MOST} of {shown.length}.</p>}
    </div>
  );
}

function Chart({ list, view, onView }: { list: Lane[]; view: Span; onView: (s: Span) => void }) {
  const { from, to } = view;
  const tasks = useTasks();
  const titles = useMemo(() => new Map(tasks.map((t) => [t.key, t.title])), [tasks]);
  const axis = useRef<HTMLDivElement>(null);
  const pos = (t: number) => (100 * (Math.max(from, Math.min(to, t)) - from)) / Math.max(1, to - from);
  const long = to - from > 36 * 3600_000;
  const label = (t: number) => new Date(t).toLocaleString(undefined, long ? { month: "short", day: "numeric" } : { hourCycle: "h23", hour: "2-digit", minute: "2-digit", second: to - from < 600_000 ? "2-digit" : undefined });
  const marks = ticks(from, to, 8).filter((t) => pos(t) > 3 && pos(t) < 94);
  useGrip(axis, view, onView);
  return (
    <div className="gantt" ref={axis}>
      <div className="gantt-axis" aria-hidden="true">{marks.map((t) => <span key={t} style={{ left: `${pos(t)}%` }}>{label(t)}</span>)}</div>
      <div className="gantt-grid" aria-hidden="true">{marks.map((t) => <i key={t} style={{ left: `${pos(t)}%` }} />)}</div>
      <div role="list" aria-label="Tasks">
        {list.map((l) => {
          const title = titles.get(l.task) ?? l.title;
          const ran = l.bars.reduce((sum, b) => sum + ((b.to ?? to) - b.from), 0);
          return (
            <div key={l.task} role="listitem" className="gantt-row">
              <Link href={`/tasks/${l.task}`} title={title} data-row><span className="key">{l.task}</span> {title}</Link>
              <span className="gantt-lane">
                {l.bars.map((b) => {
                  const end = b.to ?? to;
                  const bad = b.ended !== "" && b.ended !== "done";
                  return (
                    <span key={b.session}>
                      <Link href={`/tasks/${b.task}?session=${b.session}`} className={"gantt-bar" + (bad ? " failed" : "") + (b.to === undefined ? " runs" : "")} tabIndex={-1}
                        aria-label={b.session} title={`${b.session} ${b.role}: ${span(end - b.from)}${b.ended ? `, ${b.ended}` : ", running"}`} style={{ left: `${pos(b.from)}%`, width: `${Math.max(0.3, pos(end) - pos(b.from))}%` }} />
                      {b.waits.map((w) => <span key={w.from} className="gantt-wait" style={{ left: `${pos(w.from)}%`, width: `${Math.max(0.2, pos(w.to ?? to) - pos(w.from))}%` }} />)}
                    </span>
                  );
                })}
              </span>
              <span className="gantt-span">{span(ran)}</span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

// useGrip zooms with ctrl and the wheel where the pointer is, and moves when
// the axis is dragged.
function useGrip(ref: React.RefObject<HTMLDivElement | null>, view: Span, onView: (s: Span) => void): void {
  const now = useRef({ view, onView });
  now.current = { view, onView };
  useEffect(() => {
    const el = ref.current;
    const axis = el?.querySelector<HTMLElement>(".gantt-axis");
    if (!el || !axis) return;
    const share = (x: number) => {
      const box = axis.getBoundingClientRect();
      return Math.max(0, Math.min(1, (x - box.left) / box.width));
    };
    const wheel = (e: WheelEvent) => {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      now.current.onView(zoomed(now.current.view, e.deltaY > 0 ? 1.25 : 0.8, share(e.clientX), 0));
    };
    let grip: { x: number; view: Span } | undefined;
    const down = (e: PointerEvent) => {
      grip = { x: share(e.clientX), view: now.current.view };
      axis.setPointerCapture(e.pointerId);
    };
    const move = (e: PointerEvent) => grip && now.current.onView(zoomed(grip.view, 1, 0.5, grip.x - share(e.clientX)));
    const up = () => (grip = undefined);
    el.addEventListener("wheel", wheel, { passive: false });
    axis.addEventListener("pointerdown", down);
    axis.addEventListener("pointermove", move);
    axis.addEventListener("pointerup", up);
    return () => {
      el.removeEventListener("wheel", wheel);
      axis.removeEventListener("pointerdown", down);
      axis.removeEventListener("pointermove", move);
      axis.removeEventListener("pointerup", up);
    };
  }, [ref]);
}
