// Reactions: the rules of each project by event, and the history of what followed
// events of pull requests, tasks and agents.
import { useState } from "react";
import { useAnswer, useProjects } from "../api/cache";
import { queries } from "../api/queries";
import type { EventRules, Reaction, ReactionEntry } from "../api/schema";
import { ReactedView } from "../components/reacted";
import { plural, useNow } from "../lib/format";
import { Link, to, useParam } from "../router";
import { Choice, Empty, Loading, Mono, ProblemBox } from "../ui/parts";

export default function ReactionsPage() {
  const projects = useProjects();
  const [project, setProject] = useParam("/reactions", "project");
  const [before, setBefore] = useParam("/reactions", "before");
  const shown = project ? [project] : projects;
  const choose = (p: string) => {
    setBefore("");
    setProject(p);
  };
  return (
    <div className="page">
      <div className="page-head">
        <h1>Reactions</h1>
        <span className="grow" />
        {projects.length > 1 && <Choice label="Project" value={project} set={choose} options={projects} all="all" />}
      </div>
      <p className="muted">
        A rule says what follows when something happens to a pull request or an agent. Every project has default rules, and <code>reactions</code> in its coppice.yaml replaces them
        by event: see <code>docs/reactions.md</code>. <Link href="/help">Help</Link>
      </p>
      {shown.length > 0 && <div className="rules-all">{shown.map((p) => <Rules key={p} project={p} />)}</div>}
      <History project={project} before={before} setBefore={setBefore} />
    </div>
  );
}

function Rules({ project }: { project: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="rules-of" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>Rules of <strong>{project}</strong></summary>
      {open && <RuleList project={project} />}
    </details>
  );
}

function RuleList({ project }: { project: string }) {
  const { data, problem, again } = useAnswer(queries.reactionRules(project));
  if (!data) return problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the rules" />;
  return (
    <>
      <p className="muted">
        {data.trust === "unsandboxed" ? "Agents get texts from outside, such as comments and logs of CI" : "Only agents in a sandbox get texts from outside, such as comments and logs of CI"} (<code>trust: {data.trust}</code>).
      </p>
      <ul className="rule-events" aria-label={`Rules of ${project}`}>{(data.events ?? []).map((e) => <EventView key={e.event} e={e} />)}</ul>
    </>
  );
}

function EventView({ e }: { e: EventRules }) {
  return (
    <li data-event={e.event}>
      <div>
        <p><strong>{e.event}</strong> <span className={"tag" + (e.own ? " good" : "")}>{e.own ? "coppice.yaml" : "default"}</span></p>
        <p className="muted">{e.about}</p>
      </div>
      <div>
        <ol>{(e.rules ?? []).map((r, i) => <RuleView key={i} r={r} />)}</ol>
        {e.why && <p className="warn-text">Does nothing: <Mono text={e.why} /></p>}
      </div>
    </li>
  );
}

// limits says when a rule acts, and when a person decides instead.
export function limits(r: Reaction): string {
  return [
    r.threshold && r.threshold !== "0s" ? `after ${r.threshold}` : "",
    r.retries ? `at most ${plural(r.retries, "time")}, then a person decides` : "",
    r.escalate_after && r.escalate_after !== "0s" ? `a person decides after ${r.escalate_after}` : "",
    r.priority && r.do !== "nothing" ? `priority ${r.priority}` : "",
  ].filter(Boolean).join(" · ");
}

function RuleView({ r }: { r: Reaction }) {
  return (
    <li>
      {r.if && <>if <code>{r.if}</code>: </>}<strong>{r.do}</strong>{r.run && <> <code>{r.run}</code></>} <span className="muted">{limits(r)}</span>
      {r.message && <details><summary>Message</summary><pre tabIndex={0} aria-label={`Message of ${r.do}`}>{r.message}</pre></details>}
    </li>
  );
}

function History({ project, before, setBefore }: { project: string; before: string; setBefore: (id: string) => void }) {
  const now = useNow(5000);
  const { data, problem, again } = useAnswer(queries.reactions(project, Number(before) || undefined));
  const list = data?.reactions ?? [];
  return (
    <section className="entry-part" aria-label="History">
      <h2>History</h2>
      {problem && <ProblemBox problem={problem} again={again} />}
      {!data && !problem && <Loading what="the history" />}
      {data && list.length === 0 && (
        <Empty title="No reactions yet">
          <p>Each event that a rule follows appears here, with what was done or why nothing was. Pull requests need <code>land: {"{how: pr}"}</code> in coppice.yaml: see <code>docs/forges.md</code>.</p>
        </Empty>
      )}
      {list.length > 0 && <ol className="reactions">{list.map((e) => <ReactedView key={e.id} r={e} now={now} of={<Of e={e} />} />)}</ol>}
      {(before || data?.next) && (
        <p>
          {before && <button className="button small" onClick={() => setBefore("")}>Newest</button>} {data?.next && <button className="button small" onClick={() => setBefore(String(data.next))}>Older reactions</button>}
        </p>
      )}
    </section>
  );
}

function Of({ e }: { e: ReactionEntry }) {
  if (!e.of) return <span>{e.project}</span>;
  return <Link data-row className="reacted-of" href={to("/tasks/{key}", { key: e.of, tab: "pull" })} title={e.title}><span className="key">{e.of}</span> {e.title}</Link>;
}
