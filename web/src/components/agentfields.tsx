// The choice of an agent, a model and how hard it thinks: the installed agents
// with their state, the models that the server suggests, and the levels that the
// agent has. A model that is not listed can be typed.
import { useId, useState } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import type { Agent } from "../api/schema";
import { clock } from "../lib/format";
import type { With } from "./actions";

// stateOf says in words whether an agent can be used now, "" if it can.
export function stateOf(a: Agent): string {
  switch (a.state) {
    case "ready":
      return "";
    case "limited":
      return a.limit?.until ? `limited until ${clock(a.limit.until)}` : "limited until you clear it";
    case "logged out":
      return "not logged in";
    case "broken":
      return "does not work";
  }
  return a.state;
}

// withFrom reads the fields of a form. An empty field stays as it is.
export function withFrom(form: FormData): With {
  const out: With = {};
  for (const name of ["agent", "model", "effort"] as const) {
    const text = String(form.get(name) ?? "").trim();
    if (text) out[name] = text;
  }
  return out;
}

// Models are what a field for a model offers.
export function Models({ id, models }: { id: string; models: string[] }) {
  return <datalist id={id}>{models.map((m) => <option key={m} value={m} />)}</datalist>;
}

// useAgent returns one agent of a project, when it is known.
export function useAgent(project: string, name: string | undefined): Agent | undefined {
  return useAnswer(queries.agents(project)).data?.agents?.find((a) => a.name === name);
}

export function AgentFields({ project, agent, model, effort, plain, onAgent }: { project: string; agent?: string; model?: string; effort?: string; plain?: boolean; onAgent?: (name: string) => void }) {
  const id = useId();
  const list = useAnswer(queries.agents(project));
  const [chosen, setChosen] = useState("");
  const all = list.data?.agents ?? [];
  const of = all.find((a) => a.name === (chosen || agent));
  const other = chosen !== "" && chosen !== agent;
  const label = (a: Agent | undefined, name: string) => name + (a && stateOf(a) ? ` (${stateOf(a)})` : "");
  return (
    <>
      <div className="field">
        <label htmlFor={id + "agent"}>Agent</label>
        <select id={id + "agent"} name="agent" value={chosen} onChange={(e) => {
          setChosen(e.target.value);
          onAgent?.(e.target.value);
        }}>
          <option value="">{agent ? label(all.find((a) => a.name === agent), `${agent}, the default`) : "the default"}</option>
          {all.filter((a) => a.installed && a.name !== agent).map((a) => <option key={a.name} value={a.name}>{label(a, a.name)}</option>)}
        </select>
        <small>{list.problem ? list.problem.detail : list.data ? "The installed agents" : "Reading the installed agents"}</small>
      </div>
      <div className="field">
        <label htmlFor={id + "model"}>Model</label>
        <input id={id + "model"} name="model" autoComplete="off" list={id + "models"} placeholder={(!other && model) || "the agent's own"} />
        <Models id={id + "models"} models={(of ?? list.data)?.choices ?? []} />
        <small>{(!other && model) || "the agent's own"} if empty</small>
      </div>
      {!plain && (of?.efforts?.length ?? 0) > 0 && (
        <div className="field">
          <label htmlFor={id + "effort"}>Effort</label>
          <select id={id + "effort"} name="effort" key={of!.name} defaultValue="">
            <option value="">{(!other && effort) || "the default"}</option>
            {of!.efforts!.map((e) => <option key={e} value={e}>{e}</option>)}
          </select>
          <small>How hard it thinks</small>
        </div>
      )}
    </>
  );
}
