// Why a task is in its status, and what a person can do about it.
import type { ReactNode } from "react";
import { classes } from "../api/tables";
import type { FailedCheck, TaskDetail } from "../api/schema";
import { shown } from "../lib/lines";
import { relativeTo, type Relative } from "../lib/relative";
import { Link, to } from "../router";
import { Mono } from "../ui/parts";
import { ActionBar } from "./actionbar";
import { Ask } from "./ask";

// FailureClass is the class of a failure in words.
export function FailureClass({ name }: { name: string }) {
  return <span className="problem-code">{classes[name] ?? name}</span>;
}

const reason = (t: TaskDetail) => t.reason || t.warning;

// offersActions reports whether the banner has the actions of a task.
export function offersActions(t: TaskDetail): boolean {
  return !t.question?.open && t.need !== undefined && !!reason(t);
}

// Why leaves out the log where the page shows the whole log. A page can have its
// own bar of actions.
export function Why({ t, log = true, actions = <ActionBar t={t} /> }: { t: TaskDetail; log?: boolean; actions?: ReactNode }) {
  if (t.question?.open) return <Ask task={t.key} q={t.question} />;
  const text = reason(t);
  if (!text) return null;
  return (
    <div className={"why" + (t.status === "failed" ? " bad" : t.need ? " needs" : "")}>
      <p>{t.failure && t.status !== "done" && <FailureClass name={t.failure.class} />}<Mono text={text} /></p>
      {t.fix && <p className="muted"><Mono text={t.fix} /></p>}
      {log && t.failed_check && <Excerpt task={t.key} c={t.failed_check} relative={relativeTo(t)} />}
      {offersActions(t) && actions}
    </div>
  );
}

// Excerpt shows the log of a check around its first error.
function Excerpt({ task, c, relative }: { task: string; c: FailedCheck; relative: Relative }) {
  const line = c.line ? String(c.line) : undefined;
  return (
    <figure className="excerpt">
      <figcaption>
        <code title={c.command}>{c.command}</code>
        <Link href={to("/tasks/{key}", { key: task, tab: "checks", check: String(c.id), line })}>{line ? `Open the log at line ${line}` : "Open the log"}</Link>
      </figcaption>
      <div className="lines" role="region" aria-label="Part of the log" tabIndex={0}>
        {(c.lines ?? []).map((text, i) => (
          <div key={i} className={"log-line" + (c.from + i === c.line ? " bad" : "")}><span className="line-no">{c.from + i}</span><span>{relative(shown(text))}</span></div>
        ))}
      </div>
    </figure>
  );
}
