// The fields of each kind of flow. The server checks the values and fills in defaults.
import { useId } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import type { NewFlow } from "../api/schema";
import { flowDefaults as usual } from "../api/tables";

export type FlowKind = NewFlow["kind"];

interface SpecField {
  name: string;
  label: string;
  hint: string;
  as?: "list" | "number" | "yes" | "tasks" | "text"; // a line of text if absent
  agents?: boolean; // the names of agents are suggested
}

// kinds has what a person can choose for each kind of flow.
export const kinds: Record<FlowKind, { about: string; fields: SpecField[] }> = {
  goal: {
    about: "A lead hands out work to other agents, and the result is verified as a whole",
    fields: [
      { name: "lead", label: "Lead", hint: "The agent that leads; the best one if empty", agents: true },
      { name: "agents", label: "Agents", hint: "Those that can be used, with commas; all if empty", as: "list", agents: true },
      { name: "workers", label: "Workers", hint: "The most at the same time; goal.workers of coppice.yaml if empty, or " + usual.goal.workers, as: "number" },
      { name: "plan", label: "Plan first", hint: "The lead writes a plan, which you can edit and must approve", as: "yes" },
    ],
  },
  cycle: {
    about: "A plan with milestones, then review and implementation until enough of them are done",
    fields: [
      { name: "implementer", label: "Implementer", hint: "As agent or agent:model; the best one if empty", agents: true },
      { name: "reviewer", label: "Reviewer", hint: "As agent or agent:model; another agent if empty", agents: true },
      { name: "cycles", label: "Cycles", hint: `The most; ${usual.cycle.cycles} if empty`, as: "number" },
      { name: "threshold", label: "Threshold", hint: `The share of the milestones that must be done; ${usual.cycle.threshold} if empty`, as: "number" },
      { name: "verify", label: "Verify", hint: "How to start or try the result; nothing is tried if empty", as: "text" },
    ],
  },
  debate: {
    about: "Two agents discuss a question until they agree; then one of them can act",
    fields: [
      { name: "between", label: "Sides", hint: "Two of agent or agent:model, with a comma; the two best if empty", as: "list", agents: true },
      { name: "rounds", label: "Rounds", hint: `The most; ${usual.debate.rounds} if empty`, as: "number" },
      { name: "action", label: "Action", hint: "What one side does after the rounds; nothing if empty", as: "text" },
      { name: "verify", label: "Verify", hint: "The other side verifies the action", as: "yes" },
    ],
  },
  batch: {
    about: "A list of tasks",
    fields: [
      { name: "tasks", label: "Tasks", hint: "One task per line", as: "tasks" },
      { name: "most", label: "At the same time", hint: "How many can be open; all if empty", as: "number" },
    ],
  },
};

export const flowKinds = Object.keys(kinds) as FlowKind[];

const reads: Record<NonNullable<SpecField["as"]>, (text: string) => unknown> = {
  text: (text) => text,
  number: Number,
  yes: () => true,
  list: (text) => text.split(/[\s,]+/).filter(Boolean),
  tasks: (text) => text.split("\n").map((l) => l.trim()).filter(Boolean).map((title) => ({ title })),
};

// flowFrom reads the fields of a kind. Empty fields get the server's defaults.
export function flowFrom(form: FormData, kind: FlowKind): NewFlow {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const spec = Object.fromEntries(kinds[kind].fields.filter((f) => text("spec " + f.name)).map((f) => [f.name, reads[f.as ?? "text"](text("spec " + f.name))]));
  return { kind, ...(Object.keys(spec).length ? { spec } : {}), ...(text("flow time") ? { time: text("flow time") } : {}) };
}

export function FlowFields({ kind, project }: { kind: FlowKind; project: string }) {
  const id = useId();
  const agents = (useAnswer(queries.agents(project)).data?.agents ?? []).filter((a) => a.installed).map((a) => a.name);
  const all: SpecField[] = kinds[kind].fields;
  const short = all.filter((f) => f.as !== "text" && f.as !== "tasks");
  const long = all.filter((f) => !short.includes(f));
  const field = (f: SpecField) => {
    const common = { id: `${id} ${f.name}`, name: "spec " + f.name, "aria-describedby": `${id} ${f.name} hint` };
    return (
      <div className="field" key={kind + f.name}>
        <label htmlFor={common.id}>{f.label}</label>
        {f.as === "yes" ? <select {...common} defaultValue=""><option value="">no</option><option value="yes">yes</option></select>
          : f.as === "text" || f.as === "tasks" ? <textarea {...common} rows={f.as === "tasks" ? 6 : 2} required={f.as === "tasks"} />
            : <input {...common} type={f.as === "number" ? "number" : "text"} step={f.as === "number" ? "any" : undefined} autoComplete="off" placeholder={f.agents ? agents.slice(0, f.as === "list" ? 2 : 1).join(",") : undefined} list={f.agents && f.as !== "list" ? `${id} agents` : undefined} />}
        <small id={`${id} ${f.name} hint`}>{f.hint}</small>
      </div>
    );
  };
  return (
    <>
      {long.map(field)}
      <div className="form-row">{short.map(field)}</div>
      <datalist id={`${id} agents`}>{agents.map((a) => <option key={a} value={a} />)}</datalist>
    </>
  );
}
