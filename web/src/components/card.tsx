// A task on the board, as a card and as a row.
import { memo, type DragEvent } from "react";
import { useSays } from "../api/says";
import type { Task } from "../api/schema";
import { said } from "../lib/board";
import { ago, cost, plural } from "../lib/format";
import { plainText } from "../lib/markdown";
import { Link, toFlow, toReview, toTask } from "../router";
import { StatusBadge } from "../ui/parts";
import { Dot, Flag, TaskMenu } from "./marks";
import { PullMarks } from "./pullmark";

const CARD = 126;
const PULL = 23; // the line with the pull request
export const ROW = 38;

// cardHeight is the height of the cards of a column, which all have the same one.
export const cardHeight = (tasks: Task[]) => (tasks.some((t) => t.pr) ? CARD + PULL : CARD);

// pageOf is the page that a person wants for a task: the review if it waits for
// one, or the page of a flow.
const pageOf = (t: Task) => (t.review === "wanted" ? toReview : t.flow ? toFlow : toTask)(t.key);

function sinceOf(t: Task, now: number): string {
  return t.ended_at ? ago(t.ended_at, now) + " ago" : ago(t.since, now);
}

// Line has what a person should know, or else what the task's session said or did last.
function Line({ t, className }: { t: Task; className: string }) {
  const says = useSays(t);
  return <span className={className}>{plainText(t.line ?? says ?? "")}</span>;
}

function Proof({ t }: { t: Task }) {
  if (!t.proof || t.outcome === "done") return null;
  return <span className={t.proven ? "add-text" : "bad-text"} title="The result of its newest candidate">{t.proven ? "✓" : "✗"} {t.proof}</span>;
}

// Facts has the badge, too: beside the key and the time, a narrow card has no place.
function Facts({ t, badge }: { t: Task; badge: boolean }) {
  return (
    <span className="facts">
      {badge && <StatusBadge status={t.status} text={t.status_text} />}
      <span>{t.agent}{t.model ? ` · ${t.model}` : ""}{t.role && t.role !== "implement" && !t.ended_at ? ` · ${t.role}` : ""}</span>
      {t.labels?.map((l) => <span key={l} className="chip" title={l}>{l}</span>)}
      <Proof t={t} />
      {t.app && <span className="add-text" title={`The app of its workspace is ${t.app}`}>◉ preview</span>}
      {t.usage.cost_usd ? <span>{cost(t.usage)}</span> : null}
      {t.sessions > 1 && <span>{plural(t.sessions, "session")}</span>}
      {t.priority !== 0 && <span title="Priority">{t.priority > 0 ? "▲" : "▼"} {Math.abs(t.priority)}</span>}
      {t.warning && t.warning !== t.line && <span className="warn-text" title={t.warning}>⚠ {t.warning}</span>}
      {t.round > 0 && <span title="How often it was restarted">↻ {t.round}</span>}
      {t.flow && <span title="The kind of flow">{t.flow.kind}</span>}
      {t.step && <span title="The flow that it is a step of">step {t.step.key} of {t.step.flow}</span>}
      {t.parent && !t.step && <span title="The task whose agent created it">for {t.parent}</span>}
      {(t.after?.length ?? 0) > 0 && <span title="Depends on">after {t.after!.join(", ")}</span>}
    </span>
  );
}

export interface Drag {
  onStart: (t: Task) => void;
  onDrop: (t: Task, before: boolean) => void;
}

function half(e: DragEvent): boolean {
  const box = e.currentTarget.getBoundingClientRect();
  return e.clientY < box.top + box.height / 2;
}

// Card shows the status of its task unless its column says it.
export const Card = memo(function Card({ t, now, column, drag }: { t: Task; now: number; column: string; drag?: Drag }) {
  const movable = drag && t.can_change;
  return (
    <div className="card-box"><Link
      href={pageOf(t)} className={`card s-${t.status.replace(" ", "-")}${t.need === "stalled" ? " stalled" : ""}${t.pr ? " has-pull" : ""}`} data-row data-key={t.key} draggable={movable ? true : undefined}
      onDragStart={(e) => {
        e.dataTransfer.setData("text/plain", t.key);
        e.dataTransfer.effectAllowed = "move";
        drag?.onStart(t);
      }}
      onDragOver={(e) => {
        if (!movable) return;
        e.preventDefault();
        e.currentTarget.dataset.drop = half(e) ? "before" : "after";
      }}
      onDragLeave={(e) => delete e.currentTarget.dataset.drop}
      onDrop={(e) => {
        delete e.currentTarget.dataset.drop;
        if (!movable) return;
        e.preventDefault();
        drag.onDrop(t, half(e));
      }}
    >
      <span className="card-head">
        <Dot t={t} />
        <span className="key" title={t.key}>{t.key}</span>
        <Flag t={t} />
        <span className="grow" />
        <span className="since" title={sinceOf(t, now)}>{ago(t.ended_at ?? t.since, now)}</span>
      </span>
      <span className="card-title" title={t.title}>{t.title}</span>
      <Line t={t} className="card-line" />
      <Facts t={t} badge={!said(column, t.status) || t.status_text !== undefined} />
    </Link><PullMarks t={t} className="card-pull" /><TaskMenu t={t} /></div>
  );
});

export function Row({ t, now, selected, onSelect }: { t: Task; now: number; selected: boolean; onSelect: (on: boolean) => void }) {
  return (
    <div className={"row" + (selected ? " selected" : "")} data-row data-key={t.key}>
      <input type="checkbox" checked={selected} onChange={(e) => onSelect(e.target.checked)} aria-label={`Select ${t.key}`} />
      <StatusBadge status={t.status} text={t.status_text} />
      <Link href={pageOf(t)} className="row-title" title={t.title}><Dot t={t} /><span className="key">{t.key}</span> <Flag t={t} /> {t.title}</Link>
      {(t.labels?.length ?? 0) > 0 && <span className="row-labels" title={t.labels!.join(", ")}>{t.labels!.map((l) => <span key={l} className="chip" title={l}>{l}</span>)}</span>}
      <PullMarks t={t} className="row-pull" />
      <Line t={t} className="row-line" />
      <span className="row-agent">{t.agent}</span>
      <span className="row-cost">{t.usage.cost_usd ? cost(t.usage) : ""}</span>
      <span className="row-since">{sinceOf(t, now)}</span>
      <TaskMenu t={t} />
    </div>
  );
}
