// The dialog of an action: a text, images, and for some actions the agent and
// model.
import { useState, type FormEvent } from "react";
import { useAnswer } from "../api/cache";
import { problemOf } from "../api/client";
import { queries } from "../api/queries";
import type { Problem, Task } from "../api/schema";
import { Dialog } from "../ui/dialog";
import { FormProblem } from "../ui/parts";
import { request, type TaskAction } from "./actions";
import { AgentFields, Models, useAgent, withFrom } from "./agentfields";
import { Attachments, useImages } from "./images";

// ActionDialog starts with a text if the button that opened it has one.
export function ActionDialog({ t, action, text, onClose }: { t: Task; action: TaskAction; text?: string; onClose: () => void }) {
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const [agent, setAgent] = useState("");
  const images = useImages();
  const submit = async (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget);
    setBusy(true);
    setProblem(undefined);
    try {
      await request(action, t.key, String(form.get("text") ?? "").trim(), { ...withFrom(form), ...images.ids });
      onClose();
    } catch (err) {
      setProblem(problemOf(err));
      setBusy(false);
    }
  };
  return (
    <Dialog title={`${action.name} ${t.key}`} onClose={onClose}>
      <form className="form" onSubmit={(e) => void submit(e)} {...(action.images ? images.take : {})}>
        <p>{action.about}: {t.title}</p>
        {action.prompt && (
          <div className="field">
            <label htmlFor="action-text">{action.prompt}</label>
            {action.text === "model"
              ? <ModelField t={t} />
              : action.text === "from"
                ? <StepField t={t} text={text} />
                : <textarea id="action-text" name="text" rows={action.required ? 1 : 4} required={action.required} autoFocus />}
          </div>
        )}
        {action.images && <Attachments images={images} project={t.project} agent={agent || t.agent} />}
        {action.staff && <div className="form-row"><AgentFields project={t.project} agent={t.agent} model={t.model} effort={t.effort} onAgent={setAgent} /></div>}
        <footer className="form-end">
          {problem && <FormProblem problem={problem} />}
          <button className={"button " + (action.danger ? "danger" : "primary")} disabled={busy || images.busy}>{action.name}</button>
          <button type="button" className="button" onClick={onClose}>Cancel</button>
        </footer>
      </form>
    </Dialog>
  );
}

// StepField names a step of a flow, or the beginning of its key.
function StepField({ t, text }: { t: Task; text?: string }) {
  const steps = useAnswer({ ...queries.flow(t.key), enabled: t.flow !== undefined }).data?.steps ?? [];
  return (
    <>
      <input id="action-text" name="text" autoFocus autoComplete="off" list="action-steps" defaultValue={text} placeholder="the step that failed" />
      <datalist id="action-steps">{steps.filter((s) => s.can_resume).map((s) => <option key={s.task} value={s.key}>{s.title}</option>)}</datalist>
      <small>The named step and all steps after it run again. Their results no longer count.</small>
    </>
  );
}

function ModelField({ t }: { t: Task }) {
  const of = useAgent(t.project, t.agent);
  return (
    <>
      <input id="action-text" name="text" required autoFocus autoComplete="off" list="action-models" placeholder={t.model || "the agent's own"} />
      <Models id="action-models" models={of?.choices ?? []} />
    </>
  );
}
