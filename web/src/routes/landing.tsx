// The landing queue: what is in it, why something waits, what has landed.
import { useMemo } from "react";
import { get } from "../api/client";
import { useTasks } from "../api/live";
import { useQuery } from "../api/query";
import type { Landing, Task, TaskDetail } from "../api/schema";
import { actions } from "../components/actions";
import { ago, span, time, useNow } from "../lib/format";
import { Link } from "../router";
import { Empty, StatusBadge } from "../ui/parts";

const isLanding = (t: Task) => !["waiting", "queued", "session", "ended"].includes(t.stage);

export default function LandingPage() {
  const tasks = useTasks();
  const now = useNow(5000);
  const way = useMemo(() => tasks.filter(isLanding).sort((a, b) => a.since.localeCompare(b.since)), [tasks]);
  const landed = useMemo(() => tasks.filter((t) => t.landed).sort((a, b) => (b.ended_at ?? "").localeCompare(a.ended_at ?? "")).slice(0, 50), [tasks]);
  const keys = way.map((t) => t.key).join(" ");
  const details = useQuery("landings " + keys, () => Promise.all(way.map((t) => get<TaskDetail>("/tasks/" + t.key))));
  const newest = new Map((details.data ?? []).map((d) => [d.key, d.landings?.at(-1)]));
  return (
    <div className="page" data-queue={keys}>
      <div className="page-head"><h1>Landing</h1><span className="muted">{way.length} in the queue</span></div>
      {way.length === 0 ? <Empty title="Nothing is landing"><p>When a session ends, its work is merged with the base, checked there, and lands in order.</p></Empty> : (
        <ol className="queue">{way.map((t) => <Way key={t.key} t={t} l={newest.get(t.key)} now={now} />)}</ol>
      )}
      <h2>Landed</h2>
      {landed.length === 0 ? <p className="muted">Nothing yet.</p> : (
        <div className="scroll-x" tabIndex={0} role="region" aria-label="Landed tasks">
          <table className="data">
            <thead><tr><th>Task</th><th>Title</th><th>Commit</th><th className="num">Sessions</th><th className="num">Took</th><th className="num">Landed</th></tr></thead>
            <tbody>
              {landed.map((t) => (
                <tr key={t.key}>
                  <td><Link href={"/tasks/" + t.key} data-row>{t.key}</Link></td><td>{t.title}</td><td><code>{t.landed!.slice(0, 10)}</code></td>
                  <td className="num">{t.sessions}</td><td className="num">{span(time(t.ended_at) - time(t.created_at))}</td><td className="num">{ago(t.ended_at, now)} ago</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function why(t: Task, l: Landing | undefined): string {
  if (t.status === "needs you") return t.reason ?? "waiting for your approval";
  if (t.stage === "landing" && t.reason) return t.reason;
  if (l?.waits) return l.waits;
  if (t.stage === "checking") return l?.tree ? "its checks are running on the merged tree" : "merging with the base";
  if (l?.pushed) return "pushed; the base moves next";
  return l?.green ? "checks passed; the base moves next" : "waiting for its turn";
}

function Way({ t, l, now }: { t: Task; l?: Landing; now: number }) {
  const land = actions.find((a) => a.id === "land")!;
  return (
    <li>
      <StatusBadge status={t.status} />
      <Link href={"/tasks/" + t.key} data-row><span className="key">{t.key}</span> {t.title}</Link>
      <span className="muted">{why(t, l)}</span>
      <span className="grow" />
      {(l?.tries ?? 0) > 0 && <span className="warn-text">retried {l!.tries} times</span>}
      {(l?.killed ?? 0) > 0 && <span className="warn-text">checks killed {l!.killed} times</span>}
      <span className="muted">{ago(t.since, now)}</span>
      {land.fits(t) && <button className="button small primary" onClick={() => void land.run(t.key, "")}>Land</button>}
    </li>
  );
}
