// The preview of a task: the app of its workspace, which a person started.
import { useLines, useRunState, type LiveRun } from "../api/run";
import type { Preview as Data, TaskDetail } from "../api/schema";
import { ago, useNow } from "../lib/format";
import { Empty, Mono } from "../ui/parts";
import { actionsOf, run as request, type ActionID } from "./actions";
import { LogView, useFind } from "./logview";

const shows: readonly ActionID[] = ["preview", "stop-preview"];

// hasPreview reports whether a task has a preview, or can have one.
export const hasPreview = (t: TaskDetail) => t.preview !== undefined || actionsOf(t).some((a) => a.id === "preview");

// runs reports whether the app runs, or is about to.
export const runs = (t: TaskDetail) => t.app !== undefined;

function Buttons({ t }: { t: TaskDetail }) {
  return <>{actionsOf(t).filter((a) => shows.includes(a.id)).map((a) => <button key={a.id} className={"button" + (a.id === "preview" ? " primary" : "")} title={a.about} onClick={() => void request(a, t.key)}>{a.name}</button>)}</>;
}

export function Preview({ t, run }: { t: TaskDetail; run: LiveRun }) {
  const p = t.preview;
  useFind();
  if (!p) return <Empty title="No preview"><p>The app of its workspace runs on a separate port until you stop it.</p><Buttons t={t} /></Empty>;
  return (
    <div className="preview">
      <div className="preview-head">
        <State t={t} p={p} />
        <span className="grow" />
        <Buttons t={t} />
      </div>
      {p.reason && !runs(t) && <div className={"why" + (p.state === "failed" ? " bad" : "")}><pre tabIndex={0}>{p.reason}</pre>{p.fix && <p><Mono text={p.fix} /></p>}</div>}
      <Output run={run} live={runs(t)} />
    </div>
  );
}

function State({ t, p }: { t: TaskDetail; p: Data }) {
  const now = useNow();
  return (
    <>
      <span className={"tag" + (p.state === "ready" ? " good" : p.state === "failed" ? " bad" : "")}>{t.app ?? p.state}</span>
      {p.address && runs(t) && <a href={p.address} target="_blank" rel="noreferrer">{p.address}</a>}
      <span className="muted">{p.ended_at ? `ended ${ago(p.ended_at, now)} ago` : `for ${ago(p.ready_at ?? p.created_at, now)}`}, started by {p.by}</span>
    </>
  );
}

function Output({ run, live }: { run: LiveRun; live: boolean }) {
  const state = useRunState(run);
  const lines = useLines(run, state, 0);
  if (!live && lines.length === 0) return null; // the server keeps the log only while the app runs
  return <LogView name="the app" lines={lines} live={live} />;
}
