// The locks of a project: which session holds what, which sessions wait, and cycles.
import { useMemo } from "react";
import { useAnswer, useProjects } from "../api/cache";
import { queries } from "../api/queries";
import type { Lock, LockCycle, LockWait } from "../api/schema";
import { releaseLock } from "../components/commands";
import { usePageCommands } from "../components/keys";
import { ago, clock, plural, span, time, useNow } from "../lib/format";
import { Link, toTask, useParam } from "../router";
import { Choice, Empty, Loading, Mono, ProblemBox } from "../ui/parts";

const none: Lock[] = [];

export default function LocksPage() {
  const names = useProjects();
  const [chosen, setProject] = useParam("/locks", "project");
  const project = names.includes(chosen) ? chosen : (names[0] ?? "");
  return (
    <div className="page">
      <div className="page-head">
        <h1>Locks</h1>
        <span className="grow" />
        {names.length > 1 && <Choice label="Project" value={project} set={setProject} options={names} />}
      </div>
      {project ? <LocksOf project={project} /> : <Nothing />}
    </div>
  );
}

const Nothing = () => (
  <Empty title="No session has locked a file"><p>Agents lock files with the tool <code>lock_files</code>, so that no other session edits them at the same time. A lock ends with its session.</p></Empty>
);

function LocksOf({ project }: { project: string }) {
  const { data, problem, again } = useAnswer(queries.locks(project));
  const held = data?.held ?? none;
  usePageCommands(useMemo(() => held.map((l) => releaseLock(project, l)), [project, held]));
  if (!data) return problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the locks" />;
  const waiting = data.waiting ?? [];
  const cycles = data.cycles ?? [];
  return (
    <>
      {problem && <ProblemBox problem={problem} again={again} />}
      {cycles.map((c) => <Cycle key={c.found_at + (c.sessions ?? []).join(" ")} c={c} />)}
      {held.length === 0 ? <Nothing /> : <Held project={project} list={held} />}
      {waiting.length > 0 && (
        <>
          <h2>{plural(waiting.length, "waiting request")}</h2>
          <ul className="lock-waits" aria-label="Waiting requests">{waiting.map((w) => <Waiting key={w.session + w.since} w={w} />)}</ul>
        </>
      )}
    </>
  );
}

function Held({ project, list }: { project: string; list: Lock[] }) {
  const now = useNow(1000);
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Locks">
      <table className="data">
        <thead><tr><th>Name</th><th>Session</th><th>State</th><th>Reason</th><th className="num">Held for</th><th className="num">Time left</th><th /></tr></thead>
        <tbody>
          {list.map((l) => (
            <tr key={l.name + l.session} data-lock={l.name}>
              <td><Mono text={l.name} /></td>
              <td><Link href={toTask(l.task)} data-row>{l.session}</Link></td>
              <td title={l.parked ? "The session can only wait, so its locks are not renewed" : undefined}>{l.parked ? "parked" : l.state}</td>
              <td>{l.reason}</td>
              <td className="num" title={clock(l.acquired_at)}>{ago(l.acquired_at, now)}</td>
              <td className="num" title={clock(l.expires_at)}>{span(Math.max(0, time(l.expires_at) - now))}</td>
              <td><button className="button small" aria-label={releaseLock(project, l).name} onClick={releaseLock(project, l).run}>Release</button></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Waiting({ w }: { w: LockWait }) {
  const now = useNow(1000);
  return (
    <li>
      <Link href={toTask(w.task)}>{w.session}</Link> waits for <Mono text={(w.names ?? []).join(", ")} /> since {ago(w.since, now)}, at most {span(Math.max(0, time(w.until) - now))} longer{w.reason && `: ${w.reason}`}
      {(w.blocked ?? []).map((b) => <div key={b.name} className="muted">{b.session} {b.waits ? "waits for" : "holds"} {b.name}{b.waits && " since earlier"}</div>)}
    </li>
  );
}

function Cycle({ c }: { c: LockCycle }) {
  const sessions = c.sessions ?? [];
  return (
    <div className="banner" role="status" data-cycle>
      <strong>A cycle of sessions</strong> at {clock(c.found_at)}: {[...sessions, ...sessions.slice(0, 1)].join(" → ")}. {c.hint}.
    </div>
  );
}
