// When sessions ran and when they waited for a person: a row for each task, the
// newest first. Ctrl and the wheel zoom, dragging moves.
import { useEffect, useRef, useState } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import { MarkFilters, useMarks } from "../components/markfilters";
import type { TimelineRow } from "../api/schema";
import { sinceDay, ticks, within, zoomed, type Span } from "../lib/gantt";
import { axisTime, plural, span, time, useNow } from "../lib/format";
import { Link, to, toTask, useParam, type Param } from "../router";
import { Empty, Loading, ProblemBox } from "../ui/parts";

type Zoom = Param<"/timeline", "zoom">;
const spans: Record<Zoom, number> = { "15 m": 15, "1 h": 60, "6 h": 360, "1 d": 1440, "7 d": 10080, all: 0 }; // minutes
const MOST = 400; // rows drawn

export default function TimelinePage() {
  const now = useNow(2000);
  const [zoom, setZoom] = useParam("/timeline", "zoom");
  const marks = useMarks("/timeline");
  const [own, setOwn] = useState<Span>(); // the span that the user zoomed or moved to
  const minutes = spans[zoom];
  const since = minutes > 0 ? now - minutes * 60_000 : 0;
  const from = Math.min(since, own?.from ?? Infinity);
  const { data, problem, again } = useAnswer(queries.timeline(from > 0 ? sinceDay(from) : undefined, marks.filter));
  const choices = useAnswer(queries.board({ limit: 1 })).data;
  if (!data) return problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the timeline" />;
  const all = data.rows ?? [];
  const preset = within(all, { from: since, to: now });
  const first = Math.min(...preset.flatMap((r) => (r.bars ?? []).map((b) => time(b.from))));
  const view = own ?? { from: Math.max(since, (Number.isFinite(first) ? first : since) - 2000), to: now }; // no empty time before the first bar
  const shown = within(all, view);
  const choose = (z: Zoom) => {
    setOwn(undefined);
    setZoom(z);
  };
  return (
    <div className="page">
      <div className="page-head">
        <h1>Timeline</h1>
        <span className="muted">{plural(shown.reduce((n, l) => n + (l.bars?.length ?? 0), 0), "session")} of {plural(shown.length, "task")}</span>
        <span className="grow" />
        <div className="segments" role="group" aria-label="Move">
          <button aria-label="Earlier" title="Earlier" onClick={() => setOwn(zoomed(view, 1, 0.5, -0.5))}>‹</button>
          <button aria-label="Zoom in" title="Zoom in" onClick={() => setOwn(zoomed(view, 0.5, 0.5, 0))}>+</button>
          <button aria-label="Zoom out" title="Zoom out" onClick={() => setOwn(zoomed(view, 2, 0.5, 0))}>−</button>
          <button aria-label="Later" title="Later" onClick={() => setOwn(zoomed(view, 1, 0.5, 0.5))}>›</button>
        </div>
        <div className="segments" role="group" aria-label="Zoom">{(Object.keys(spans) as Zoom[]).map((z) => <button key={z} aria-pressed={!own && z === zoom} onClick={() => choose(z)}>{z}</button>)}</div>
      </div>
      <div className="filters"><MarkFilters marks={marks} choices={choices} /></div>
      <p className="legend muted"><span className="swatch" /> finished <span className="swatch now" /> running <span className="swatch waits" /> waiting for you <span className="swatch failed" /> failed</p>
      {problem && <ProblemBox problem={problem} again={again} />}
      {all.length === 0 && zoom === "all" ? <Empty title="No session yet"><p>Each session becomes a bar here, with the time it waited for a person marked.</p></Empty> : shown.length === 0 ? <Empty title={own ? "No session in this time" : `No session in the last ${zoom}`}><p>Choose a longer time.</p></Empty> : <Chart list={shown.slice(0, MOST)} view={view} onView={setOwn} />}
      {shown.length > MOST && <p className="muted">The newest {MOST} of {shown.length}.</p>}
      {data.more && <p className="muted">Older sessions are left out. Choose a shorter time.</p>}
    </div>
  );
}

function Chart({ list, view, onView }: { list: TimelineRow[]; view: Span; onView: (s: Span) => void }) {
  const { from, to: end } = view;
  const axis = useRef<HTMLDivElement>(null);
  const pos = (t: number) => (100 * (Math.max(from, Math.min(end, t)) - from)) / Math.max(1, end - from);
  const marks = ticks(from, end, 8).filter((t) => pos(t) > 3 && pos(t) < 94);
  useGrip(axis, view, onView);
  return (
    <div className="gantt" ref={axis}>
      <div className="gantt-axis" aria-hidden="true">{marks.map((t) => <span key={t} style={{ left: `${pos(t)}%` }}>{axisTime(t, end - from)}</span>)}</div>
      <div className="gantt-grid" aria-hidden="true">{marks.map((t) => <i key={t} style={{ left: `${pos(t)}%` }} />)}</div>
      <div role="list" aria-label="Tasks">
        {list.map((r) => <ChartRow key={r.task} r={r} end={end} pos={pos} />)}
      </div>
    </div>
  );
}

function ChartRow({ r, end, pos }: { r: TimelineRow; end: number; pos: (t: number) => number }) {
  const bars = r.bars ?? [];
  const until = (at?: string) => (at ? time(at) : end);
  const place = (from: string, to: string | undefined, least: number) => ({ left: `${pos(time(from))}%`, width: `${Math.max(least, pos(until(to)) - pos(time(from)))}%` });
  const ran = bars.reduce((sum, b) => sum + until(b.to) - time(b.from), 0);
  return (
    <div role="listitem" className="gantt-row">
      <Link href={toTask(r.task)} title={r.title} data-row><span className="key">{r.task}</span> {r.title}</Link>
      <span className="gantt-lane">
        {bars.map((b) => (
          <span key={b.session}>
            <Link href={to("/tasks/{key}", { key: r.task, session: b.session })} className={"gantt-bar" + (b.failed ? " failed" : "") + (b.to ? "" : " runs")} tabIndex={-1}
              aria-label={b.session} title={`${b.session} ${b.role}: ${span(until(b.to) - time(b.from))}, ${b.to ? b.state : "running"}`} style={place(b.from, b.to, 0.3)} />
            {(b.waits ?? []).map((w) => <span key={w.from} className="gantt-wait" style={place(w.from, w.to, 0.2)} />)}
          </span>
        ))}
      </span>
      <span className="gantt-span">{span(ran)}</span>
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
