// The pull request of a task, as its forge reported it last, and what reactions did.
// The forge's texts come from outside: they are text, never markup that acts.
import { useState, type ReactNode } from "react";
import type { Pull, PullCheck, PullComment, PullMark, Reviewer, TaskDetail } from "../api/schema";
import { ago, clock, plural, useNow } from "../lib/format";
import { linesOf } from "../lib/lines";
import { Markdown } from "../lib/markdown";
import { Link, to } from "../router";
import { Mono, Outside } from "../ui/parts";
import { can } from "./actions";
import { ciMark, numberOf, reviewMark, toneOf } from "./pullmark";
import { ReactedView } from "./reacted";
import { FailureClass } from "./why";

const FIRST = 10; // entries of a list before a button shows all of them

// useFirst returns the first entries of a list, and a button that shows the others.
function useFirst<T>(list: T[]): [T[], ReactNode] {
  const [all, setAll] = useState(false);
  if (all || list.length <= FIRST) return [list, null];
  return [list.slice(0, FIRST), <button className="button small" onClick={() => setAll(true)}>Show {list.length - FIRST} more</button>];
}

export default function PullTab({ t }: { t: TaskDetail }) {
  const now = useNow(5000);
  const [reactions, more] = useFirst([...(t.reactions ?? [])].reverse());
  return (
    <div className="pull">
      {t.pull && t.pr && <Request t={t} p={t.pull} mark={t.pr} now={now} />}
      <section aria-label="Reactions">
        <h2>Reactions</h2>
        {reactions.length === 0
          ? <p className="muted">Nothing has happened that a rule follows. The rules of the project are on the page <Link href={to("/reactions", { project: t.project })}>Reactions</Link>.</p>
          : <ol className="reactions">{reactions.map((r) => <ReactedView key={r.id} r={r} now={now} />)}</ol>}
        {more && <p>{more}</p>}
      </section>
    </div>
  );
}

function Request({ t, p, mark, now }: { t: TaskDetail; p: Pull; mark: PullMark; now: number }) {
  const r = p.report;
  const review = reviewMark(mark);
  const comments = (r.comments ?? []).filter((c) => c.text).reverse();
  return (
    <>
      <section aria-label="Pull request">
        <h2><Outside href={p.url}>{numberOf(p)}</Outside> {r.title} <span className="tag">{mark.state_text}</span></h2>
        <p className="muted">
          <code>{p.branch}</code> → <code>{p.base}</code>
          {r.author && ` · opened by ${r.author}`}{p.adopted && ", continued by this task"}
          {r.head && <> · at <code>{r.head.slice(0, 10)}</code></>}
          {r.updated_at && <span title={clock(r.updated_at)}> · changed {ago(r.updated_at, now)} ago</span>}
        </p>
        {(r.labels?.length ?? 0) > 0 && <p className="chips">{r.labels!.map((l) => <span key={l} className="chip" title={l}>{l}</span>)}</p>}
        {mark.state === "open" ? <Merge t={t} p={p} mark={mark} now={now} /> : <p>{mark.state === "merged" ? "Merged" : "Closed"}{r.merged && <> as <code>{r.merged.slice(0, 10)}</code></>}{p.ended_at && <span title={clock(p.ended_at)}> {ago(p.ended_at, now)} ago</span>}.</p>}
      </section>
      <CI checks={r.checks ?? []} mark={mark} />
      <section aria-label="Reviews">
        <h2>Reviews <span className={toneOf(review)}>{review.state}</span></h2>
        <Reviewers list={t.reviewers ?? []} now={now} />
        <Comments list={comments} now={now} />
      </section>
    </>
  );
}

// Merge shows who asked to merge the request, and what prevents it.
function Merge({ t, p, mark, now }: { t: TaskDetail; p: Pull; mark: PullMark; now: number }) {
  return (
    <>
      {t.merge_text ? <p>{t.merge_text}</p> : can(t, "land") && <p className="muted">Land merges it on the forge.</p>}
      {mark.conflicts && <p className="bad-text">It has conflicts with <code>{p.base}</code>.</p>}
      {p.blocked && <p className="warn-text">The forge does not merge it: <Mono text={p.blocked} /></p>}
      {p.failure && (
        <div>
          <p className="bad-text"><FailureClass name={p.failure.class} /><Mono text={p.failure.text} /></p>
          {p.failure.fix && <p className="muted"><Mono text={p.failure.fix} /></p>}
        </div>
      )}
      {p.escalate && (
        <div className="why needs" data-escalated={p.escalate.event}>
          <p><strong>A person has to decide: {p.escalate.event}</strong> <span className="muted" title={clock(p.escalate.at)}>{ago(p.escalate.at, now)} ago</span></p>
          <p className="pull-story">{p.escalate.text}</p>
        </div>
      )}
    </>
  );
}

