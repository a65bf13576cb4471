// The prompts of a project, by role and of flows: the project's own file or the built-in text.
// The server checks a text, and shows what it would write before it does.
import { useEffect, useId, useRef, useState, type FormEvent } from "react";
import { changed, useAnswer } from "../api/cache";
import { api, dataOf, problemOf } from "../api/client";
import { queries } from "../api/queries";
import type { Problem, Prompt, PromptChange, PromptField, Prompts as PromptList } from "../api/schema";
import { needLines } from "../lib/diff";
import { insertAt, lineRange, wrongLine } from "../lib/prompts";
import { Link } from "../router";
import { Dialog } from "../ui/dialog";
import { FormProblem, Loading, Mono, ProblemBox } from "../ui/parts";
import { say } from "../ui/toast";
import { DiffLines } from "./difflines";
import { Preview, useDryRun } from "./dryrun";

export function Prompts({ project }: { project: string }) {
  const answer = useAnswer(queries.prompts(project));
  if (!answer.data) return answer.problem ? <ProblemBox problem={answer.problem} again={answer.again} /> : <Loading what="the prompts" />;
  return (
    <div className="config">
      <p className="muted">The first message of a session is written from the text of its role, and the description of a flow's step from a text of flows. A project can have its own text, in a file below <code>.coppice/prompts</code>; commit it with your code.</p>
      {answer.problem && <ProblemBox problem={answer.problem} again={answer.again} />}
      <PromptRows project={project} list={answer.data} />
    </div>
  );
}

export function PromptRows({ project, list }: { project: string; list: PromptList }) {
  return <ul className="keys-list">{(list.prompts ?? []).map((p) => <PromptRow key={p.role} project={project} p={p} list={list} />)}</ul>;
}

function PromptRow({ project, p, list }: { project: string; p: Prompt; list: PromptList }) {
  const [open, setOpen] = useState(false);
  return (
    <li data-role={p.role}>
      <div className="key-head">
        <code>{p.role}</code>
        <span className={"tag" + (p.problem ? " bad" : p.own ? " good" : "")}>{p.own ? p.path : "built-in"}</span>
        <span className="grow" />
        <button className="button small" aria-expanded={open} aria-label={`${open ? "Cancel" : "Edit"} the prompt of ${p.role}`} onClick={() => setOpen(!open)}>{open ? "Cancel" : "Edit"}</button>
      </div>
      <p className="muted">Its sessions {p.about}.</p>
      {p.problem && <p className="warn-text">The file cannot be used, so the built-in prompt is: <Mono text={p.problem} /></p>}
      {p.waits && <p className="warn-text">This text is not in effect yet: it waits for your confirmation in the <Link href="/inbox">inbox</Link>.</p>}
      {open && <PromptForm project={project} p={p} list={list} onDone={() => setOpen(false)} />}
    </li>
  );
}

type Change = Pick<PromptChange, "text" | "unset" | "dry_run">;

// useChange sends changes of a prompt as it was when the form was opened.
function useChange(project: string, { role, revision }: Prompt) {
  const [at] = useState(revision);
  return (body: Change) => dataOf(api.PATCH("/api/v1/projects/{project}/prompts/{role}", { params: { path: { project, role } }, body: { ...body, revision: at } }));
}

interface FormProps {
  project: string;
  p: Prompt;
  list: PromptList;
  onDone: () => void;
}

