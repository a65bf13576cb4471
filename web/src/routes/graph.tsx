// The dependencies of tasks, as a graph from left to right.
import { useMemo } from "react";
import { useAnswer, useProjects } from "../api/cache";
import { queries } from "../api/queries";
import { MarkFilters, useMarkChoices, useMarks } from "../components/markfilters";
import { layout, type Node } from "../lib/graph";
import { plural } from "../lib/format";
import { navigate, toTask, useParam } from "../router";
import { Choice, Empty, Filters, Loading, ProblemBox } from "../ui/parts";

const W = 210;
const H = 46;
const GAPX = 56;
const GAPY = 14;

const at = (n: Node) => ({ x: 12 + n.x * (W + GAPX), y: 12 + n.y * (H + GAPY) });

export default function GraphPage() {
  const [project, setProject] = useParam("/graph", "project");
  const [which, setWhich] = useParam("/graph", "show");
  const marks = useMarks("/graph");
  const projects = useProjects();
  const { data, problem, again } = useAnswer(queries.graph(project, which === "all", marks.filter));
  const choices = useMarkChoices();
  const g = useMemo(() => layout(data?.tasks ?? []), [data]);
  if (!data) return problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the graph" />;
  const shown = data.tasks ?? [];
  return (
    <div className="page">
      <div className="page-head">
        <h1>Graph</h1>
        <span className="muted">{plural(shown.length, "task")}, {plural(g.edges.filter((e) => !e.child).length, "dependency", "dependencies")}{data.more && "; older tasks are left out"}</span>
        <span className="grow" />
        <div className="segments" role="group" aria-label="Which tasks">{(["open", "all"] as const).map((w) => <button key={w} aria-pressed={w === which} onClick={() => setWhich(w)}>{w}</button>)}</div>
      </div>
      <Filters on={marks.any || project !== ""}>
        {projects.length > 1 && <Choice label="Project" value={project} set={setProject} options={projects} all="all" />}
        <MarkFilters marks={marks} choices={choices} />
      </Filters>
      {shown.length === 0 ? (
        <Empty title={marks.any ? "No matching tasks with dependencies" : which === "open" ? "No dependencies between open tasks" : "No dependencies"}>
          <p>A task that names others under “Depends on” waits for them, and appears here with them. So does a task that an agent created, with a dashed line.{which === "open" && " “all” also shows ended tasks."}</p>
        </Empty>
      ) : (
        <div className="graph" tabIndex={0} role="region" aria-label="Graph of dependencies">
          <svg width={24 + g.columns * (W + GAPX) - GAPX} height={24 + g.rows * (H + GAPY) - GAPY} role="list" aria-label="Tasks">
            <g role="presentation" aria-hidden="true">
              {g.edges.map((e) => {
                const a = at(e.from);
                const b = at(e.to);
                return <path key={e.from.task.key + e.to.task.key} className={e.child ? "edge child" : "edge"} d={`M${a.x + W},${a.y + H / 2} C${a.x + W + GAPX / 2},${a.y + H / 2} ${b.x - GAPX / 2},${b.y + H / 2} ${b.x},${b.y + H / 2}`} />;
              })}
            </g>
            {g.nodes.map((n) => <NodeView key={n.task.key} n={n} />)}
          </svg>
        </div>
      )}
    </div>
  );
}

function NodeView({ n }: { n: Node }) {
  const { x, y } = at(n);
  const t = n.task;
  const words = ((t.after?.length ?? 0) > 0 ? `, after ${t.after!.join(", ")}` : "") + (t.parent ? `, created by an agent of ${t.parent}` : "");
  return (
    <g role="listitem" transform={`translate(${x},${y})`}>
      <a href={toTask(t.key)} data-row onClick={(e) => {
        if (e.metaKey || e.ctrlKey) return;
        e.preventDefault();
        navigate(toTask(t.key));
      }}>
        <title>{`${t.title}${words}`}</title>
        <rect width={W} height={H} rx={7} className={`node s-${t.status.replace(" ", "-")}`} />
        <rect width={5} height={H} rx={2.5} className={`node-mark s-${t.status.replace(" ", "-")}`} />
        <text x={15} y={19} className="node-key">{t.key} · {t.status}</text>
        <text x={15} y={36} className="node-title">{t.title.length > 25 ? t.title.slice(0, 24).trimEnd() + "…" : t.title}</text>
      </a>
    </g>
  );
}
