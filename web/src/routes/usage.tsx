// What it cost: by day, agent, model, project and task.
import { useMemo } from "react";
import { get } from "../api/client";
import { useTasks } from "../api/live";
import { useQuery } from "../api/query";
import type { ProjectList, Task } from "../api/schema";
import { count, plural, usd } from "../lib/format";
import { dayOf, days, plus, sums, zero, type Sum } from "../lib/usage";
import { Link, useParam } from "../router";
import { Empty } from "../ui/parts";

const by: Record<string, (t: Task) => string> = {
  agent: (t) => t.agent, model: (t) => t.model || "the agent's own", project: (t) => t.project, track: (t) => `${t.project} · ${t.track}`, task: (t) => t.key,
};
const MOST = 200;

export default function UsagePage() {
  const tasks = useTasks();
  const [group, setGroup] = useParam("by", "agent");
  const projects = useQuery("projects", () => get<ProjectList>("/projects"));
  const used = useMemo(() => tasks.filter((t) => t.sessions > 0), [tasks]);
  const perDay = useMemo(() => days(sums(used, dayOf), 30), [used]);
  const rows = useMemo(() => sums(used, by[group] ?? by.agent!).sort((a, b) => b.usage.cost_usd - a.usage.cost_usd || b.usage.output_tokens - a.usage.output_tokens), [used, group]);
  if (used.length === 0) return <Empty title="Nothing used yet"><p>What sessions cost is added up here, as their agents tell it.</p></Empty>;
  const all = used.reduce((s, t) => plus(s, t.usage), zero);
  const budgets = (projects.data?.projects ?? []).filter((p) => p.policy.budget?.task);
  return (
    <div className="page">
      <div className="page-head"><h1>Usage</h1><span className="muted">{plural(used.length, "task")} with sessions</span></div>
      <dl className="tiles">
        <div><dt>Cost</dt><dd>{usd(all.cost_usd)}</dd></div>
        <div><dt>Input</dt><dd>{count(all.input_tokens)}</dd></div>
        <div><dt>Output</dt><dd>{count(all.output_tokens)}</dd></div>
        <div><dt>From cache</dt><dd>{count(all.cache_read_tokens)}</dd></div>
        <div><dt>Turns</dt><dd>{count(all.turns)}</dd></div>
      </dl>
      <h2>By day</h2>
      <Bars days={perDay} />
      {budgets.map((p) => <p key={p.prefix} className="muted">A task of {p.prefix} may cost {String(p.policy.budget.task)}.</p>)}
      <div className="page-head">
        <h2>By {group}</h2>
        <span className="grow" />
        <div className="segments" role="group" aria-label="Add up by">{Object.keys(by).map((g) => <button key={g} aria-pressed={g === group} onClick={() => setGroup(g)}>{g}</button>)}</div>
      </div>
      <div className="scroll-x" tabIndex={0} role="region" aria-label="Usage">
        <table className="data">
          <thead><tr><th>{group}</th><th className="num">Cost</th><th aria-hidden="true" /><th className="num">Tasks</th><th className="num">Input</th><th className="num">Output</th><th className="num">From cache</th><th className="num">Turns</th></tr></thead>
          <tbody>
            {rows.slice(0, MOST).map((r) => (
              <tr key={r.name}>
                <td>{group === "task" ? <Link href={"/tasks/" + r.name}>{r.name}</Link> : r.name}</td>
                <td className="num">{usd(r.usage.cost_usd)}</td>
                <td className="share"><span style={{ width: `${(100 * r.usage.cost_usd) / (rows[0]!.usage.cost_usd || 1)}%` }} /></td>
                <td className="num">{r.tasks}</td><td className="num">{count(r.usage.input_tokens)}</td><td className="num">{count(r.usage.output_tokens)}</td>
                <td className="num">{count(r.usage.cache_read_tokens)}</td><td className="num">{count(r.usage.turns)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > MOST && <p className="muted">The first {MOST} of {rows.length}.</p>}
    </div>
  );
}

function Bars({ days: list }: { days: Sum[] }) {
  const top = Math.max(...list.map((d) => d.usage.cost_usd), 0.01);
  return (
    <figure className="bars" role="img" aria-label={list.map((d) => `${d.name}: ${usd(d.usage.cost_usd)}`).join(", ")}>
      {list.map((d, i) => (
        <div key={d.name} title={`${d.name}: ${usd(d.usage.cost_usd)}, ${plural(d.tasks, "task")}`}>
          <span className="bar-value">{list.length <= 14 ? usd(d.usage.cost_usd) : ""}</span>
          <span className="bar" style={{ height: `${Math.max(1, (120 * d.usage.cost_usd) / top)}px` }} />
          <span className="bar-name">{i % Math.ceil(list.length / 10) === 0 ? d.name.slice(5) : ""}</span>
        </div>
      ))}
    </figure>
  );
}
