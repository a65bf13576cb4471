// Issues of the trackers of a project: what Coppice reads, which issues wait to become
// tasks, which texts wait for a person, and the tasks of issues.
import { useId, useMemo, useState, type FormEvent, type ReactNode } from "react";
import { useAnswer, useProjects } from "../api/cache";
import { queries } from "../api/queries";
import type { Issue, IssueSource } from "../api/schema";
import { editTrackers, importIssue, issueCommands, newTracker, readIssues, type Command } from "../components/commands";
import { DiffLines } from "../components/difflines";
import { usePageCommands } from "../components/keys";
import { folded, lineDiff } from "../lib/diff";
import { ago, clock, plural, span, time, useNow } from "../lib/format";
import { Link, toTask, useParam } from "../router";
import { Choice, Empty, Loading, Mono, Outside, ProblemBox, StatusBadge } from "../ui/parts";

const none: Issue[] = [];

export default function IssuesPage() {
  const names = useProjects();
  const [chosen, setProject] = useParam("/issues", "project");
  const [show, setShow] = useParam("/issues", "show");
  const [before, setBefore] = useParam("/issues", "before");
  const project = names.includes(chosen) ? chosen : (names[0] ?? "");
  const first = <T,>(set: (v: T) => void) => (v: T) => {
    setBefore("");
    set(v);
  };
  return (
    <div className="page">
      <div className="page-head">
        <h1>Issues</h1>
        <span className="grow" />
        <Choice label="Show" value={show} set={first(setShow)} options={["open", "all"]} />
        {names.length > 1 && <Choice label="Project" value={project} set={first(setProject)} options={names} />}
      </div>
      {project ? <IssuesOf key={project} project={project} ended={show === "all"} before={before} setBefore={setBefore} /> : <Nothing project="" />}
    </div>
  );
}

const Nothing = ({ project }: { project: string }) => (
  <Empty title={project ? `${project} has no tracker` : "No project yet"}>
    <p>Issues of GitHub, GitLab, Gitea and Linear become tasks. Add <code>{"tracker: {}"}</code> to coppice.yaml for the issues of the project's forge: see <code>docs/trackers.md</code>.</p>
    {project && <button className="button" onClick={newTracker(project).run}>Add a tracker…</button>}
  </Empty>
);

function IssuesOf({ project, ended, before, setBefore }: { project: string; ended: boolean; before: string; setBefore: (id: string) => void }) {
  const { data, problem, again } = useAnswer(queries.issues(project, ended, Number(before) || undefined));
  const list = data?.issues ?? none;
  usePageCommands(useMemo(() => [readIssues(project), ...list.flatMap((i) => Object.values<Command>(issueCommands(project, i)))], [project, list]));
  if (!data) return problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the issues" />;
  const sources = data.sources ?? [];
  const waiting = list.filter((i) => !i.status);
  const held = list.filter((i) => i.held);
  const tasks = list.filter((i) => i.status);
  return (
    <>
      {problem && <ProblemBox problem={problem} again={again} />}
      {sources.length === 0 ? <Nothing project={project} /> : <Sources project={project} list={sources} />}
      {waiting.length > 0 && <Part title="Waiting" head={["Why it waits", "Actions"]} list={waiting} row={(i) => <><td>{i.why}</td><td><Run c={issueCommands(project, i).import} text="Import" /></td></>} />}
      {held.length > 0 && (
        <section className="entry-part" aria-label="Changed texts">
          <h2>Changed texts</h2>
          <p className="muted">Somebody whose edits do not count changed these issues. Their tasks have the texts of before until you accept.</p>
          {held.map((i) => <Held key={i.id} project={project} i={i} />)}
        </section>
      )}
      {tasks.length > 0 && (
        <Part title="Tasks of issues" head={["Status", "Task", "Note", "Actions"]} list={tasks} row={(i) => (
          <>
            <td>{i.status && <StatusBadge status={i.status} />}</td>
            <td>{i.task ? <Link data-row href={toTask(i.task)}>{i.task}</Link> : <span className="muted">removed</span>}</td>
            <td>{i.why}{i.problem && <div className="bad-text">{i.problem}</div>}</td>
            <td><Run c={issueCommands(project, i).import} text="Import" /></td>
          </>
        )} />
      )}
      {sources.length > 0 && list.length === 0 && <Empty title={ended ? "No issues yet" : "No open issues"}><p>An issue appears here when a tracker chooses it, or when you import it.</p></Empty>}
      {(before || data.next) && (
        <p>
          {before && <button className="button small" onClick={() => setBefore("")}>Newest</button>} {data.next && <button className="button small" onClick={() => setBefore(String(data.next))}>Older issues</button>}
        </p>
      )}
    </>
  );
}

