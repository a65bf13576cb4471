// The agents: which are installed, in which version, whether the user is logged
// in, what each did, and when its limit ends.
import { useMemo } from "react";
import { useAnswer, useProjects } from "../api/cache";
import { queries } from "../api/queries";
import type { Agent, AgentLimit } from "../api/schema";
import { clearLimit, refreshAgents } from "../components/commands";
import { usePageCommands } from "../components/keys";
import { clock, span, time, useNow } from "../lib/format";
import { Link, to, toTask, useParam } from "../router";
import { Choice, Copy, Empty, Loading, Mono, ProblemBox } from "../ui/parts";

const none: Agent[] = [];
const MOST = 8; // keys that are named

function Waiting({ keys }: { keys: string[] }) {
  if (keys.length === 0) return null;
  return (
    <p>
      {keys.length === 1 ? "Waiting for it: " : `${keys.length} tasks are waiting for it: `}
      {keys.slice(0, MOST).map((k, i) => <span key={k}>{i > 0 && ", "}<Link href={toTask(k)}>{k}</Link></span>)}
      {keys.length > MOST && " and others"}
    </p>
  );
}

export default function AgentsPage() {
  const names = useProjects();
  const [chosen, setProject] = useParam("/agents", "project");
  const project = names.includes(chosen) ? chosen : (names[0] ?? "");
  const list = useAnswer(queries.agents(project));
  const all = list.data?.agents ?? none;
  usePageCommands(useMemo(() => all.flatMap((a) => [a.limit, ...(a.model_limits ?? [])]).flatMap((l) => (l ? [clearLimit(l.agent)] : [])), [all]));
  const here = all.filter((a) => a.shown);
  const others = all.filter((a) => !a.shown);
  return (
    <div className="page">
      <div className="page-head">
        <h1>Agents</h1>
        {list.data && <span className="muted">last checked {clock(list.data.at)}</span>}
        <span className="grow" />
        {names.length > 1 && <Choice label="Project" value={project} set={setProject} options={names} />}
        <button className="button small" onClick={() => refreshAgents(project)}>Refresh</button>
      </div>
      {list.problem && <ProblemBox problem={list.problem} again={list.again} />}
      {!list.data && !list.problem && <Loading what="the agents" />}
      {list.data && here.length === 0 && <Empty title="No agent is installed"><p>Install one of those below, then refresh.</p></Empty>}
      <div className="agents">{here.map((a) => <AgentView key={a.name} a={a} />)}</div>
      {others.length > 0 && (
        <>
          <h2>Not installed</h2>
          <div className="scroll-x" tabIndex={0} role="region" aria-label="Agents that are not installed">
            <table className="data"><thead><tr><th>Agent</th><th>How to install it</th><th>Tested</th></tr></thead>
              <tbody>{others.map((a) => <tr key={a.name}><td>{a.name}</td><td>{a.install ? <Mono text={a.install} /> : "see its vendor"}</td><td>{a.unproven ? <Unproven /> : a.tested}</td></tr>)}</tbody>
            </table>
          </div>
        </>
      )}
    </div>
  );
}

function Login({ a }: { a: Agent }) {
  if (!a.login) return <span className="tag">needs no login</span>;
  if (a.login === "yes") return <span className="tag good" title={a.login_by ? `by ${a.login_by}` : undefined}>logged in</span>;
  if (a.login === "no") return <span className="tag bad">not logged in</span>;
  if (a.settings) return <span className="tag" title={`${a.settings} names a provider, so it can work without a login`}>uses its own settings</span>;
  return <span className="tag" title="The agent cannot report it">login unknown</span>;
}

const Unproven = () => <span className="tag" title="No test has run its profile with the real CLI">unproven</span>;

function Limited({ limit, model, waiting }: { limit: AgentLimit; model?: string; waiting: string[] }) {
  const now = useNow(1000);
  return (
    <>
      <p className="warn-text">{model && <>Model <Mono text={model} />: </>}<span className="problem-code">{limit.class}</span> <Mono text={limit.text || "its account is limited"} /> · {limit.until ? `available in ${span(time(limit.until) - now)}, at ${clock(limit.until)}` : "until you clear it"}</p>
      <p><button className="button small" onClick={clearLimit(limit.agent).run}>{model ? `Clear the limit of ${model}` : "Clear the limit"}</button></p>
      <Waiting keys={waiting} />
    </>
  );
}

function AgentView({ a }: { a: Agent }) {
  const models = a.model_limits ?? [];
  return (
    <section className={"agent" + (a.limit || models.length > 0 ? " limited" : "")}>
      <h2>
        {a.name} {a.installed ? <small className="muted">{a.version}</small> : <span className="tag bad">not installed</span>}
        {a.unproven && <Unproven />}
        <span className="grow" />
        {a.installed && <Login a={a} />}
      </h2>
      {a.limit && <Limited limit={a.limit} waiting={a.waiting ?? []} />}
      {!a.limit && (a.tasks.running > 0 || models.length === 0) && <p className="muted">{a.tasks.running > 0 ? `${a.tasks.running} running` : "no rate limit"}</p>}
      {models.map((l) => <Limited key={l.agent} limit={l} model={l.model} waiting={l.tasks ?? []} />)}
      {a.problem && <p className="bad-text"><Mono text={a.problem} /></p>}
      {(a.warnings ?? []).map((w) => <p key={w} className="warn-text"><Mono text={w} /></p>)}
      {!a.installed && a.install && <Copy text={a.install} label={`Copy how to install ${a.name}`} />}
      <dl className="tiles small">
        <div><dt>Tasks</dt><dd><Link href={to("/", { agent: a.name })}>{a.tasks.all}</Link></dd></div>
        <div><dt>Done</dt><dd>{a.tasks.done}</dd></div>
        <div><dt>Failed</dt><dd>{a.tasks.failed}</dd></div>
        <div><dt>Cost</dt><dd><Link href={to("/usage", { by: "agent" })}>Usage</Link></dd></div>
      </dl>
      {(a.can?.length ?? 0) > 0 && <p className="abilities">{a.can!.map((c) => <span key={c} className="tag">{c}</span>)}</p>}
      {a.path && <p className="muted path"><code>{a.path}</code>{a.protocol && ` · protocol: ${a.protocol}`}{a.own && " · defined by the project"}</p>}
    </section>
  );
}
