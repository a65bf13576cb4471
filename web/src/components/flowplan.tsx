// The plan of a flow. While it waits for an approval, a person comments on its lines, and
// sends the comments to its author as one message.
import { useCallback, useMemo, useState } from "react";
import { change, useAnswer } from "../api/cache";
import { api, dataOf } from "../api/client";
import { queries } from "../api/queries";
import type { DiffLine, FlowDetail } from "../api/schema";
import { plural } from "../lib/format";
import { Markdown } from "../lib/markdown";
import { isOpen, placed, placeOf, visible, type Part, type Range } from "../lib/review";
import { useTyped } from "../state/typed";
import { Loading, ProblemBox } from "../ui/parts";
import { Comment, lineForms, NewComment, openLineForm } from "./comment";
import { editDocument, type Command } from "./commands";
import { ReviewLines } from "./reviewlines";
import "../styles/review.css";

// planCommands are what a person can do with a plan that waits for an approval.
export function planCommands(f: Pick<FlowDetail, "approves" | "drafts"> & { task: { key: string } }): Command[] {
  const { key } = f.task;
  if (!f.approves) return [];
  const send = () => change("The lead gets your comments, and writes the plan again", () => dataOf(api.POST("/api/v1/tasks/{key}/comments/send", { params: { path: { key } }, body: {} })));
  const approve = () => change(`${key} runs`, () => dataOf(api.POST("/api/v1/tasks/{key}/resume", { params: { path: { key } }, body: {} })));
  return [
    ...(f.drafts ? [{ id: `send comments ${key}`, name: `Send ${plural(f.drafts, "comment")}`, hint: "plan", run: () => void send() }] : []),
    { id: `approve ${key}`, name: "Approve and run", hint: "plan", run: () => void approve() },
  ];
}

const views = ["lines", "text"] as const;

export function FlowPlan({ f, name }: { f: FlowDetail; name: string }) {
  const [view, setView] = useState<(typeof views)[number]>("lines");
  const { data, problem, again } = useAnswer(queries.document(f.task.key, name));
  const waits = f.approves === name;
  const drafts = f.drafts ?? 0;
  return (
    <section className="flow-part" aria-label="Plan">
      <div className="page-head">
        <h2>Plan</h2>
        {waits && <span className="warn-text">waits for your approval</span>}
        <span className="grow" />
        {waits && <div className="segments" role="group" aria-label="Show the plan as">{views.map((v) => <button key={v} aria-pressed={v === view} onClick={() => setView(v)}>{v}</button>)}</div>}
        <button className="button small" onClick={editDocument(f.task.key, name).run}>Edit the plan…</button>
        {waits && planCommands(f).map((c, i) => <button key={c.id} className={"button small" + (i === 0 ? " primary" : "")} onClick={c.run}>{c.name}</button>)}
      </div>
      {waits && <p className="muted">{drafts > 0 ? `The lead has not received ${drafts === 1 ? "your comment" : "your comments"}. It writes the plan again when you send ${drafts === 1 ? "it" : "them"}.` : "Choose a line number to comment on the line. Its lead gets all comments as one message."}</p>}
      {!data && (problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the plan" />)}
      {data && (waits && view === "lines" ? <PlanLines f={f} name={name} text={data.text ?? ""} /> : data.text ? <Markdown text={data.text} /> : <p className="muted">The document is empty.</p>)}
    </section>
  );
}

// PlanLines shows the lines with the comments on them. The lines of the document are
// the side "new" of the review's component.
function PlanLines({ f, name, text }: { f: FlowDetail; name: string; text: string }) {
  const task = f.task.key;
  const open = useTyped();
  const parts = useMemo((): Part[] => [{ lines: text.replace(/\n$/, "").split("\n").map((line, i): DiffLine => ({ kind: "same", new: i + 1, text: line })) }], [text]);
  const lines = useMemo(() => visible(parts), [parts]);
  const forms = lineForms(open, task, name);
  const asNew = (r?: Range): Range | undefined => r && { ...r, side: "new" };
  const byLine = placed((f.comments ?? []).filter((c) => c.path === name && isOpen(c)), (c) => asNew(placeOf(c)), lines);
  const formsByLine = placed(forms, (x) => asNew(x), lines);
  // Comments that were sent and whose lines the lead has changed are folded.
  const past = (byLine.get("") ?? []).filter((c) => c.state === "sent");
  const under = (line: string) => {
    const [found, typed] = [line ? byLine.get(line) : byLine.get("")?.filter((c) => !past.includes(c)), formsByLine.get(line)];
    if (!found?.length && !typed) return null;
    return (
      <div className={"thread" + (line ? "" : " loose")}>
        {found?.map((c) => <Comment key={c.id} task={task} c={c} at={!line} />)}
        {typed?.map((x) => <NewComment key={`${x.first} ${x.last}`} f={x} />)}
      </div>
    );
  };
  const onSelect = useCallback((at: Range) => openLineForm({ task, path: name, ...at, side: "document" }, open), [task, name, open]);
  return (
    <div className="plan-lines">
      {past.length > 0 && <details className="past-comments"><summary>{plural(past.length, "comment")} on lines that have changed</summary><div className="thread loose">{past.map((c) => <Comment key={c.id} task={task} c={c} at />)}</div></details>}
      {under("")}
      <ReviewLines parts={parts} forms={forms.map((x) => asNew(x)!)} under={under} onSelect={onSelect} wrap />
    </div>
  );
}
