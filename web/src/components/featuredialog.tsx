// The form for a feature: a new one, or one of the file. Only changed fields are
// written.
import { useId, useState, type FormEvent, type ReactNode } from "react";
import { changed } from "../api/cache";
import { api, dataOf, problemOf } from "../api/client";
import type { Feature, FeatureChange, FeatureList, Problem } from "../api/schema";
import { mostTitle, priorities } from "../api/tables";
import { priorityHint } from "../lib/board";
import { Dialog } from "../ui/dialog";
import { FormProblem } from "../ui/parts";
import { say } from "../ui/toast";
import { AgentFields } from "./agentfields";

const lines = (text: string) => text.split("\n").map((l) => l.trim()).filter(Boolean);
const words = (text: string) => text.split(/[\s,]+/).filter(Boolean);

// changesOf returns the fields of a form that differ from a feature.
export function changesOf(form: FormData, f: Partial<Feature>): FeatureChange {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const out: FeatureChange = {};
  for (const name of ["name", "description", "category"] as const) if (text(name) !== (f[name] ?? "")) out[name] = text(name);
  for (const name of ["agent", "model"] as const) if (text(name) !== "" && text(name) !== f[name]) out[name] = text(name);
  const same = (a: string[], b: string[] | null | undefined) => a.join("\n") === (b ?? []).join("\n");
  if (!same(lines(text("steps")), f.steps)) out.steps = lines(text("steps"));
  if (!same(words(text("depends_on")), f.depends_on)) out.depends_on = words(text("depends_on"));
  if (Number(text("priority")) !== (f.priority ?? 0)) out.priority = Number(text("priority"));
  if (text("budget") !== String(f.budget ?? "")) out.budget = text("budget");
  return out;
}

function Field({ label, hint, children }: { label: string; hint?: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return <div className="field"><label htmlFor={id}>{label}</label>{children(id)}{hint && <small>{hint}</small>}</div>;
}

export function FeatureDialog({ list, feature, onClose }: { list: FeatureList; feature?: Feature; onClose: () => void }) {
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const [revision] = useState(list.revision); // of the file that the form shows
  const f: Partial<Feature> = feature ?? {};
  const project = list.project;
  const submit = async (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const body = changesOf(new FormData(e.currentTarget), f);
    setBusy(true);
    setProblem(undefined);
    try {
      if (feature) await dataOf(api.PATCH("/api/v1/projects/{project}/features/{id}", { params: { path: { project, id: feature.id }, query: { revision } }, body }));
      else await dataOf(api.POST("/api/v1/projects/{project}/features", { params: { path: { project } }, body }));
      changed();
      say(feature ? `Feature ${feature.id} was changed` : `A feature was added to ${list.file}`);
      onClose();
    } catch (err) {
      setProblem(problemOf(err));
      setBusy(false);
    }
  };
  return (
    <Dialog title={feature ? `Feature ${feature.id}` : "New feature"} onClose={onClose} className="wide">
      <form className="form" onSubmit={(e) => void submit(e)}>
        <Field label="Name" hint="What should be done, in one line">{(id) => <input id={id} name="name" required maxLength={mostTitle} defaultValue={f.name} autoFocus />}</Field>
        <Field label="Description">{(id) => <textarea id={id} name="description" rows={4} defaultValue={f.description} />}</Field>
        <Field label="Steps" hint="What must be true when it is done, one per line; a verifier checks each">{(id) => <textarea id={id} name="steps" rows={3} defaultValue={(f.steps ?? []).join("\n")} />}</Field>
        <div className="form-row">
          <Field label="Category" hint="Selects the track">{(id) => <input id={id} name="category" defaultValue={f.category} autoComplete="off" />}</Field>
          <Field label="Depends on" hint="Ids of features that must have passed first">{(id) => <input id={id} name="depends_on" defaultValue={(f.depends_on ?? []).join(" ")} autoComplete="off" />}</Field>
          <Field label="Priority" hint={priorityHint}>{(id) => <input id={id} name="priority" type="number" min={priorities.least} max={priorities.most} defaultValue={f.priority ?? 0} />}</Field>
        </div>
        <div className="form-row">
          <AgentFields project={project} agent={f.agent} model={f.model} plain />
          <Field label="Budget">{(id) => <input id={id} name="budget" placeholder="5 USD" defaultValue={String(f.budget ?? "")} autoComplete="off" />}</Field>
        </div>
        <footer className="form-end">
          {problem && <FormProblem problem={problem} />}
          <button className="button primary" disabled={busy}>{feature ? "Save" : "Add"}</button>
          <button type="button" className="button" onClick={onClose}>Cancel</button>
        </footer>
      </form>
    </Dialog>
  );
}
