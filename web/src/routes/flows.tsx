// The flows, newest first: where each is, how many of its steps are done, and its cost.
import { useMemo } from "react";
import { useAnswer, useProjects } from "../api/cache";
import { queries } from "../api/queries";
import { newFlow } from "../components/commands";
import { usePageCommands } from "../components/keys";
import { StepBar } from "../components/stepbar";
import { ago, clock, usd, useNow } from "../lib/format";
import { Link, toFlow, useParam } from "../router";
import { Choice, Empty, Loading, ProblemBox, StatusBadge } from "../ui/parts";

export default function FlowsPage() {
  const now = useNow(5000);
  const projects = useProjects();
  const [project, setProject] = useParam("/flows", "project");
  const [shown, setShown] = useParam("/flows", "show");
  const [before, setBefore] = useParam("/flows", "before");
  const { data, problem, again } = useAnswer(queries.flows(project, shown === "open", Number(before) || undefined));
  const create = newFlow(project);
  usePageCommands(useMemo(() => (project ? [newFlow(project)] : []), [project]));
  const choose = <T extends string>(set: (v: T) => void) => (v: T) => {
    setBefore("");
    set(v);
  };
  const list = data?.flows ?? [];
  return (
    <div className="page">
      <div className="page-head">
        <h1>Flows</h1>
        <span className="grow" />
        {projects.length > 1 && <Choice label="Project" value={project} set={choose(setProject)} options={projects} all="all" />}
        <Choice label="Show" value={shown} set={choose(setShown)} options={["open", "all"]} />
        <button className="button primary" onClick={create.run}>New flow</button>
      </div>
      {problem && <ProblemBox problem={problem} again={again} />}
      {!data && !problem && <Loading what="the flows" />}
      {data && list.length === 0 && (
        <Empty title={shown === "open" ? "No open flow" : "No flows yet"}>
          <p>A flow runs several tasks towards one goal: a lead with workers, cycles of review and implementation, a debate between two agents, or a list of tasks.</p>
        </Empty>
      )}
      {list.length > 0 && (
        <div className="scroll-x" tabIndex={0} role="region" aria-label="Flows">
          <table className="data flows">
            <thead><tr><th>Flow</th><th>Kind</th><th>Status</th><th>Where it is</th><th>Steps</th><th className="num">Cost</th><th className="num">Created</th></tr></thead>
            <tbody>
              {list.map((f) => (
                <tr key={f.task.key} data-flow={f.task.key}>
                  <td className="wide"><Link href={toFlow(f.task.key)} data-row>{f.task.key}</Link> <span className="flow-title">{f.task.title}</span></td>
                  <td>{f.kind}</td>
                  <td><StatusBadge status={f.task.status} text={f.task.status_text} /></td>
                  <td className="wide flow-note">{f.task.line}</td>
                  <td><StepBar done={f.done} steps={f.steps} /></td>
                  <td className="num">{usd(f.cost_usd)}</td>
                  <td className="num" title={clock(f.task.created_at)}>{ago(f.task.created_at, now)} ago</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {(before || data?.next) && (
        <p>
          {before && <button className="button small" onClick={() => setBefore("")}>Newest</button>} {data?.next && <button className="button small" onClick={() => setBefore(String(data.next))}>Older flows</button>}
        </p>
      )}
    </div>
  );
}
