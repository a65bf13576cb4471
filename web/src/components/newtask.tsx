// The form for a new task, with every field of the API.
import { useId, useState, type FormEvent, type ReactNode } from "react";
import { changed, useAnswer } from "../api/cache";
import { api, dataOf, problemOf } from "../api/client";
import { queries } from "../api/queries";
import type { FirstSession, NewTask, Problem } from "../api/schema";
import { completions, mostTitle, mostTurns, priorities, retries } from "../api/tables";
import { priorityHint } from "../lib/board";
import { navigate, toTask } from "../router";
import { Dialog } from "../ui/dialog";
import { Empty, FormProblem, Loading, ProblemBox } from "../ui/parts";
import { say } from "../ui/toast";
import { AddProject } from "./addproject";
import { AgentFields, withFrom } from "./agentfields";
import { Attachments, useImages } from "./images";
import { MarkFields, words } from "./marks";
import { TemplateFields, templateFrom, useTemplates } from "./templatefields";

function Field({ label, hint, children }: { label: string; hint?: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {hint && <small>{hint}</small>}
    </div>
  );
}

const lines = (text: FormDataEntryValue | null) => String(text ?? "").split("\n").map((l) => l.trim()).filter(Boolean);

// valuesFrom reads context values, one name=value per line. A line without a = has an
// empty value, which the server keeps.
export function valuesFrom(text: FormDataEntryValue | null): Record<string, string> {
  return Object.fromEntries(lines(text).map((l) => {
    const [name = "", ...rest] = l.split("=");
    return [name.trim(), rest.join("=").trim()];
  }));
}

// taskFrom reads the form. Empty fields get the project's defaults, and an empty title
// the first sentence of the description.
export function taskFrom(form: FormData): NewTask {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const task: NewTask = { ...withFrom(form), ...templateFrom(form) };
  if (text("title")) task.title = text("title");
  if (text("body")) task.body = text("body");
  if (Number(text("priority"))) task.priority = Number(text("priority"));
  if (text("track")) task.track = text("track");
  if (lines(form.get("checks")).length) task.checks = lines(form.get("checks"));
  if (lines(form.get("steps")).length) task.steps = lines(form.get("steps"));
  if (text("retry")) task.retry = text("retry") as NonNullable<typeof task.retry>;
  if (text("completion")) task.completion = text("completion").split(" ") as NonNullable<typeof task.completion>;
  if (text("category")) task.category = text("category");
  if (text("feature")) task.feature = text("feature");
  if (text("budget")) task.budget = text("budget");
  if (Number(text("turns"))) task.turns = Number(text("turns"));
  if (text("time")) task.time = text("time");
  if (form.get("until_done")) task.until_done = true;
  const after = text("after").split(/[\s,]+/).filter(Boolean);
  if (after.length) task.after = after;
  if (words(text("labels")).length) task.labels = words(text("labels"));
  if (text("group")) task.group = text("group");
  const context = valuesFrom(form.get("context"));
  if (Object.keys(context).length) task.context = context;
  if (text("branch")) task.branch = text("branch");
  if (form.get("result") === "answer") task.answer = true;
  if (form.get("interactive")) task.interactive = true;
  if (form.get("result") === "checkout") task.workspace = "none";
  if (text("schema")) task.schema = JSON.parse(text("schema"));
  if (text("not_before")) task.not_before = new Date(text("not_before")).toISOString();
  return task;
}

type Result = FirstSession["result"];

// results says what each kind of result means.
const results: Record<Result, { name: string; about?: string }> = {
  change: { name: "a change that lands" },
  answer: { name: "an answer", about: "Its agent reads the code and cannot change anything; nothing lands" },
  checkout: { name: "work in my own checkout", about: "Its agent works in your own checkout, one such task at a time; nothing lands, and Coppice commits, moves and removes nothing there" },
};

