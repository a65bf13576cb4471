// The agents at work: how much each does, how it goes, and when its account is
// free again.
import { useMemo } from "react";
import { get, post } from "../api/client";
import { useTasks } from "../api/live";
import { invalidate, useQuery } from "../api/query";
import type { LimitList, ProjectList, Task } from "../api/schema";
import { clock, span, time, usd, useNow } from "../lib/format";
import { Link } from "../router";
import { Empty, Mono, ProblemBox } from "../ui/parts";
import { attempt } from "../ui/toast";

interface Agent {
  name: string;
  working: number;
  done: number;
  failed: number;
  all: number;
  cost: number;
}

export function agentsOf(tasks: Task[], named: string[]): Agent[] {
  const out = new Map<string, Agent>();
  const get = (name: string) => {
    const a = out.get(name) ?? { name, working: 0, done: 0, failed: 0, all: 0, cost: 0 };
    out.set(name, a);
    return a;
  };
  named.forEach(get);
  for (const t of tasks) {
    const a = get(t.agent);
    a.all++;
    a.cost += t.usage.cost_usd ?? 0;
    if (t.stage === "session") a.working++;
    if (t.status === "done") a.done++;
    if (t.status === "failed") a.failed++;
  }
  return [...out.values()].filter((a) => a.name !== "").sort((a, b) => b.all - a.all || a.name.localeCompare(b.name));
}

async function clear(agent: string): Promise<void> {
  if (await attempt(`${agent} can be used again`, () => post<LimitList>(`/agents/${encodeURIComponent(agent)}/clear`))) invalidate((n) => n === "limits" || n === "status");
}

const MOST = 8; // keys that are named

function Waiting({ keys }: { keys: string[] }) {
  if (keys.length === 0) return <p className="muted">No task waits for it.</p>;
  return (
    <p>
      {keys.length === 1 ? "Waits for it: " : `${keys.length} wait for it: `}
      {keys.slice(0, MOST).map((k, i) => <span key={k}>{i > 0 && ", "}<Link href={"/tasks/" + k}>{k}</Link></span>)}
      {keys.length > MOST && " and others"}
    </p>
  );
}

export default function AgentsPage() {
  const tasks = useTasks();
  const now = useNow(1000);
  const limited = useQuery("limits", () => get<LimitList>("/agents/limits"));
  const projects = useQuery("projects", () => get<ProjectList>("/projects"));
  const agents = useMemo(() => {
    const named = (projects.data?.projects ?? []).flatMap((p) => [p.policy.agent.use, ...(p.policy.agent.fallback ?? []), ...Object.values(p.policy.agent.roles ?? {}), ...Object.keys(p.policy.agents ?? {})]);
    return agentsOf(tasks, [...named, ...(limited.data?.limits ?? []).map((l) => l.agent)].filter(Boolean));
  }, [tasks, projects.data, limited.data]);
  const limits = new Map((limited.data?.limits ?? []).map((l) => [l.agent, l]));
  return (
    <div className="page">
      <div className="page-head"><h1>Agents</h1></div>
      {limited.problem && <ProblemBox problem={limited.problem} again={limited.again} />}
      {agents.length === 0 ? <Empty title="No agent in use"><p>Name one in the project's <code>coppice.yaml</code>, under <code>agent</code>.</p></Empty> : (
        <div className="agents">
          {agents.map((a) => {
            const limit = limits.get(a.name);
            const until = time(limit?.until);
            return (
              <section key={a.name} className={"agent" + (limit ? " limited" : "")}>
                <h2>{a.name}</h2>
                {limit ? (
                  <>
                    <p className="warn-text"><span className="problem-code">{limit.class}</span> <Mono text={limit.text || "its account must wait"} /> · {until > now ? `free again in ${span(until - now)}, at ${clock(limit.until)}` : "until a person says otherwise"}</p>
                    <p><button className="button small" onClick={() => void clear(a.name)}>It can be used again</button></p>
                    <Waiting keys={limit.tasks ?? []} />
                  </>
                ) : <p className="muted">{a.working > 0 ? `${a.working} at work` : "no limit known"}</p>}
                <dl className="tiles small">
                  <div><dt>Tasks</dt><dd><Link href={`/?agent=${encodeURIComponent(a.name)}`}>{a.all}</Link></dd></div>
                  <div><dt>Done</dt><dd>{a.done}</dd></div>
                  <div><dt>Failed</dt><dd>{a.failed}</dd></div>
                  <div><dt>Cost</dt><dd>{usd(a.cost)}</dd></div>
                </dl>
              </section>
            );
          })}
        </div>
      )}
      <p className="muted">Which CLIs are installed, in which version, and how to get others: <code>coppice doctor</code>.</p>
    </div>
  );
}
