// The dialog of an action: a text, and for some actions the agent and model.
import type { FormEvent } from "react";
import { useTasks } from "../api/live";
import { get } from "../api/client";
import { useQuery } from "../api/query";
import type { ProjectList, TaskDetail } from "../api/schema";
import { Dialog } from "../ui/dialog";
import type { TaskAction, Who } from "./actions";

export function ActionDialog({ t, action, onClose }: { t: TaskDetail; action: TaskAction; onClose: () => void }) {
  const submit = (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget);
    const text = (name: string) => String(form.get(name) ?? "").trim();
    const who: Who = {};
    if (text("agent")) who.agent = text("agent");
    if (text("model")) who.model = text("model");
    onClose();
    void action.run(t.key, text("text"), who);
  };
  return (
    <Dialog title={`${action.name} ${t.key}`} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p>{action.about}: {t.title}</p>
        {action.needsText && (
          <div className="field">
            <label htmlFor="action-text">{action.needsText}</label>
            <textarea id="action-text" name="text" rows={action.needed ? 1 : 4} required={action.needed} autoFocus />
          </div>
        )}
        {action.who && <WhoFields t={t} />}
        <footer className="form-end">
          <button className={"button " + (action.danger ? "danger" : "primary")}>{action.name}</button>
          <button type="button" className="button" onClick={onClose}>Cancel</button>
        </footer>
      </form>
    </Dialog>
  );
}

function WhoFields({ t }: { t: TaskDetail }) {
  const projects = useQuery("projects", () => get<ProjectList>("/projects"));
  const tasks = useTasks();
  const policy = projects.data?.projects?.find((p) => p.prefix === t.project)?.policy;
  const known = [policy?.agent.use, ...(policy?.agent.fallback ?? []), ...Object.keys(policy?.agents ?? {}), ...tasks.map((x) => x.agent)];
  const agents = [...new Set(known.filter((a): a is string => !!a))];
  return (
    <div className="form-row">
      <div className="field">
        <label htmlFor="action-agent">Agent</label>
        <input id="action-agent" name="agent" list="action-agents" autoComplete="off" placeholder={t.agent} />
        <datalist id="action-agents">{agents.map((a) => <option key={a} value={a} />)}</datalist>
        <small>{t.agent} when empty</small>
      </div>
      <div className="field">
        <label htmlFor="action-model">Model</label>
        <input id="action-model" name="model" autoComplete="off" placeholder={t.model} />
        <small>unchanged if empty</small>
      </div>
    </div>
  );
}
