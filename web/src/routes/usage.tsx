// Costs by day, agent, model, project and task, with the budgets.
import { useMemo } from "react";
import { useAnswer, useProjects } from "../api/cache";
import { queries } from "../api/queries";
import type { UsageRow } from "../api/schema";
import { MarkFilters, useMarkChoices, useMarks } from "../components/markfilters";
import { cost, count, plural, usd } from "../lib/format";
import { dayName, days, sums, type Sum } from "../lib/usage";
import { Link, toTask, useParam, type Param } from "../router";
import { Choice, Empty, Filters, Loading, ProblemBox } from "../ui/parts";

type By = Param<"/usage", "by">;
type Span = Param<"/usage", "span">;
const by: Record<By, (r: UsageRow) => string> = {
  agent: (r) => r.agent, model: (r) => `${r.agent} · ${r.model || "its own default"}`, project: (r) => r.project, day: (r) => r.day, task: (r) => r.task ?? "",
};
const spans: Record<Span, number> = { "7 d": 7, "30 d": 30, "90 d": 90, "1 y": 365 };
const MOST = 200;

export default function UsagePage() {
  const projects = useProjects();
  const [group, setGroup] = useParam("/usage", "by");
  const [length, setLength] = useParam("/usage", "span");
  const [project, setProject] = useParam("/usage", "project");
  const marks = useMarks("/usage");
  const choices = useMarkChoices();
  const from = dayName(new Date(Date.now() - (spans[length] - 1) * 86_400_000));
  const ask = { from, to: dayName(new Date()), project: project || undefined, tz: String(-new Date().getTimezoneOffset()), group: group === "task" ? ("task" as const) : undefined, ...marks.filter };
  const report = useAnswer(queries.usage(ask));
  const rows = useMemo(() => report.data?.rows ?? [], [report.data]);
  const perDay = useMemo(() => days(sums(rows, (r) => r.day), ask.from, ask.to), [rows, ask.from, ask.to]);
  const list = useMemo(() => sums(rows, by[group]).sort((a, b) => (group === "day" ? b.name.localeCompare(a.name) : b.usage.cost_usd - a.usage.cost_usd || b.usage.output_tokens - a.usage.output_tokens)), [rows, group]);
  const ofTask = useMemo(() => new Map(rows.flatMap((r) => (r.task ? [[r.task, r] as const] : []))), [rows]);
  const all = report.data?.total;
  return (
    <div className="page">
      <div className="page-head">
        <h1>Usage</h1>
        {report.data && <span className="muted">{plural(report.data.sessions, "session")} since {report.data.from}</span>}
        <span className="grow" />
        <div className="segments" role="group" aria-label="Span">{(Object.keys(spans) as Span[]).map((s) => <button key={s} aria-pressed={s === length} onClick={() => setLength(s)}>{s}</button>)}</div>
      </div>
      <Filters on={marks.any || project !== ""}>
        {projects.length > 1 && <Choice label="Project" value={project} set={setProject} options={projects} all="all" />}
        <MarkFilters marks={marks} choices={choices} />
      </Filters>
      {report.problem && <ProblemBox problem={report.problem} again={report.again} />}
      {!report.data && !report.problem && <Loading what="the usage" />}
      {report.data && rows.length === 0 && <Empty title={`Nothing used in the last ${length}`}><p>{marks.any ? "No session of a task with these marks." : "The costs that agents report appear here."}</p></Empty>}
      {all && rows.length > 0 && (
        <>
          <dl className="tiles">
            <div><dt>Cost</dt><dd title={all.estimated ? "partly an estimate: see coppice prices" : undefined}>{cost(all)}</dd></div>
            <div><dt>Input</dt><dd>{count(all.input_tokens)}</dd></div>
            <div><dt>Output</dt><dd>{count(all.output_tokens)}</dd></div>
            <div><dt>From cache</dt><dd>{count(all.cache_read_tokens)}</dd></div>
            <div><dt>Turns</dt><dd>{count(all.turns)}</dd></div>
          </dl>
          <h2>By day</h2>
          <Bars days={perDay} />
          <div className="page-head">
            <h2>By {group}</h2>
            <span className="grow" />
            <div className="segments" role="group" aria-label="Add up by">{(Object.keys(by) as By[]).map((g) => <button key={g} aria-pressed={g === group} onClick={() => setGroup(g)}>{g}</button>)}</div>
          </div>
          {(report.data?.budgets ?? []).filter((b) => b.task_usd).map((b) => <p key={b.project} className="muted">The budget of a task of {b.project} is {usd(b.task_usd)}, unless the task has its own{group === "task" && "; the line in a bar shows it"}.</p>)}
          {(report.data?.budgets ?? []).filter((b) => b.day_usd).map((b) => <p key={b.project} className="muted">The budget of {b.project} is {usd(b.day_usd)} per day: {usd(b.today_usd)} since 00:00 UTC.</p>)}
          {(report.data?.accounts ?? []).map((a) => <p key={a.account} className={a.warning ? "warn-text" : "muted"}>The budget of {a.account} is {usd(a.day_usd)} per day in all projects: {usd(a.today_usd)} since 00:00 UTC.{a.warning && ` ${a.warning}.`}</p>)}
          <Table group={group} list={list} budgets={ofTask} />
          {(list.length > MOST || report.data?.more) && <p className="muted">{list.length > MOST ? `The first ${MOST} of ${list.length}.` : "The oldest rows are left out; choose a shorter span."}</p>}
        </>
      )}
    </div>
  );
}

