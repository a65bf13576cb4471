// The outline of a flow as a graph, with the parts that have no task yet, and what the
// steps of the chosen part got, said, took and cost.
import { useMemo, useState } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import type { FlowDetail, FlowPart, FlowStep } from "../api/schema";
import { indented, milliseconds } from "../lib/flow";
import { clock, plural, span, usd } from "../lib/format";
import type { Item } from "../lib/graph";
import { Markdown } from "../lib/markdown";
import { Link, to, toTask, useParam } from "../router";
import { Loading, ProblemBox, StatusBadge } from "../ui/parts";
import { Graph, type Shown } from "./graph";

interface Drawn extends Item {
  part: FlowPart;
  steps: FlowStep[];
}

// stateOf says how a part is.
const stateOf = ({ part }: Drawn): string => part.status ?? (part.maybe ? "if needed" : "planned");

// runsOf says how often a part has started, if that can be more than one time.
function runsOf(p: FlowPart): string {
  const runs = p.runs ?? 0;
  if ((p.most ?? 0) > 1) return `${runs} of ${p.most}`;
  return runs > 1 ? `×${runs}` : "";
}

const sum = (steps: FlowStep[], of: (s: FlowStep) => number) => steps.reduce((n, s) => n + of(s), 0);

function nodeOf(flow: string, d: Drawn, chosen: string): Shown {
  const state = stateOf(d);
  const { name } = d.part;
  const agents = [...new Set(d.steps.map((s) => s.agent))].join(", ") || d.part.agent || "";
  const spent = d.steps.length ? `${span(sum(d.steps, (s) => milliseconds(s.took)))} · ${usd(sum(d.steps, (s) => s.cost_usd))}` : agents;
  const after = (d.after ?? []).length > 0 ? `, after ${d.after!.join(", ")}` : "";
  return {
    href: to("/flows/{key}", { key: flow, step: d.key === chosen ? "" : d.key }), status: d.steps.length ? state : "planned", planned: d.steps.length === 0, current: d.key === chosen,
    title: `${name}: ${state}${after}${agents ? `, ${agents}` : ""}`, lines: [[state, runsOf(d.part)].filter(Boolean).join(" · "), name, spent],
  };
}

export function FlowGraph({ f }: { f: FlowDetail }) {
  const [chosen] = useParam("/flows/{key}", "step");
  const items = useMemo((): Drawn[] => {
    const counts = new Map((f.steps ?? []).filter((s) => !s.left).map((s) => [s.key, s]));
    return (f.outline ?? []).map((part, id) => ({ key: part.key, id, after: part.after, part, steps: (part.steps ?? []).flatMap((k) => counts.get(k) ?? []) }));
  }, [f]);
  if (items.length === 0) return null;
  const open = items.find((d) => d.key === chosen);
  const planned = items.filter((d) => d.steps.length === 0).length;
  return (
    <>
      <p className="muted">{planned > 0 ? `${plural(planned, "dashed part")} ${planned === 1 ? "has" : "have"} no task yet. ` : ""}Choose a part to see what its steps got and said.</p>
      <Graph items={items} label="Graph of steps" lines={3} show={(d) => nodeOf(f.task.key, d, chosen)} />
      {open && <Part key={open.key} d={open} />}
    </>
  );
}

function Part({ d }: { d: Drawn }) {
  const { name, agent, maybe } = d.part;
  return (
    <section className="flow-steps-panel" aria-label={`Steps of ${name}`}>
      <h3>{name} <small className="muted">{[(d.part.most ?? 0) > 1 && runsOf(d.part), d.steps.length > 0 && plural(d.steps.length, "step")].filter(Boolean).join(", ")}</small></h3>
      {d.steps.length === 0 && <p>It has no task yet{maybe ? ", and whether it starts depends on the results of others" : ""}.{agent ? ` ${agent} would do it.` : ""}{(d.after ?? []).length > 0 ? ` It comes after ${d.after!.join(", ")}.` : ""}</p>}
      {[...d.steps].reverse().map((s, i) => <StepPanel key={s.task} s={s} open={i === 0} />)}
    </section>
  );
}

// StepPanel shows one step. The newest one of a part is open.
export function StepPanel({ s, open }: { s: FlowStep; open: boolean }) {
  const saw = Object.entries(s.saw ?? {});
  const [asked, setAsked] = useState(false);
  return (
    <article className="flow-step" aria-label={`Step ${s.key}`}>
      <header>
        <strong>{s.key}</strong> <Link href={toTask(s.task)}>{s.task}</Link> <StatusBadge status={s.status} />
        <span>{s.agent}{s.model ? ` · ${s.model}` : ""}</span>
        <span title={s.started ? `${clock(s.started)} to ${s.ended ? clock(s.ended) : "now"}` : undefined}>{s.started ? `worked ${span(milliseconds(s.took))}` : "not started"}</span>
        <span>{usd(s.cost_usd)}</span>
      </header>
      {saw.length > 0 && <p className="muted">It read {saw.map(([name, version]) => `${name} version ${version}`).join(", ")}.</p>}
      <details onToggle={(e) => setAsked(asked || e.currentTarget.open)}><summary>Input</summary>{asked && <div className="step-text" tabIndex={0} role="region" aria-label={`Input of ${s.key}`}><Input task={s.task} /></div>}</details>
      <details open={open}><summary>Output</summary><div className="step-text" tabIndex={0} role="region" aria-label={`Output of ${s.key}`}>{s.result ? <Markdown text={indented(s.result)} /> : <p className="muted">{s.says ?? "It has not ended."}</p>}</div></details>
    </article>
  );
}

// Input is the description of a step's task. It is read when a person opens it.
function Input({ task }: { task: string }) {
  const { data, problem, again } = useAnswer(queries.task(task));
  if (!data) return problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the input" />;
  return data.body ? <Markdown text={data.body} /> : <p className="muted">It has no description. Its title is: {data.title}</p>;
}
