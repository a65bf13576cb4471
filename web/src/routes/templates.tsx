// The templates of a project, and how the tasks of each ended, by model.
import { useMemo } from "react";
import { useAnswer, useProjects } from "../api/cache";
import { queries } from "../api/queries";
import type { Template, TemplateStat } from "../api/schema";
import { editTemplate, newTemplate } from "../components/commands";
import { usePageCommands } from "../components/keys";
import { milliseconds } from "../lib/flow";
import { span, usd } from "../lib/format";
import { useParam } from "../router";
import { Choice, Empty, Loading, Mono, ProblemBox } from "../ui/parts";

const none: Template[] = [];

export default function TemplatesPage() {
  const names = useProjects();
  const [chosen, setProject] = useParam("/templates", "project");
  const project = names.includes(chosen) ? chosen : (names[0] ?? "");
  return (
    <div className="page">
      <div className="page-head">
        <h1>Templates</h1>
        <span className="grow" />
        {names.length > 1 && <Choice label="Project" value={project} set={setProject} options={names} />}
        {project && <button className="button primary" onClick={newTemplate(project).run}>New template</button>}
      </div>
      {project ? <TemplatesOf project={project} /> : <Nothing />}
    </div>
  );
}

const Nothing = () => (
  <Empty title="No templates yet"><p>A template is a task or a flow that a project keeps for later use, in a file below <code>.coppice/templates</code>. Commit it with your code.</p></Empty>
);

function TemplatesOf({ project }: { project: string }) {
  const { data, problem, again } = useAnswer(queries.templates(project));
  const stats = useAnswer(queries.templateStats(project));
  const list = data?.templates ?? none;
  usePageCommands(useMemo(() => list.map((t) => editTemplate(project, t.name)), [project, list]));
  if (!data) return problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the templates" />;
  const all = stats.data?.stats ?? [];
  const gone = all.filter((s) => !list.some((t) => t.name === s.template));
  return (
    <>
      {problem && <ProblemBox problem={problem} again={again} />}
      {stats.problem && <ProblemBox problem={stats.problem} again={stats.again} />}
      {list.length === 0 ? <Nothing /> : (
        <ul className="keys-list" aria-label="Templates">
          {list.map((t) => <TemplateRow key={t.name} project={project} t={t} stats={all.filter((s) => s.template === t.name)} />)}
        </ul>
      )}
      {gone.length > 0 && <section className="flow-part"><h2>Templates that were removed</h2><Stats list={gone} named /></section>}
    </>
  );
}

function TemplateRow({ project, t, stats }: { project: string; t: Template; stats: TemplateStat[] }) {
  const edit = editTemplate(project, t.name);
  const variables = t.variables ?? [];
  return (
    <li data-template={t.name}>
      <div className="key-head">
        <code>{t.name}</code>
        {t.flow && <span className="tag">{t.flow}</span>}
        <span className="muted">{t.path}</span>
        <span className="grow" />
        <button className="button small" data-row aria-label={edit.name} onClick={edit.run}>Edit…</button>
      </div>
      {t.title && <p>{t.title}</p>}
      {t.problem && <p className="bad-text">It cannot be used: <Mono text={t.problem} /></p>}
      {variables.length > 0 && (
        <ul className="template-variables">
          {variables.map((v) => <li key={v.name}><code>{v.name}</code>{v.default && <> = <code>{v.default}</code></>}{v.required && <span className="tag">required</span>} <span className="muted">{v.about}</span></li>)}
        </ul>
      )}
      {stats.length > 0 && <Stats list={stats} />}
    </li>
  );
}

function Stats({ list, named }: { list: TemplateStat[]; named?: boolean }) {
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label={named ? "Statistics of removed templates" : `Statistics of ${list[0]!.template}`}>
      <table className="data">
        <thead><tr>{named && <th>Template</th>}<th>Model</th><th className="num">Tasks</th><th className="num">Success</th><th className="num">Failed</th><th className="num">Cost</th><th className="num">Turns</th><th className="num">Time</th></tr></thead>
        <tbody>
          {list.map((s) => (
            <tr key={`${s.template} ${s.model ?? ""}`}>
              {named && <td>{s.template}</td>}
              <td>{s.model || "the agent's own"}</td>
              <td className="num">{s.tasks}</td>
              <td className="num">{Math.round((s.done / s.tasks) * 100)} %</td>
              <td className="num">{s.failed}</td>
              <td className="num">{usd(s.cost_usd)}</td>
              <td className="num">{s.turns.toFixed(1)}</td>
              <td className="num">{span(milliseconds(s.took))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
