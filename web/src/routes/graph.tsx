// The dependencies of tasks, as a graph from left to right.
import { useMemo } from "react";
import { useAnswer, useProjects } from "../api/cache";
import { queries } from "../api/queries";
import type { Task } from "../api/schema";
import { Graph, type Shown } from "../components/graph";
import { MarkFilters, useMarkChoices, useMarks } from "../components/markfilters";
import { layout } from "../lib/graph";
import { plural } from "../lib/format";
import { toTask, useParam } from "../router";
import { Choice, Empty, Filters, Loading, ProblemBox } from "../ui/parts";

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
        <Graph items={shown} label="Graph of dependencies" lines={2} show={taskNode} />
      )}
    </div>
  );
}

function taskNode(t: Task): Shown {
  const words = ((t.after?.length ?? 0) > 0 ? `, after ${t.after!.join(", ")}` : "") + (t.parent ? `, created by an agent of ${t.parent}` : "");
  return { href: toTask(t.key), status: t.status, title: t.title + words, lines: [`${t.key} · ${t.status}`, t.title] };
}
