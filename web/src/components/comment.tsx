// Comments of a review, and the form in which one is written.
import { useRef, useState, type FormEvent, type KeyboardEvent } from "react";
import { change, changed } from "../api/cache";
import { api, dataOf, problemOf } from "../api/client";
import type { Problem, ReviewComment } from "../api/schema";
import { clock } from "../lib/format";
import { Markdown } from "../lib/markdown";
import { placeOf, rangeText, type Range, type Side } from "../lib/review";
import { isRestored, keepTyped, useTyped } from "../state/typed";
import { ProblemBox } from "../ui/parts";
import type { Command } from "./commands";

// LineForm is an open form for a new comment.
export interface LineForm extends Range {
  task: string;
  path: string;
}

const lineFormName = (f: LineForm) => JSON.stringify([f.task, "lines", f.path, f.side, f.first, f.last]);
const editFormName = (task: string, id: number) => JSON.stringify([task, "edit", id]);
export const sendFormName = (task: string) => JSON.stringify([task, "send"]);

export function openLineForm(f: LineForm, open: ReadonlyMap<string, string>): void {
  const name = lineFormName(f);
  if (!open.has(name)) keepTyped(name, "");
}

// lineForms returns the open forms of a file.
export function lineForms(open: ReadonlyMap<string, string>, task: string, path: string): LineForm[] {
  return [...open.keys()].flatMap((name) => {
    const [ofTask, kind, ofPath, side, first, last] = JSON.parse(name) as [string, string, string, Side, number, number];
    return ofTask === task && kind === "lines" && ofPath === path ? [{ task, path, side, first, last }] : [];
  });
}

const sideText = (side: string) => (side === "old" ? " before the change" : "");

// TextForm edits a stored text. It closes when the server has accepted the text,
// and then returns the focus to its line or file.
function TextForm({ name, label, button, save }: { name: string; label: string; button: string; save: (text: string) => Promise<unknown> }) {
  const text = useTyped().get(name) ?? "";
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const close = () => {
    const around = form.current?.closest(".ln-box, section");
    keepTyped(name);
    around?.querySelector<HTMLElement>("[data-n], button")?.focus({ preventScroll: true });
  };
  const submit = async (e: FormEvent | KeyboardEvent) => {
    e.preventDefault();
    if (busy || !text.trim()) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await save(text);
      changed();
      close();
    } catch (err) {
      setProblem(problemOf(err));
      setBusy(false);
    }
  };
  const press = (e: KeyboardEvent) => {
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) void submit(e);
    if (e.key === "Escape" && !text) close();
  };
  return (
    <form ref={form} className="comment-form" aria-label={label} onSubmit={(e) => void submit(e)}>
      <label>
        {label}
        <textarea rows={3} value={text} autoFocus={!isRestored(name)} onChange={(e) => keepTyped(name, e.target.value)} onKeyDown={press} />
      </label>
      {problem && <ProblemBox problem={problem} />}
      <span className="comment-end">
        <button className="button small primary" disabled={busy || !text.trim()}>{button}</button>
        <button className="button small" type="button" onClick={close}>Cancel</button>
        <small className="muted">Ctrl Enter saves it. The agent gets it when you send the drafts.</small>
      </span>
    </form>
  );
}

// NewComment is the form for a comment on lines.
export function NewComment({ f }: { f: LineForm }) {
  const { task, ...body } = f;
  return (
    <TextForm name={lineFormName(f)} label={`Comment on ${rangeText(f)}${sideText(f.side)}`} button="Add the comment"
      save={(text) => dataOf(api.POST("/api/v1/tasks/{key}/comments", { params: { path: { key: task } }, body: { ...body, text } }))} />
  );
}

const patchComment = (task: string, c: ReviewComment, body: { text?: string; resolved?: boolean }) =>
  dataOf(api.PATCH("/api/v1/tasks/{key}/comments/{id}", { params: { path: { key: task, id: c.id } }, body }));

// requestNames are what a person can do with a comment. The server says when.
type Request = NonNullable<ReviewComment["can"]>[number];
const requestNames: Record<Request, string> = { edit: "Edit", delete: "Delete", resolve: "Resolve", reopen: "Reopen" };

// commentCommands are these requests. The id of each is the request.
export function commentCommands(task: string, c: ReviewComment): Command[] {
  const run: Record<Request, () => void> = {
    edit: () => keepTyped(editFormName(task, c.id), c.text),
    delete: () => void change("", () => dataOf(api.DELETE("/api/v1/tasks/{key}/comments/{id}", { params: { path: { key: task, id: c.id } } }))),
    resolve: () => void change("", () => patchComment(task, c, { resolved: true })),
    reopen: () => void change("", () => patchComment(task, c, { resolved: false })),
  };
  return (c.can ?? []).map((r) => ({ id: `${r} ${c.id}`, name: `${requestNames[r]} the comment on ${c.path}, ${rangeText(placeOf(c) ?? c)}`, hint: c.text.slice(0, 40), run: run[r] }));
}

export function Comment({ task, c, at }: { task: string; c: ReviewComment; at?: boolean }) {
  const form = editFormName(task, c.id);
  const editing = useTyped().has(form);
  const where = placeOf(c) ?? c;
  return (
    <article className={"comment c-" + c.state} aria-label={`Comment ${c.id}, ${c.state}`} data-comment={c.id}>
      <header>
        <span className={"tag" + (c.state === "resolved" ? " good" : "")}>{c.state}</span>
        {c.outdated && <span className="tag bad">outdated</span>}
        <span className="muted">{c.outdated ? "was about " : ""}{rangeText(where)}{sideText(c.side)} · {clock(c.sent_at ?? c.created_at)}</span>
        <span className="grow" />
        {!editing && commentCommands(task, c).map((r) => <button key={r.id} className={"button small ghost" + (r.id.startsWith("delete") ? " danger" : "")} onClick={r.run}>{r.name.split(" ")[0]}</button>)}
      </header>
      {(c.outdated || at) && <pre className="comment-code" tabIndex={0} aria-label="The code that it is about">{c.code.replace(/\n$/, "")}</pre>}
      {editing ? <TextForm name={form} label={`Edit comment ${c.id}`} button="Save" save={(text) => patchComment(task, c, { text })} /> : <Markdown text={c.text} />}
    </article>
  );
}