export function NewTaskDialog({ onClose }: { onClose: () => void }) {
  const projects = useAnswer(queries.projects());
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const [chosen, setChosen] = useState("");
  const [result, setResult] = useState<Result>("change");
  const [agent, setAgent] = useState("");
  const [template, setTemplate] = useState("");
  const images = useImages();
  const list = projects.data?.projects ?? [];
  const project = list.find((p) => p.prefix === chosen) ?? list.find((p) => p.prefix === new URLSearchParams(location.search).get("project")) ?? list[0];
  const templates = useTemplates(project?.prefix ?? "");
  const usual = project?.defaults;
  const first = usual?.first?.find((s) => s.result === result);
  const has = (field: string) => !first?.without?.includes(field);

  const submit = async (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    if (!project || busy) return;
    const another = (e.nativeEvent as SubmitEvent).submitter?.dataset.another === "yes";
    const form = e.currentTarget;
    setBusy(true);
    setProblem(undefined);
    try {
      const made = await dataOf(api.POST("/api/v1/projects/{project}/tasks", { params: { path: { project: project.prefix } }, body: { tasks: [{ ...taskFrom(new FormData(form)), ...images.ids }] } }));
      const t = made.tasks?.[0];
      changed();
      say(`${t?.key} was created`);
      if (another) {
        form.reset();
        setResult("change");
        images.clear();
      } else {
        onClose();
        if (t) navigate(toTask(t.key));
      }
    } catch (err) {
      setProblem(err instanceof SyntaxError ? { status: 422, code: "invalid", title: "Invalid", detail: `The schema is not JSON: ${err.message}`, fix: "Write a JSON schema, or leave it empty.", field: "schema" } : problemOf(err));
    } finally {
      setBusy(false);
    }
  };

  return (
    <Dialog title="New task" onClose={onClose} className="wide">
      {!projects.data && projects.loading && <Loading what="the projects" />}
      {projects.problem && <ProblemBox problem={projects.problem} again={projects.again} />}
      {projects.data && !project && <Empty title="No project yet"><p>Tasks belong to a project: a git repository.</p><AddProject /></Empty>}
      {project && (
        <form onSubmit={(e) => void submit(e)} className="form" {...images.take}>
          <TemplateFields templates={templates} chosen={template} choose={setTemplate} />
          <Field label="Title" hint="What should be done, in one line; if empty, the first sentence of the description">{(id) => <input id={id} name="title" autoFocus maxLength={mostTitle} />}</Field>
          <Field label="Description" hint="Everything the agent should know">{(id) => <textarea id={id} name="body" rows={4} />}</Field>
          <Attachments images={images} project={project.prefix} agent={agent || first?.agent} />
          <div className="form-row">
            <Field label="Project">{(id) => (
              <select id={id} value={project.prefix} onChange={(e) => setChosen(e.target.value)}>{list.map((p) => <option key={p.prefix} value={p.prefix}>{p.prefix}</option>)}</select>
            )}</Field>
            <Field label="Track">{(id) => (
              <select id={id} name="track" key={project.prefix} defaultValue="">
                <option value="">the default</option>
                {(project.policy.tracks ?? []).map((t) => <option key={t.name} value={t.name}>{t.name}</option>)}
              </select>
            )}</Field>
            <Field label="Priority" hint={priorityHint}>{(id) => <input id={id} name="priority" type="number" min={priorities.least} max={priorities.most} defaultValue={0} />}</Field>
          </div>
          <div className="form-row">
            <AgentFields key={project.prefix} project={project.prefix} agent={first?.agent} model={first?.model} effort={first?.effort} onAgent={setAgent} />
            {has("not_before") && <Field label="Not before">{(id) => <input id={id} name="not_before" type="datetime-local" />}</Field>}
          </div>
          <Field label="Result" hint={results[result].about}>{(id) => (
            <select id={id} name="result" value={result} onChange={(e) => setResult(e.target.value as Result)}>{Object.entries(results).map(([r, { name }]) => <option key={r} value={r}>{name}</option>)}</select>
          )}</Field>
          {result === "answer" && <Field label="Schema" hint="The JSON schema that the answer must match; text if empty">{(id) => <textarea id={id} name="schema" rows={3} spellCheck={false} />}</Field>}
          <div className="form-row">
            {has("after") && <Field label="Depends on" hint="Keys of tasks that must be done first">{(id) => <input id={id} name="after" placeholder={`${project.prefix}-1 ${project.prefix}-2`} autoComplete="off" />}</Field>}
            {has("checks") && <Field label="Checks" hint="Shell commands, one per line, in addition to the project's">{(id) => <textarea id={id} name="checks" rows={2} />}</Field>}
          </div>
          {has("steps") && <Field label="Steps" hint="What must be true when it is done, one per line; a verifier checks each">{(id) => <textarea id={id} name="steps" rows={2} />}</Field>}
          <Field label="Context" hint="Small values for the agent, one name=value per line">{(id) => <textarea id={id} name="context" rows={2} placeholder="ticket=APP-7" spellCheck={false} />}</Field>
          <MarkFields key={"marks " + project.prefix} project={project.prefix} />
          <div className="form-row">
            <Field label="Budget" hint={`${String(usual?.budget ?? "no limit")} if empty`}>{(id) => <input id={id} name="budget" placeholder="5 USD" autoComplete="off" />}</Field>
            <Field label="If a session fails">{(id) => (
              <select id={id} name="retry" defaultValue="">
                <option value="">{`the project's (${usual?.retry})`}</option>
                {retries.map((r) => <option key={r.policy} value={r.policy}>{r.words}</option>)}
              </select>
            )}</Field>
            <Field label="A session is complete if">{(id) => (
              <select id={id} name="completion" defaultValue="">
                <option value="">the default</option>
                {completions.map((c) => <option key={c.words} value={c.checks.join(" ")}>{c.words}</option>)}
              </select>
            )}</Field>
            <Field label="Category" hint="Selects the track if none is chosen">{(id) => <input id={id} name="category" autoComplete="off" />}</Field>
            {has("interactive") && <Field label="Work with the agent" hint="On its own screen, in the tab Terminal; without a screen, the task waits for you after each turn">{(id) => (
              <select id={id} name="interactive">
                <option value="">no: it works alone</option>
                <option value="yes">yes, from the start</option>
              </select>
            )}</Field>}
            {has("branch") && <Field label="Branch" hint={`${usual?.branch} if empty`}>{(id) => <input id={id} name="branch" placeholder="feature/login" autoComplete="off" />}</Field>}
            {has("feature") && <Field label="Feature" hint="Its id in the features file">{(id) => <input id={id} name="feature" autoComplete="off" />}</Field>}
          </div>
          <div className="form-row">
            <Field label="Turns" hint="The most of each session; the limit of its role if empty">{(id) => <input id={id} name="turns" type="number" min={1} max={mostTurns} placeholder={first && String(first.limits.turns)} autoComplete="off" />}</Field>
            <Field label="Time" hint="How long each session can work, such as 30m">{(id) => <input id={id} name="time" placeholder={first?.limits.time} autoComplete="off" />}</Field>
            <Field label="Limits of its role">{(id) => (
              <select id={id} name="until_done">
                <option value="">apply</option>
                <option value="yes">do not apply: until it is done</option>
              </select>
            )}</Field>
          </div>
          <footer className="form-end">
            {problem && <FormProblem problem={problem} />}
            <button className="button primary" type="submit" disabled={busy || images.busy}>{busy ? "Creating" : "Create"}</button>
            <button className="button" type="submit" data-another="yes" disabled={busy || images.busy}>Create and add another</button>
          </footer>
        </form>
      )}
    </Dialog>
  );
}
