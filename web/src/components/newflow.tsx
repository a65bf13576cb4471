// The form for a new flow.
import { useId, useState, type FormEvent } from "react";
import { changed, useAnswer } from "../api/cache";
import { api, dataOf, problemOf } from "../api/client";
import { queries } from "../api/queries";
import type { NewTask, Problem } from "../api/schema";
import { mostTitle } from "../api/tables";
import { navigate, toFlow } from "../router";
import { Dialog } from "../ui/dialog";
import { Empty, FormProblem, Loading, ProblemBox } from "../ui/parts";
import { say } from "../ui/toast";
import { FlowFields, flowFrom, flowKinds, kinds, type FlowKind } from "./flowfields";
import { ProjectField } from "./projectfield";

// newFlowFrom reads the form.
export function newFlowFrom(form: FormData, kind: FlowKind): NewTask {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const task: NewTask = { flow: flowFrom(form, kind) };
  for (const name of ["title", "body", "budget"] as const) if (text(name)) task[name] = text(name);
  return task;
}

export function NewFlowDialog({ project: given, onClose }: { project?: string; onClose: () => void }) {
  const id = useId();
  const projects = useAnswer(queries.projects());
  const names = (projects.data?.projects ?? []).map((p) => p.prefix);
  const [chosen, setChosen] = useState(given ?? "");
  const project = names.includes(chosen) ? chosen : (names[0] ?? "");
  const [kind, setKind] = useState<FlowKind>("goal");
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const submit = async (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      const made = await dataOf(api.POST("/api/v1/projects/{project}/tasks", { params: { path: { project } }, body: { tasks: [newFlowFrom(new FormData(e.currentTarget), kind)] } }));
      const t = made.tasks?.[0];
      changed();
      onClose();
      if (t) {
        say(`${t.key} was created`);
        navigate(toFlow(t.key));
      }
    } catch (err) {
      setProblem(problemOf(err));
      setBusy(false);
    }
  };
  return (
    <Dialog title="New flow" onClose={onClose} className="wide">
      {!projects.data && (projects.problem ? <ProblemBox problem={projects.problem} again={projects.again} /> : <Loading what="the projects" />)}
      {projects.data && !project && <Empty title="No project yet"><p>Flows belong to a project: a git repository.</p></Empty>}
      {project && (
        <form className="form" onSubmit={(e) => void submit(e)}>
          <div className="form-row">
            <div className="field">
              <label htmlFor={id + "kind"}>Kind</label>
              <select id={id + "kind"} value={kind} onChange={(e) => setKind(e.target.value as FlowKind)}>{flowKinds.map((k) => <option key={k} value={k}>{k}</option>)}</select>
              <small>{kinds[kind].about}</small>
            </div>
            <ProjectField id={id + "project"} names={names} project={project} choose={setChosen} />
          </div>
          <div className="field">
            <label htmlFor={id + "title"}>Title</label>
            <input id={id + "title"} name="title" autoFocus maxLength={mostTitle} />
            <small>What should be reached, or the question, in one line; if empty, the first sentence of the description</small>
          </div>
          <div className="field">
            <label htmlFor={id + "body"}>Description</label>
            <textarea id={id + "body"} name="body" rows={4} />
          </div>
          <FlowFields key={kind} kind={kind} project={project} />
          <div className="form-row">
            <div className="field">
              <label htmlFor={id + "budget"}>Budget</label>
              <input id={id + "budget"} name="budget" placeholder="20 USD" autoComplete="off" />
              <small>For the flow and everything below it</small>
            </div>
            <div className="field">
              <label htmlFor={id + "time"}>Time</label>
              <input id={id + "time"} name="flow time" placeholder="8h" autoComplete="off" />
              <small>How long the whole flow can take; no limit if empty</small>
            </div>
          </div>
          <footer className="form-end">
            {problem && <FormProblem problem={problem} />}
            <button className="button primary" disabled={busy}>{busy ? "Creating" : "Create"}</button>
            <button type="button" className="button" onClick={onClose}>Cancel</button>
          </footer>
        </form>
      )}
    </Dialog>
  );
}