export function PromptForm({ project, p, list, onDone }: FormProps) {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const send = useChange(project, p);
  const [text, setText] = useState(p.text);
  const [removing, setRemoving] = useState(false);
  const { preview, problem, busy, run, reset } = useDryRun((text: string, dry) => send({ text, dry_run: dry }), () => {
    say(`The prompt of ${p.role} is changed`);
    onDone();
  });
  const line = wrongLine(problem);
  const edit = (to: string) => {
    setText(to);
    reset();
  };
  const submit = (e: FormEvent) => {
    e.preventDefault();
    void run(text, true);
  };
  const insert = (field: string) => {
    const at = area.current;
    if (!at) return;
    const next = insertAt(text, at.selectionStart, at.selectionEnd, `{{.${field}}}`);
    edit(next.text);
    requestAnimationFrame(() => {
      at.focus();
      at.setSelectionRange(next.cursor, next.cursor);
    });
  };
  const show = (n: number) => {
    const [from, to] = lineRange(text, n);
    area.current?.focus();
    area.current?.setSelectionRange(from, to);
  };
  return (
    <>
      <form className="form" aria-label={`The prompt of ${p.role}`} onSubmit={submit} noValidate>
        <label htmlFor={id} className="sr-only">The text of {p.role}</label>
        <textarea id={id} ref={area} className="prompt-text" value={text} rows={Math.min(26, text.split("\n").length + 2)} spellCheck={false}
          aria-invalid={problem ? true : undefined} aria-describedby={problem ? id + "problem" : undefined} onChange={(e) => edit(e.target.value)} />
        {problem && (
          <div id={id + "problem"}>
            <FormProblem problem={{ ...problem, field: undefined }} />
            {line && <button type="button" className="button small" onClick={() => show(line)}>Go to line {line}</button>}
          </div>
        )}
        <Variables fields={p.fields?.map((name) => ({ name, doc: "" })) ?? list.fields ?? []} functions={list.functions ?? []} insert={insert} />
        {preview && <Preview diff={preview.diff} what="text" />}
        <footer className="form-end">
          {preview?.diff ? <button type="button" className="button primary" disabled={busy} onClick={() => void run(text, false)}>Save</button> : <button className="button primary" disabled={busy}>Show the change</button>}
          <button type="button" className="button" onClick={onDone}>Cancel</button>
          {p.own && <button type="button" className="button danger" disabled={busy} onClick={() => setRemoving(true)}>Use the built-in prompt…</button>}
        </footer>
      </form>
      {removing && <Removal project={project} p={p} onClose={() => setRemoving(false)} onDone={onDone} />}
    </>
  );
}

// Variables lists what the text can use. A click inserts a field at the cursor.
function Variables({ fields, functions, insert }: { fields: PromptField[]; functions: string[]; insert: (field: string) => void }) {
  return (
    <details>
      <summary>Fields and functions</summary>
      <ul className="prompt-fields">
        {fields.map((f) => (
          <li key={f.name}>
            <button type="button" className="button small" aria-label={`Insert ${f.name}`} onClick={() => insert(f.name)}><code>{`{{.${f.name}}}`}</code></button>
            {f.doc && <span className="muted"><Mono text={f.doc} /></span>}
          </li>
        ))}
      </ul>
      <p className="muted">The text is a Go template with <code>if</code>, <code>with</code>, <code>range</code> over lists, and the functions {functions.join(", ")}.</p>
    </details>
  );
}

// Removal asks before the project's own file is removed.
function Removal({ project, p, onClose, onDone }: { project: string; p: Prompt; onClose: () => void; onDone: () => void }) {
  const send = useChange(project, p);
  const [diff, setDiff] = useState<string>();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const dry = useRef(send);
  useEffect(() => {
    dry.current({ unset: true, dry_run: true }).then((a) => setDiff(a.diff ?? ""), (err: unknown) => setProblem(problemOf(err)));
  }, []);
  const remove = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await send({ unset: true });
      changed();
      say(`Sessions use the built-in prompt of ${p.role}`);
      onClose();
      onDone();
    } catch (err) {
      setProblem(problemOf(err));
      setBusy(false);
    }
  };
  return (
    <Dialog title={`Use the built-in prompt of ${p.role}`} onClose={onClose}>
      <div className="form">
        <p>Coppice removes <code>{p.path}</code> from your checkout. If it is not committed, its text is lost.</p>
        {diff && <section aria-label="The change"><DiffLines lines={needLines(diff)} /></section>}
        <footer className="form-end">
          {problem && <FormProblem problem={problem} />}
          <button type="button" className="button danger" disabled={busy || diff === undefined} onClick={() => void remove()}>Remove the file</button>
          <button type="button" className="button" onClick={onClose}>Cancel</button>
        </footer>
      </div>
    </Dialog>
  );
}
