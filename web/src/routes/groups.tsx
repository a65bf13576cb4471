// The groups of tasks, newest first.
import { useAnswer, useProjects } from "../api/cache";
import { queries } from "../api/queries";
import { GroupBar } from "../components/groupbar";
import { ago, clock, cost, useNow } from "../lib/format";
import { Link, to, useParam } from "../router";
import { Choice, Empty, Loading, ProblemBox } from "../ui/parts";

export default function GroupsPage() {
  const now = useNow(5000);
  const projects = useProjects();
  const [project, setProject] = useParam("/groups", "project");
  const [before, setBefore] = useParam("/groups", "before");
  const { data, problem, again } = useAnswer(queries.groups(project, Number(before) || undefined));
  if (!data) return problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the groups" />;
  const list = data.groups ?? [];
  const choose = (p: string) => {
    setBefore("");
    setProject(p);
  };
  return (
    <div className="page">
      <div className="page-head">
        <h1>Groups</h1>
        <span className="grow" />
        {projects.length > 1 && <Choice label="Project" value={project} set={choose} options={projects} all="all" />}
      </div>
      {problem && <ProblemBox problem={problem} again={again} />}
      {list.length === 0 ? <Empty title="No groups yet"><p>Tasks that are created together become a group. You can also name a group when you create a task, or on its page.</p></Empty> : (
        <div className="scroll-x" tabIndex={0} role="region" aria-label="Groups">
          <table className="data groups">
            <thead><tr><th>Name</th><th>Project</th><th className="num">Tasks</th><th>Status</th><th className="num">Cost</th><th className="num">Created</th></tr></thead>
            <tbody>
              {list.map((g) => (
                <tr key={g.id} data-group={g.name}>
                  <td><Link href={to("/groups/{id}", { id: String(g.id) })} data-row>{g.name}</Link>{g.title && <small className="muted group-title" title={g.title}>{g.title}</small>}</td>
                  <td>{g.project}</td>
                  <td className="num">{g.tasks}</td>
                  <td><GroupBar g={g} /></td>
                  <td className="num">{cost(g.usage)}</td>
                  <td className="num" title={clock(g.created_at)}>{ago(g.created_at, now)} ago</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {(before || data.next) && (
        <p>
          {before && <button className="button small" onClick={() => setBefore("")}>Newest</button>} {data.next && <button className="button small" onClick={() => setBefore(String(data.next))}>Older groups</button>}
        </p>
      )}
    </div>
  );
}
