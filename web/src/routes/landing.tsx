// The landing queue: what is in it, why something waits, what has landed.
import { useAnswer, useProjects } from "../api/cache";
import { queries } from "../api/queries";
import type { QueuedLanding, Task } from "../api/schema";
import { actionsOf, run } from "../components/actions";
import { MarkFilters, useMarkChoices, useMarks } from "../components/markfilters";
import { ago, span, time, useNow } from "../lib/format";
import { Link, toReview, toTask, useParam } from "../router";
import { Choice, Empty, Filters, Loading, ProblemBox, StatusBadge } from "../ui/parts";

export default function LandingPage() {
  const projects = useProjects();
  const [project, setProject] = useParam("/landing", "project");
  const marks = useMarks("/landing");
  const { data, problem, again } = useAnswer(queries.landings(project, marks.filter));
  const choices = useMarkChoices();
  const now = useNow(5000);
  if (!data) return problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the landings" />;
  const queue = data.queue ?? [];
  return (
    <div className="page">
      <div className="page-head"><h1>Landing</h1><span className="muted">{queue.length} in the queue</span></div>
      <Filters on={marks.any || project !== ""}>
        {projects.length > 1 && <Choice label="Project" value={project} set={setProject} options={projects} all="all" />}
        <MarkFilters marks={marks} choices={choices} />
      </Filters>
      {problem && <ProblemBox problem={problem} again={again} />}
      {queue.length === 0 ? <Empty title={marks.any || project ? "Nothing that matches is landing" : "Nothing is landing"}><p>When a session ends, its work is merged with the base, checked there, and lands in order.</p></Empty> : (
        <ol className="queue">{queue.map((q) => <Queued key={q.task.key} q={q} now={now} />)}</ol>
      )}
      <h2>Landed</h2>
      <Landed list={data.landed ?? []} now={now} />
    </div>
  );
}

function Landed({ list, now }: { list: Task[]; now: number }) {
  if (list.length === 0) return <p className="muted">Nothing yet.</p>;
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Landed tasks">
      <table className="data">
        <thead><tr><th>Task</th><th>Title</th><th>Commit</th><th className="num">Sessions</th><th className="num">Took</th><th className="num">Landed</th></tr></thead>
        <tbody>
          {list.map((t) => (
            <tr key={t.key}>
              <td><Link href={toTask(t.key)} data-row>{t.key}</Link></td><td className="wide">{t.title}</td><td className="whole"><code>{t.landed!.slice(0, 10)}</code></td>
              <td className="num">{t.sessions}</td><td className="num">{span(time(t.ended_at) - time(t.created_at))}</td><td className="num">{ago(t.ended_at, now)} ago</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Queued({ q, now }: { q: QueuedLanding; now: number }) {
  const { task: t } = q;
  const land = actionsOf(t).find((a) => a.id === "land");
  return (
    <li>
      <StatusBadge status={t.status} text={t.status_text} />
      <Link href={toTask(t.key)} data-row><span className="key">{t.key}</span> {t.title}</Link>
      <span className="muted">{q.reason}</span>
      <span className="grow" />
      {(q.tries ?? 0) > 0 && <span className="warn-text">retried {q.tries} times</span>}
      {(q.killed ?? 0) > 0 && <span className="warn-text">checks killed {q.killed} times</span>}
      <span className="muted">{ago(t.since, now)}</span>
      {t.review && <Link className="button small" href={toReview(t.key)}>Review</Link>}
      {land && <button className={"button small" + (t.primary === land.id ? " primary" : "")} onClick={() => void run(land, t.key)}>{land.name}</button>}
    </li>
  );
}