// Run is the button of a command that the server offers.
function Run({ c, text }: { c?: Command; text: string }) {
  return c ? <button className="button small" aria-label={c.name} onClick={c.run}>{text}</button> : null;
}

function Sources({ project, list }: { project: string; list: IssueSource[] }) {
  const now = useNow(5000);
  return (
    <section className="entry-part" aria-label="Trackers">
      <ul className="keys-list">
        {list.map((s) => (
          <li key={s.name} data-source={s.name}>
            <div className="key-head">
              <strong>{s.name}</strong>{s.kind !== s.name && <span className="tag">{s.kind === "auto" ? "the project's forge" : s.kind}</span>}{s.manual && <span className="tag">only people import issues</span>}
            </div>
            <p>{s.text || `${s.active} of ${plural(s.most, "task")} are active`}</p>
            <p className="muted">
              {s.read_at ? <span title={clock(s.read_at)}>read {ago(s.read_at, now)} ago</span> : "not read yet"}
              {!s.manual && s.read_at && ` · ${plural(s.matching, "open issue")} matched`}
              {s.next_at && time(s.next_at) > now && ` · next read in ${span(time(s.next_at) - now)}`}
            </p>
            {s.failure && <p className="bad-text">It cannot be read: <Mono text={s.failure.text} />{s.failure.fix && <><br />Fix: <Mono text={s.failure.fix} /></>}</p>}
            {s.problem && <p className="warn-text">Its issues do not become tasks: <Mono text={s.problem} /></p>}
          </li>
        ))}
      </ul>
      <div className="toolbar">
        <ImportForm project={project} sources={list} />
        <button className="button" onClick={readIssues(project).run}>Read now</button>
        <button className="button" onClick={editTrackers(project).run}>Settings…</button>
      </div>
    </section>
  );
}

function ImportForm({ project, sources }: { project: string; sources: IssueSource[] }) {
  const id = useId();
  const [issue, setIssue] = useState("");
  const [tracker, setTracker] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = (e: FormEvent) => {
    e.preventDefault();
    if (!issue.trim()) return;
    setBusy(true);
    void importIssue(project, issue.trim(), tracker).then((done) => {
      setBusy(false);
      if (done) setIssue("");
    });
  };
  return (
    <form className="toolbar" onSubmit={submit} aria-label="Import an issue">
      <label className="sr-only" htmlFor={id}>Number or address of an issue</label>
      <input id={id} value={issue} placeholder="123 or an address" maxLength={500} autoComplete="off" spellCheck={false} onChange={(e) => setIssue(e.target.value)} />
      {sources.length > 1 && <Choice label="Tracker" value={tracker} set={setTracker} options={sources.map((s) => s.name)} all="any" />}
      <button className="button" disabled={busy}>Import</button>
    </form>
  );
}

function Part({ title, head, list, row }: { title: string; head: string[]; list: Issue[]; row: (i: Issue) => ReactNode }) {
  return (
    <section className="entry-part" aria-label={title}>
      <h2>{title}</h2>
      <div className="scroll-x" tabIndex={0} role="region" aria-label={`Table: ${title}`}>
        <table className="data issues">
          <thead><tr><th>Issue</th><th>Title</th>{head.map((h) => <th key={h}>{h}</th>)}</tr></thead>
          <tbody>
            {list.map((i) => (
              <tr key={i.id} data-issue={i.issue}>
                <td><Outside href={i.url} title={`of the tracker ${i.tracker}`}>{i.name}</Outside></td>
                <td>{i.title}{i.author && <div className="muted">by {i.author}</div>}</td>
                {row(i)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Held({ project, i }: { project: string; i: Issue }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="entry" data-held={i.issue} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary><strong>{i.name}</strong> {i.title}</summary>
      {open && <Texts project={project} i={i} />}
      <p className="entry-actions"><Run c={issueCommands(project, i).accept} text="Accept" />{i.task && <> the change for <Link href={toTask(i.task)}>{i.task}</Link></>}</p>
    </details>
  );
}

function Texts({ project, i }: { project: string; i: Issue }) {
  const { data, problem, again } = useAnswer(queries.heldIssue(project, i.tracker, i.issue));
  if (!data) return problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the texts" />;
  const whole = (t: { title: string; text: string }) => `${t.title}\n\n${t.text.trim()}`;
  return <section className="entry-cause" aria-label={`The change of ${i.name}`}><DiffLines lines={folded(lineDiff(whole(data.task), whole(data.tracker)))} /></section>;
}
