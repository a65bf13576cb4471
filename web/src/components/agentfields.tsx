// The choice of an agent and a model: the installed agents, and the models that
// their profiles name. A model that is not listed can be typed.
import { useId, useState } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";

export function AgentFields({ project, agent, model }: { project: string; agent?: string; model?: string }) {
  const id = useId();
  const list = useAnswer(queries.agents(project));
  const [chosen, setChosen] = useState("");
  const installed = (list.data?.agents ?? []).filter((a) => a.path);
  const of = installed.find((a) => a.name === (chosen || agent));
  const models = [...new Set(["auto", ...Object.values(of?.models ?? {})])];
  return (
    <>
      <div className="field">
        <label htmlFor={id + "agent"}>Agent</label>
        <select id={id + "agent"} name="agent" value={chosen} onChange={(e) => setChosen(e.target.value)}>
          <option value="">{agent ? `${agent} (default)` : "the default"}</option>
          {installed.filter((a) => a.name !== agent).map((a) => <option key={a.name} value={a.name}>{a.name}{a.limit ? " (limited)" : a.login === "no" ? " (not logged in)" : ""}</option>)}
        </select>
        <small>{list.problem ? list.problem.detail : list.data ? "The installed agents" : "Reading the installed agents"}</small>
      </div>
      <div className="field">
        <label htmlFor={id + "model"}>Model</label>
        <input id={id + "model"} name="model" autoComplete="off" list={id + "models"} placeholder={model || "the agent's own"} />
        <datalist id={id + "models"}>{models.map((m) => <option key={m} value={m} />)}</datalist>
        <small>{chosen && chosen !== agent ? "the agent's own" : model || "the agent's own"} if empty</small>
      </div>
    </>
  );
}
