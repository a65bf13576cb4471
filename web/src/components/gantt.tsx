// Bars on an axis of time. Ctrl and the wheel zoom, dragging the axis moves.
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { classes } from "../api/tables";
import type { TimelineBar } from "../api/schema";
import { fitting, ticks, zoomed, type Span } from "../lib/gantt";
import { axisTime, span, time } from "../lib/format";
import { Link, to } from "../router";

// Lane is a row of the chart.
export interface Lane {
  id: string;
  task: string; // the key of the task whose bars it has
  name: ReactNode;
  bars: TimelineBar[];
}

export function Chart({ lanes, label, view, onView }: { lanes: Lane[]; label: string; view: Span; onView: (s: Span) => void }) {
  const { from, to: end } = view;
  const axis = useRef<HTMLDivElement>(null);
  const pos = (t: number) => (100 * (Math.max(from, Math.min(end, t)) - from)) / Math.max(1, end - from);
  const marks = ticks(from, end, fitting(useWidth(axis))).filter((t) => pos(t) > 3 && pos(t) < 94);
  useGrip(axis, view, onView);
  return (
    <div className="gantt" ref={axis}>
      <div className="gantt-axis" aria-hidden="true">{marks.map((t) => <span key={t} style={{ left: `${pos(t)}%` }}>{axisTime(t, end - from)}</span>)}</div>
      <div className="gantt-grid" aria-hidden="true">{marks.map((t) => <i key={t} style={{ left: `${pos(t)}%` }} />)}</div>
      <div role="list" aria-label={label}>
        {lanes.map((l) => <LaneRow key={l.id} l={l} end={end} pos={pos} />)}
      </div>
    </div>
  );
}

// useWidth returns the width of the axis.
function useWidth(ref: React.RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(800);
  useLayoutEffect(() => {
    const axis = ref.current?.querySelector<HTMLElement>(".gantt-axis");
    if (!axis) return;
    const measure = () => setWidth(axis.clientWidth || 800);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(axis);
    return () => watch.disconnect();
  }, [ref]);
  return width;
}

const until = (at: string | undefined, end: number) => (at ? time(at) : end);

function LaneRow({ l, end, pos }: { l: Lane; end: number; pos: (t: number) => number }) {
  const place = (from: string, to: string | undefined, least: number) => ({ left: `${pos(time(from))}%`, width: `${Math.max(least, pos(until(to, end)) - pos(time(from)))}%` });
  const ran = l.bars.reduce((sum, b) => sum + until(b.to, end) - time(b.from), 0);
  return (
    <div role="listitem" className="gantt-row">
      {l.name}
      <span className="gantt-lane">
        {l.bars.map((b) => (
          <span key={b.kind + (b.session || b.command) + b.from}>
            <Bar task={l.task} b={b} end={end} style={place(b.from, b.to, 0.3)} />
            {(b.waits ?? []).map((w) => <span key={w.from} className="gantt-wait" style={place(w.from, w.to, 0.2)} />)}
          </span>
        ))}
      </span>
      <span className="gantt-span">{span(ran)}</span>
    </div>
  );
}

function Bar({ task, b, end, style }: { task: string; b: TimelineBar; end: number; style: React.CSSProperties }) {
  const check = b.kind === "check";
  const name = check ? `check: ${b.command}` : `${b.session} ${b.role}`;
  const href = check ? to("/tasks/{key}", { key: task, tab: "checks", check: b.check ? String(b.check) : b.command }) : to("/tasks/{key}", { key: task, session: b.session });
  const state = b.to ? (classes[b.state] ?? b.state) : "running";
  return (
    <Link href={href} className={"gantt-bar" + (check ? " check" : "") + (b.failed ? " failed" : "") + (b.to ? "" : " runs")} tabIndex={-1}
      aria-label={check ? name : b.session} title={`${name}: ${span(until(b.to, end) - time(b.from))}, ${state}`} style={style} />
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
