// The dialog of an action: a text, and for some actions the agent and model.
import type { FormEvent } from "react";
import type { Task } from "../api/schema";
import { Dialog } from "../ui/dialog";
import { run, type TaskAction, type Who } from "./actions";
import { AgentFields } from "./agentfields";

export function ActionDialog({ t, action, onClose }: { t: Task; action: TaskAction; onClose: () => void }) {
  const submit = (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget);
    const text = (name: string) => String(form.get(name) ?? "").trim();
    const who: Who = {};
    if (text("agent")) who.agent = text("agent");
    if (text("model")) who.model = text("model");
    onClose();
    void run(action, t.key, text("text"), who);
  };
  return (
    <Dialog title={`${action.name} ${t.key}`} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p>{action.about}: {t.title}</p>
        {action.prompt && (
          <div className="field">
            <label htmlFor="action-text">{action.prompt}</label>
            <textarea id="action-text" name="text" rows={action.required ? 1 : 4} required={action.required} autoFocus />
          </div>
        )}
        {action.staff && <div className="form-row"><AgentFields project={t.project} agent={t.agent} model={t.model} /></div>}
        <footer className="form-end">
          <button className={"button " + (action.danger ? "danger" : "primary")}>{action.name}</button>
          <button type="button" className="button" onClick={onClose}>Cancel</button>
        </footer>
      </form>
    </Dialog>
  );
}
