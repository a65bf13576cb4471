// The form of a template. The server checks a text, and shows what it would write
// before it does.
import { useId, useState, type FormEvent } from "react";
import { useAnswer } from "../api/cache";
import { api, dataOf } from "../api/client";
import { queries } from "../api/queries";
import type { Template, TemplateChange } from "../api/schema";
import { Dialog } from "../ui/dialog";
import { FormProblem, Loading, ProblemBox } from "../ui/parts";
import { say } from "../ui/toast";
import { Preview, useDryRun } from "./dryrun";

const EXAMPLE = `---
title: Update {{package}}
variables:
  package: {about: The package to update, required: true}
---
Update {{package}} to its newest version, and fix what breaks.
`;

export function TemplateDialog({ project, name, onClose }: { project: string; name?: string; onClose: () => void }) {
  const { data, problem, again } = useAnswer({ ...queries.template(project, name ?? ""), enabled: !!name });
  return (
    <Dialog title={name ? `Template ${name} of ${project}` : `New template in ${project}`} onClose={onClose} className="wide">
      {!name || data ? <TemplateForm project={project} t={data} onClose={onClose} /> : problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the template" />}
    </Dialog>
  );
}

function TemplateForm({ project, t, onClose }: { project: string; t?: Template; onClose: () => void }) {
  const id = useId();
  const [revision] = useState(t?.revision);
  const [name, setName] = useState(t?.name ?? "");
  const [text, setText] = useState(t ? (t.text ?? "") : EXAMPLE);
  const { preview, problem, busy, run, reset } = useDryRun(
    (change: TemplateChange, dry) => dataOf(api.PUT("/api/v1/projects/{project}/templates/{name}", { params: { path: { project, name } }, body: { ...change, ...(revision ? { revision } : {}), ...(dry ? { dry_run: true } : {}) } })),
    (change) => {
      say(`The template ${name} was ${change.unset ? "removed" : "saved"}`);
      onClose();
    },
  );
  const edit = (to: string) => {
    setText(to);
    reset();
  };
  const submit = (e: FormEvent) => {
    e.preventDefault();
    void run({ text }, true);
  };
  const removes = preview?.change.unset;
  return (
    <form className="form" onSubmit={submit}>
      {!t && (
        <div className="field">
          <label htmlFor={id + "name"}>Name</label>
          <input id={id + "name"} value={name} required autoFocus autoComplete="off" placeholder="update" onChange={(e) => setName(e.target.value)} />
          <small>Of its file in <code>.coppice/templates</code>, without <code>.md</code></small>
        </div>
      )}
      {t?.problem && <p className="bad-text">It cannot be used: {t.problem}</p>}
      <div className="field">
        <label htmlFor={id}>Text</label>
        <textarea id={id} className="prompt-text" rows={16} value={text} spellCheck={false} required aria-invalid={problem ? true : undefined} onChange={(e) => edit(e.target.value)} />
        <small>Front matter with the fields of the task, then its description</small>
      </div>
      {preview && <Preview diff={preview.diff} what="file" />}
      <footer className="form-end">
        {problem && <FormProblem problem={problem} />}
        {preview?.diff
          ? <button type="button" className={"button " + (removes ? "danger" : "primary")} disabled={busy} onClick={() => void run(preview.change, false)}>{removes ? "Remove the file" : "Save"}</button>
          : <button className="button primary" disabled={busy}>Show the change</button>}
        <button type="button" className="button" onClick={onClose}>Cancel</button>
        {t && !removes && <button type="button" className="button danger" disabled={busy} onClick={() => void run({ unset: true }, true)}>Remove…</button>}
      </footer>
    </form>
  );
}
