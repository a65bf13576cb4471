// The pull request of a task in short: its number, and what CI and its reviewers say.
import type { PullMark, Task } from "../api/schema";
import { plural } from "../lib/format";
import { Link, to } from "../router";
import { Outside } from "../ui/parts";

export interface Mark {
  text: string; // a sign and a word, so that a colour is never the only difference
  state: string; // the same below a heading
  about: string;
  tone: "" | "good" | "bad";
}

// ciMark says what CI reports.
export function ciMark(p: Pick<PullMark, "ci" | "failed">): Mark {
  switch (p.ci) {
    case "passed": return { text: "✓ CI", state: "✓ passed", about: "CI passed", tone: "good" };
    case "failed": return { text: "✗ CI", state: "✗ failed", about: ["CI failed", p.failed?.join(", ")].filter(Boolean).join(": "), tone: "bad" };
    case "pending": return { text: "… CI", state: "… running", about: "CI is running", tone: "" };
  }
  return { text: "– CI", state: "– not run", about: "CI has not run", tone: "" };
}

// reviewMark says what the reviewers decided. A draft waits for no review.
export function reviewMark(p: Pick<PullMark, "review" | "open_comments" | "draft">): Mark {
  const comments = p.open_comments ? `, ${plural(p.open_comments, "open comment")}` : "";
  switch (p.review) {
    case "approved": return { text: "✓ approved", state: "✓ approved", about: "Approved" + comments, tone: "good" };
    case "changes": return { text: "✗ changes", state: "✗ changes requested", about: "A reviewer requested changes" + comments, tone: "bad" };
  }
  const text = p.draft ? "draft" : "– review";
  return { text, state: p.draft ? text : "– no review yet", about: (p.draft ? "A draft" : "No review yet") + comments, tone: "" };
}

export const toneOf = (m: Pick<Mark, "tone">) => "tag" + (m.tone ? " " + m.tone : "");

export const numberOf = (p: { number?: number }) => (p.number ? `#${p.number}` : "pull request");

// PullMarks are the number, which opens the forge, and two badges, which open the
// task's page. The badges of a request that has ended say nothing any more.
export function PullMarks({ t, className }: { t: Task; className: string }) {
  const p = t.pr;
  if (!p) return null;
  return (
    <span className={"pull-marks " + className}>
      <Outside href={p.url} title={`${p.branch} → ${p.base}`}>{numberOf(p)}</Outside>
      {p.state !== "open" ? <span className="muted">{p.state}</span> : [ciMark(p), reviewMark(p)].map((m) => (
        <Link key={m.text} className={toneOf(m)} href={to("/tasks/{key}", { key: t.key, tab: "pull" })} title={m.about} aria-label={`${m.about} (${t.key})`}>{m.text}</Link>
      ))}
    </span>
  );
}
