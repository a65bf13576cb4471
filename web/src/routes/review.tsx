// The review of a task: what changed, file by file, with comments for its agent,
// and the decision to land it.
import { useMemo, useState } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import type { Review, ReviewComment, ReviewFile as File, TaskDetail } from "../api/schema";
import { ActionBar } from "../components/actionbar";
import { Comment, commentCommands } from "../components/comment";
import type { Command } from "../components/commands";
import { usePageCommands } from "../components/keys";
import { NoTask } from "../components/notask";
import { ReviewAbout } from "../components/reviewabout";
import { markViewed, ReviewFile } from "../components/reviewfile";
import { ReviewFiles } from "../components/reviewfiles";
import { DraftBar } from "../components/sendreview";
import { offersActions, Why } from "../components/why";
import { ago, useNow } from "../lib/format";
import { isOpen } from "../lib/review";
import { Link, to, toTask } from "../router";
import { openDialog } from "../state/dialog";
import { setPrefs, usePrefs } from "../state/prefs";
import { Empty, Loading, ProblemBox, StatusBadge } from "../ui/parts";
import "../styles/review.css";

export default function ReviewPage({ taskKey }: { taskKey: string }) {
  const task = useAnswer(queries.task(taskKey));
  const review = useAnswer(queries.review(taskKey));
  if (!task.data) return <NoTask taskKey={taskKey} task={task} />;
  if (!review.data) return review.problem ? <ProblemBox problem={review.problem} again={review.again} /> : <Loading what="the review" />;
  return <ReviewView t={task.data} r={review.data} />;
}

function ReviewView({ t, r }: { t: TaskDetail; r: Review }) {
  const send = () => openDialog({ form: "review", task: r.task });
  const now = useNow(5000);
  const actions = (
    <ActionBar t={t} head={r.head} names={{ take: "Take over", ...(t.review === "wanted" ? { land: "Approve and land" } : {}) }}>
      {t.review && <button className="button" onClick={send} title="Send the drafts, and a text, to its agent">Ask for changes</button>}
    </ActionBar>
  );
  return (
    <div className="page review-page">
      <div className="task-head">
        <p className="crumbs"><Link href={to("/", { project: t.project })}>{t.project}</Link> / <Link href={toTask(t.key)}>{t.key}</Link> / Review</p>
        <div className="page-head">
          <h1>{t.title}</h1>
          <span className="grow" />
          {!offersActions(t) && actions}
        </div>
        <p className="task-state">
          <StatusBadge status={t.status} text={t.status_text} />
          <span className="muted">{t.ended_at ? `${ago(t.ended_at, now)} ago` : `for ${ago(t.since, now)}`}</span>
          {r.approved_by && <span className="add-text">✓ approved by {r.approved_by}</span>}
          {t.landed && <span>landed as <code>{t.landed.slice(0, 10)}</code></span>}
        </p>
        <Why t={t} actions={actions} />
      </div>
      {(r.files ?? []).length > 0 ? <Files t={t} r={r} /> : (
        <Empty title="No change to review yet"><p>The commits of its agent appear here. <Link href={toTask(t.key)}>Go to the task</Link>.</p></Empty>
      )}
      <DraftBar r={r} onSend={send} />
    </div>
  );
}

// pathHere returns the file with the focus, or else the first one in the window.
function pathHere(): string | undefined {
  const focused = document.activeElement?.closest<HTMLElement>("[data-path]");
  const files = [...document.querySelectorAll<HTMLElement>("[data-path]")];
  return (focused ?? files.find((f) => f.getBoundingClientRect().bottom > 120))?.dataset.path;
}

// commentHere comments on the line with the focus, or moves the focus to the
// first line of the file.
function commentHere(): void {
  const line = document.activeElement?.closest<HTMLElement>("[data-n]");
  if (line) line.click();
  else document.querySelector<HTMLElement>(`[data-path="${CSS.escape(pathHere() ?? "")}"] [data-n][tabindex="0"]`)?.focus();
}

function reviewKeys(task: string, files: File[]): Command[] {
  const view = () => {
    const f = files.find((x) => x.path === pathHere());
    if (f) void markViewed(task, f);
  };
  return [
    { id: "viewed", name: "Mark the file as viewed, or not", hint: "v", key: "v", run: view },
    { id: "comment", name: "Comment on the line", hint: "c", key: "c", run: commentHere },
  ];
}

// Loose shows comments on files that are not part of the change any more.
function Loose({ task, comments }: { task: string; comments: ReviewComment[] }) {
  if (comments.length === 0) return null;
  return (
    <section className="file review-file" aria-label="Files that the change no longer touches">
      <header><strong>Comments on files that the change no longer touches</strong></header>
      <div className="thread loose">{comments.map((c) => <div key={c.id}><code>{c.path}</code><Comment task={task} c={c} /></div>)}</div>
    </section>
  );
}

const none: ReviewComment[] = [];
const noFiles: File[] = [];

function Files({ t, r }: { t: TaskDetail; r: Review }) {
  const [filter, setFilter] = useState("");
  const { wrap } = usePrefs();
  const files = r.files ?? noFiles;
  const comments = r.comments ?? none;
  const shown = files.filter((f) => f.path.toLowerCase().includes(filter.trim().toLowerCase()));
  const byFile = useMemo(() => new Map(files.map((f) => [f.path, comments.filter((c) => c.file === f.path)])), [files, comments]);
  const commits = useMemo(() => ({ task: r.task, base: r.base, head: r.head }), [r.task, r.base, r.head]);
  usePageCommands(useMemo(() => [...reviewKeys(r.task, files), ...comments.flatMap((c) => commentCommands(r.task, c))], [r.task, files, comments]));
  return (
    <>
      <ReviewAbout t={t} r={r} />
      <div className="review-body">
        <ReviewFiles files={shown} all={files.length} viewed={r.viewed} open={(f) => (byFile.get(f.path) ?? none).filter(isOpen).length} filter={filter} setFilter={setFilter}>
          <label className="check"><input type="checkbox" checked={wrap} onChange={(e) => setPrefs({ wrap: e.target.checked })} /> Wrap long lines</label>
        </ReviewFiles>
        <div className="review-files">
          <Loose task={r.task} comments={comments.filter((c) => !c.file)} />
          {shown.map((f) => <ReviewFile key={f.path} r={commits} f={f} comments={byFile.get(f.path) ?? none} />)}
        </div>
      </div>
    </>
  );
}
