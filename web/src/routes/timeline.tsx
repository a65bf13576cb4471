// When sessions and checks ran, and when sessions waited for a person: a row for
// each task, the newest first.
import { useState } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import { MarkFilters, useMarkChoices, useMarks } from "../components/markfilters";
import type { TimelineRow } from "../api/schema";
import { Chart, type Lane } from "../components/gantt";
import { counted, sinceDay, within, zoomed, type Span } from "../lib/gantt";
import { plural, time, useNow } from "../lib/format";
import { Link, toTask, useParam, type Param } from "../router";
import { Empty, Filters, Loading, ProblemBox } from "../ui/parts";

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
  const choices = useMarkChoices();
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
        <span className="muted">{counted(shown)} of {plural(shown.length, "task")}</span>
        <span className="grow" />
        <div className="segments" role="group" aria-label="Move">
          <button aria-label="Earlier" title="Earlier" onClick={() => setOwn(zoomed(view, 1, 0.5, -0.5))}>‹</button>
          <button aria-label="Zoom in" title="Zoom in" onClick={() => setOwn(zoomed(view, 0.5, 0.5, 0))}>+</button>
          <button aria-label="Zoom out" title="Zoom out" onClick={() => setOwn(zoomed(view, 2, 0.5, 0))}>−</button>
          <button aria-label="Later" title="Later" onClick={() => setOwn(zoomed(view, 1, 0.5, 0.5))}>›</button>
        </div>
        <div className="segments" role="group" aria-label="Zoom">{(Object.keys(spans) as Zoom[]).map((z) => <button key={z} aria-pressed={!own && z === zoom} onClick={() => choose(z)}>{z}</button>)}</div>
      </div>
      <Filters on={marks.any}><MarkFilters marks={marks} choices={choices} /></Filters>
      <p className="legend muted"><span className="swatch" /> finished <span className="swatch now" /> running <span className="swatch waits" /> waiting for you <span className="swatch check" /> check <span className="swatch failed" /> failed</p>
      {problem && <ProblemBox problem={problem} again={again} />}
      {all.length === 0 && zoom === "all" ? <Empty title="No session yet"><p>Each session and each check becomes a bar here, with the time a session waited for a person marked.</p></Empty> : shown.length === 0 ? <Empty title={own ? "No session in this time" : `No session in the last ${zoom}`}><p>Choose a longer time.</p></Empty> : <Chart label="Tasks" lanes={shown.slice(0, MOST).map(lane)} view={view} onView={setOwn} />}
      {shown.length > MOST && <p className="muted">The newest {MOST} of {shown.length}.</p>}
      {data.more && <p className="muted">Older sessions and checks are left out. Choose a shorter time.</p>}
    </div>
  );
}

function lane(r: TimelineRow): Lane {
  return { id: r.task, task: r.task, name: <Link href={toTask(r.task)} title={r.title} data-row><span className="key">{r.task}</span> {r.title}</Link>, bars: r.bars ?? [] };
}