function Table({ group, list, budgets }: { group: string; list: Sum[]; budgets: ReadonlyMap<string, UsageRow> }) {
  const shown = list.slice(0, MOST);
  const top = Math.max(...shown.map((r) => Math.max(r.usage.cost_usd, budgets.get(r.name)?.budget_usd ?? 0)), 0.000001);
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Usage">
      <table className="data">
        <thead><tr><th>{group}</th><th className="num">Cost</th><th aria-hidden="true" /><th className="num">Sessions</th><th className="num">Input</th><th className="num">Output</th><th className="num">From cache</th><th className="num">Turns</th></tr></thead>
        <tbody>
          {shown.map((r) => {
            const { budget_usd: most, over } = budgets.get(r.name) ?? {};
            return (
              <tr key={r.name}>
                <td>{group === "task" ? <Link href={toTask(r.name)}>{r.name}</Link> : r.name}</td>
                <td className="num">{cost(r.usage)}{over && <span className="bad-text"> over</span>}</td>
                <td className="share">
                  <span className={over ? "over" : ""} style={{ width: `${(100 * r.usage.cost_usd) / top}%` }} />
                  {most !== undefined && <i className="budget-line" style={{ left: `${(100 * most) / top}%` }} title={`budget: ${usd(most)}`} />}
                </td>
                <td className="num">{r.sessions}</td><td className="num">{count(r.usage.input_tokens)}</td><td className="num">{count(r.usage.output_tokens)}</td>
                <td className="num">{count(r.usage.cache_read_tokens)}</td><td className="num">{count(r.usage.turns)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Bars({ days: list }: { days: Sum[] }) {
  const top = Math.max(...list.map((d) => d.usage.cost_usd), 0.01);
  return (
    <figure className={"bars" + (list.length > 60 ? " dense" : "")} role="img" aria-label={list.filter((d) => d.sessions > 0).map((d) => `${d.name}: ${usd(d.usage.cost_usd)}`).join(", ")}>
      {list.map((d, i) => (
        <div key={d.name} title={`${d.name}: ${usd(d.usage.cost_usd)}, ${plural(d.sessions, "session")}`}>
          <span className="bar-value">{list.length <= 14 && d.sessions > 0 ? usd(d.usage.cost_usd) : ""}</span>
          <span className="bar" style={{ height: `${Math.max(1, (120 * d.usage.cost_usd) / top)}px` }} />
          <span className="bar-name">{i % Math.ceil(list.length / 10) === 0 ? d.name.slice(5) : ""}</span>
        </div>
      ))}
    </figure>
  );
}
