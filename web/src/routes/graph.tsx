// The dependencies of tasks, as a graph from left to right.
import { useMemo } from "react";
import { useTasks } from "../api/live";
import { values } from "../lib/board";
import { connected, layout, type Node } from "../lib/graph";
import { plural } from "../lib/format";
import { navigate, useParam } from "../router";
import { Empty } from "../ui/parts";

const W = 210;
const H = 46;
const GAPX = 56;
const GAPY = 14;
const MOST = 600;

const at = (n: Node) => ({ x: 12 + n.x * (W + GAPX), y: 12 + n.y * (H + GAPY) });

export default function GraphPage() {
  const tasks = useTasks();
  const [project, setProject] = useParam("project");
  const [which, setWhich] = useParam("show", "open");
  const projects = values(tasks, (t) => t.project);
  const shown = useMemo(() => {
    const some = connected(tasks.filter((t) => !project || t.project === project));
    if (which === "all") return some.slice(0, MOST);
    const open = new Set(some.filter((t) => t.stage !== "ended").flatMap((t) => [t.key, ...(t.after ?? [])]));
    return some.filter((t) => open.has(t.key)).slice(0, MOST);
  }, [tasks, project, which]);
  const g = useMemo(() => layout(shown), [shown]);
  return (
    <div className="page">
      <div className="page-head">
        <h1>Graph</h1>
        <span className="muted">{plural(shown.length, "task")}, {plural(g.edges.length, "dependency", "dependencies")}</span>
        <span className="grow" />
        {projects.length > 1 && <label className="choice"><span>Project</span><select value={project} onChange={(e) => setProject(e.target.value)}><option value="">all</option>{projects.map((p) => <option key={p}>{p}</option>)}</select></label>}
        <div className="segments" role="group" aria-label="Which tasks">{["open", "all"].map((w) => <button key={w} aria-pressed={w === which} onClick={() => setWhich(w)}>{w}</button>)}</div>
      </div>
      {shown.length === 0 ? (
        <Empty title={which === "open" ? "No dependencies between open tasks" : "No dependencies"}>
          <p>A task that names others under “Depends on” waits for them, and appears here with them.{which === "open" && " “all” also shows ended tasks."}</p>
        </Empty>
      ) : (
        <div className="graph" tabIndex={0} role="region" aria-label="Graph of dependencies">
          <svg width={24 + g.columns * (W + GAPX) - GAPX} height={24 + g.rows * (H + GAPY) - GAPY} role="list" aria-label="Tasks">
            <g role="presentation" aria-hidden="true">
              {g.edges.map((e) => {
                const a = at(e.from);
                const b = at(e.to);
                return <path key={e.from.task.key + e.to.task.key} className="edge" d={`M${a.x + W},${a.y + H / 2} C${a.x + W + GAPX / 2},${a.y + H / 2} ${b.x - GAPX / 2},${b.y + H / 2} ${b.x},${b.y + H / 2}`} />;
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
  const words = (t.after?.length ?? 0) > 0 ? `, after ${t.after!.join(", ")}` : "";
  return (
    <g role="listitem" transform={`translate(${x},${y})`}>
      <a href={"/tasks/" + t.key} data-row onClick={(e) => {
        if (e.metaKey || e.ctrlKey) return;
        e.preventDefault();
        navigate("/tasks/" + t.key);
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
