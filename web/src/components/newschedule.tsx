// The forms of schedules: a new one, and the removal of one.
import { useId, useState, type FormEvent } from "react";
import { changed, useProjects } from "../api/cache";
import { api, dataOf, problemOf } from "../api/client";
import type { NewSchedule, NewTask, Problem } from "../api/schema";
import { mostTitle } from "../api/tables";
import { Dialog } from "../ui/dialog";
import { Empty, FormProblem } from "../ui/parts";
import { say } from "../ui/toast";
import { AgentFields, withFrom } from "./agentfields";
import { FlowFields, flowFrom, flowKinds, type FlowKind } from "./flowfields";
import { TemplateFields, templateFrom, useTemplates } from "./templatefields";
import { ProjectField } from "./projectfield";

// scheduleFrom reads the form. The server accepts either an interval or a cron line.
export function scheduleFrom(form: FormData, kind: FlowKind | ""): NewSchedule {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const task: NewTask = kind ? { flow: flowFrom(form, kind) } : { ...withFrom(form) };
  for (const name of ["title", "body", "budget"] as const) if (text(name)) task[name] = text(name);
  Object.assign(task, templateFrom(form));
  return {
    name: text("name"), task,
    ...(text("every") ? { every: text("every") } : {}),
    ...(text("cron") ? { cron: text("cron") } : {}),
    ...(form.get("always") ? { always: true } : {}),
  };
}

export function NewScheduleDialog({ project: given, onClose }: { project?: string; onClose: () => void }) {
  const id = useId();
  const names = useProjects();
  const [chosen, setChosen] = useState(given ?? "");
  const project = names.includes(chosen) ? chosen : (names[0] ?? "");
  const templates = useTemplates(project);
  const [kind, setKind] = useState<FlowKind | "">("");
  const [template, setTemplate] = useState("");
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const submit = async (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      const s = await dataOf(api.POST("/api/v1/projects/{project}/schedules", { params: { path: { project } }, body: scheduleFrom(new FormData(e.currentTarget), kind) }));
      changed();
      say(`The schedule ${s.name} was added`);
      onClose();
    } catch (err) {
      setProblem(problemOf(err));
      setBusy(false);
    }
  };
  if (!project) return <Dialog title="New schedule" onClose={onClose}><Empty title="No project yet"><p>Schedules belong to a project: a git repository.</p></Empty></Dialog>;
  return (
    <Dialog title="New schedule" onClose={onClose} className="wide">
      <form className="form" onSubmit={(e) => void submit(e)}>
        <div className="form-row">
          <div className="field">
            <label htmlFor={id + "name"}>Name</label>
            <input id={id + "name"} name="name" required autoFocus autoComplete="off" placeholder="dependencies" />
            <small>Unique in the project</small>
          </div>
          <ProjectField id={id + "project"} names={names} project={project} choose={setChosen} />
        </div>
        <div className="form-row">
          <div className="field">
            <label htmlFor={id + "every"}>Every</label>
            <input id={id + "every"} name="every" autoComplete="off" placeholder="6h" />
            <small>From the end of a run to the start of the next one</small>
          </div>
          <div className="field">
            <label htmlFor={id + "cron"}>Cron line</label>
            <input id={id + "cron"} name="cron" autoComplete="off" placeholder="0 7 * * 1-5" />
            <small>Instead of an interval, in the server's time zone</small>
          </div>
          <div className="field">
            <label htmlFor={id + "always"}>After a run that failed</label>
            <select id={id + "always"} name="always" defaultValue=""><option value="">pause</option><option value="yes">continue</option></select>
          </div>
        </div>
        <div className="form-row">
          <div className="field">
            <label htmlFor={id + "kind"}>Each run is</label>
            <select id={id + "kind"} value={kind} onChange={(e) => setKind(e.target.value as FlowKind | "")}><option value="">a task</option>{flowKinds.map((k) => <option key={k} value={k}>{`a flow: ${k}`}</option>)}</select>
          </div>
        </div>
        <TemplateFields templates={templates} chosen={template} choose={setTemplate} />
        <div className="field">
          <label htmlFor={id + "title"}>Title</label>
          <input id={id + "title"} name="title" maxLength={mostTitle} />
          <small>Of the tasks that it creates</small>
        </div>
        <div className="field">
          <label htmlFor={id + "body"}>Description</label>
          <textarea id={id + "body"} name="body" rows={3} />
        </div>
        {kind ? <FlowFields key={kind} kind={kind} project={project} /> : <div className="form-row"><AgentFields key={project} project={project} /></div>}
        <div className="field">
          <label htmlFor={id + "budget"}>Budget of each run</label>
          <input id={id + "budget"} name="budget" placeholder="5 USD" autoComplete="off" />
        </div>
        <footer className="form-end">
          {problem && <FormProblem problem={problem} />}
          <button className="button primary" disabled={busy}>Add</button>
          <button type="button" className="button" onClick={onClose}>Cancel</button>
        </footer>
      </form>
    </Dialog>
  );
}

export function RemoveScheduleDialog({ project, name, onClose }: { project: string; name: string; onClose: () => void }) {
  const [problem, setProblem] = useState<Problem>();
  const remove = async () => {
    try {
      await dataOf(api.DELETE("/api/v1/projects/{project}/schedules/{name}", { params: { path: { project, name } } }));
      changed();
      say(`The schedule ${name} was removed`);
      onClose();
    } catch (err) {
      setProblem(problemOf(err));
    }
  };
  return (
    <Dialog title={`Remove the schedule ${name}`} onClose={onClose}>
      <div className="form">
        <p>It starts no further run. Its tasks stay, and a run that has started continues.</p>
        <footer className="form-end">
          {problem && <FormProblem problem={problem} />}
          <button type="button" className="button danger" onClick={() => void remove()}>Remove</button>
          <button type="button" className="button" onClick={onClose}>Cancel</button>
        </footer>
      </div>
    </Dialog>
  );
}
