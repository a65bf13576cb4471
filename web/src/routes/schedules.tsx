// The schedules: when each runs next, how it ran last, and why it is paused.
import { useMemo, useState } from "react";
import { useAnswer, useProjects } from "../api/cache";
import { queries } from "../api/queries";
import type { Schedule } from "../api/schema";
import { newSchedule, scheduleCommands } from "../components/commands";
import { usePageCommands } from "../components/keys";
import { ago, clock, cost, plural, span, time, useNow } from "../lib/format";
import { Link, toFlow, toTask, useParam } from "../router";
import { Choice, Empty, Loading, Mono, ProblemBox, StatusBadge } from "../ui/parts";

const none: Schedule[] = [];

export default function SchedulesPage() {
  const projects = useProjects();
  const [project, setProject] = useParam("/schedules", "project");
  const { data, problem, again } = useAnswer(queries.schedules(project));
  const list = data?.schedules ?? none;
  usePageCommands(useMemo(() => list.flatMap((s) => Object.values(scheduleCommands(s))), [list]));
  return (
    <div className="page">
      <div className="page-head">
        <h1>Schedules</h1>
        <span className="grow" />
        {projects.length > 1 && <Choice label="Project" value={project} set={setProject} options={projects} all="all" />}
        <button className="button primary" onClick={newSchedule(project).run}>New schedule</button>
      </div>
      {problem && <ProblemBox problem={problem} again={again} />}
      {!data && !problem && <Loading what="the schedules" />}
      {data && list.length === 0 && <Empty title="No schedules yet"><p>A schedule creates a task or a flow again and again, by an interval or a cron line.</p></Empty>}
      {list.length > 0 && <ul className="schedules" aria-label="Schedules">{list.map((s) => <ScheduleView key={s.project + " " + s.name} s={s} />)}</ul>}
    </div>
  );
}

function ScheduleView({ s }: { s: Schedule }) {
  const now = useNow();
  const [open, setOpen] = useState(false);
  const { run, pause, remove } = scheduleCommands(s);
  const next = s.next?.[0];
  return (
    <li className={"schedule t-" + s.state} data-schedule={s.name}>
      <div className="key-head">
        <strong>{s.name}</strong> <span className="muted">{s.project}</span>
        <span className={"tag" + (s.state === "paused" ? " bad" : s.state === "running" ? " good" : "")}>{s.state}</span>
        <code>{s.when}</code>{s.always && <span className="muted">also after a failure</span>}
        <span className="grow" />
        <button className="button small" disabled={!s.can?.includes("run")} title={s.open ? `${s.open} has not ended` : "Start a run now"} aria-label={run.name} onClick={run.run}>Run</button>
        <button className="button small" aria-label={pause.name} onClick={pause.run}>{pause.name.split(" ")[0]}</button>
        <button className="button small danger" aria-label={remove.name} onClick={remove.run}>Remove…</button>
      </div>
      <p className="schedule-title">{s.title}{s.flow && <span className="tag">{s.flow}</span>}</p>
      {s.why && <p className="warn-text">Paused: <Mono text={s.why} /></p>}
      {s.problem && <p className="bad-text">The last run could not be created: <Mono text={s.problem} /></p>}
      <p className="muted">
        {next && <>Next <span title={(s.next ?? []).map((t) => clock(t)).join("\n")}>{clock(next)}, in {span(Math.max(0, time(next) - now))}</span> · </>}
        {s.last ? <>last <Link data-row href={(s.flow ? toFlow : toTask)(s.last)}>{s.last}</Link> {ago(s.last_at, now)} ago · </> : "never ran · "}
        {plural(s.runs, "run")}
      </p>
      {s.runs > 0 && (
        <details onToggle={(e) => setOpen(e.currentTarget.open)}>
          <summary>History</summary>
          {open && <Runs s={s} now={now} />}
        </details>
      )}
    </li>
  );
}

function Runs({ s, now }: { s: Schedule; now: number }) {
  const { data, problem, again } = useAnswer(queries.schedule(s.project, s.name));
  if (!data) return problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the runs" />;
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label={`Runs of ${s.name}`}>
      <table className="data">
        <thead><tr><th>Task</th><th>Status</th><th>Reason</th><th className="num">Cost</th><th className="num">Took</th><th className="num">Started</th></tr></thead>
        <tbody>
          {(data.history ?? []).map((t) => (
            <tr key={t.key}>
              <td><Link href={(t.flow ? toFlow : toTask)(t.key)}>{t.key}</Link></td>
              <td><StatusBadge status={t.status} text={t.status_text} /></td>
              <td className="wide">{t.reason}</td>
              <td className="num">{cost(t.usage)}</td>
              <td className="num">{span((t.ended_at ? time(t.ended_at) : now) - time(t.created_at))}</td>
              <td className="num" title={clock(t.created_at)}>{ago(t.created_at, now)} ago</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