function CI({ checks, mark }: { checks: PullCheck[]; mark: PullMark }) {
  const ci = ciMark(mark);
  const passed = checks.filter((c) => c.state === "passed");
  const failed = checks.filter((c) => c.state === "failed");
  const others = checks.filter((c) => c.state !== "passed" && c.state !== "failed");
  return (
    <section aria-label="CI">
      <h2>CI <span className={toneOf(ci)}>{ci.state}</span></h2>
      {checks.length === 0 && <p className="muted">The forge has not reported a check for this commit.</p>}
      {failed.length + others.length > 0 && <ul className="pull-checks">{[...failed, ...others].map((c) => <CheckView key={c.name} c={c} open={failed.length === 1} />)}</ul>}
      {passed.length > 0 && <details open={checks.length === passed.length && passed.length < 8}><summary>{plural(passed.length, "check")} passed</summary><ul className="pull-checks">{passed.map((c) => <CheckView key={c.name} c={c} />)}</ul></details>}
    </section>
  );
}

function CheckView({ c, open }: { c: PullCheck; open?: boolean }) {
  const m = ciMark({ ci: c.state as PullMark["ci"] });
  return (
    <li data-check={c.name}>
      <p><span className={toneOf(m)}>{m.state}</span> <strong>{c.name}</strong> {c.text && <span className="muted">{c.text} </span>}{c.url && <Outside href={c.url}>Open</Outside>}</p>
      {c.log && <details open={open}><summary>End of its log</summary><pre tabIndex={0} aria-label={`Log of ${c.name}`}>{linesOf(c.log).map((l) => l.text).join("\n")}</pre></details>}
    </li>
  );
}

// Reviewers names the people who reviewed it, with what each one decided last.
function Reviewers({ list, now }: { list: Reviewer[]; now: number }) {
  if (list.length === 0) return <p className="muted">Nobody has reviewed it yet.</p>;
  return <ul className="pull-reviewers">{list.map((r) => <li key={r.name}><strong>{r.name}</strong> <ReviewTag c={r} />{!r.counts && <span className="muted"> without write access, so it does not count</span>} {r.at && <span className="muted" title={clock(r.at)}>{ago(r.at, now)} ago</span>}</li>)}</ul>;
}

function ReviewTag({ c }: { c: Pick<PullComment, "review"> }) {
  if (!c.review) return null;
  const m = reviewMark({ review: c.review as PullMark["review"] });
  return <span className={toneOf(m)}>{m.state}</span>;
}

function Comments({ list, now }: { list: PullComment[]; now: number }) {
  const [open, more] = useFirst(list.filter((c) => !c.resolved));
  const resolved = list.filter((c) => c.resolved);
  return (
    <>
      {open.length > 0 && <ol className="pull-comments" aria-label="Comments">{open.map((c) => <CommentView key={c.id} c={c} now={now} />)}</ol>}
      {more && <p>{more}</p>}
      {resolved.length > 0 && <details><summary>{plural(resolved.length, "resolved comment")}</summary><ol className="pull-comments">{resolved.map((c) => <CommentView key={c.id} c={c} now={now} />)}</ol></details>}
    </>
  );
}

function CommentView({ c, now }: { c: PullComment; now: number }) {
  return (
    <li>
      <p className="reacted-head">
        <strong>{c.author}</strong>{c.bot && <span className="tag">bot</span>}<ReviewTag c={c} />
        {c.path && <code>{c.path}{c.line ? `:${c.line}` : ""}</code>}
        <span className="grow" />
        {c.at && <span className="since" title={clock(c.at)}>{ago(c.at, now)} ago</span>}
      </p>
      <Markdown text={c.text ?? ""} />
    </li>
  );
}
