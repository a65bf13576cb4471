// One task: its description, its status, its sessions and its changes. The page
// fetches; the components below it only show.
import { lazy, Suspense, type ReactNode } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import { useLiveRun } from "../api/run";
import type { TaskDetail } from "../api/schema";
import { ActionBar } from "../components/actionbar";
import { edit } from "../components/actions";
import { Answer } from "../components/answer";
import { Changes } from "../components/changes";
import { checkCount, Checks } from "../components/checks";
import { Cost } from "../components/cost";
import { Events } from "../components/events";
import { History } from "../components/history";
import { TaskImages } from "../components/images";
import { Flag, useSeen } from "../components/marks";
import { NoTask } from "../components/notask";
import { numberOf, PullMarks } from "../components/pullmark";
import { hasPreview, Preview, runs } from "../components/preview";
import { RunningLine } from "../components/runningline";
import { Sessions } from "../components/sessions";
import { TaskFacts } from "../components/taskfacts";
import { judged, stepCount, Verdicts } from "../components/verdicts";
import { offersActions, Why } from "../components/why";
import { Markdown } from "../lib/markdown";
import { ago, cost, useNow } from "../lib/format";
import { Link, to, toFlow, toReview, useParam, type Param } from "../router";
import { Loading, StatusBadge, Tabs } from "../ui/parts";

const PullTab = lazy(() => import("../components/pull"));

export function TaskPage({ taskKey }: { taskKey: string }) {
  const task = useAnswer(queries.task(taskKey));
  return task.data ? <TaskView t={task.data} /> : <NoTask taskKey={taskKey} task={task} />;
}

type Tab = Param<"/tasks/{key}", "tab">;

function TaskView({ t }: { t: TaskDetail }) {
  const asks = t.wants === "answer";
  const [tab, setTab] = useParam("/tasks/{key}", "tab", t.answer ? "answer" : "sessions");
  const now = useNow();
  useSeen(t);
  const checks = useLiveRun("/api/v1/tasks/{key}/checks/live", t.key, t.running !== undefined, t);
  const app = useLiveRun("/api/v1/tasks/{key}/preview/log", t.key, tab === "preview" && runs(t), t);
  const tabs: { id: Tab; name: ReactNode }[] = [
    ...(asks || t.answer ? [{ id: "answer" as const, name: "Answer" }] : []),
    { id: "sessions", name: <>Sessions <small>{t.sessions}</small></> },
    ...((t.steps?.length ?? 0) > 0 || (t.verifiers?.length ?? 0) > 0 ? [{ id: "steps" as const, name: <>Steps <small>{stepCount(t)}</small></> }] : []),
    ...(asks ? [] : [
      { id: "changes" as const, name: "Changes" },
      { id: "checks" as const, name: <>Checks <small>{checkCount(t)}</small></> },
      ...(t.pr || t.reactions?.length ? [{ id: "pull" as const, name: t.pr ? <>Pull request {t.pr.number ? <small>{numberOf(t.pr)}</small> : null}</> : "Reactions" }] : []),
      ...(hasPreview(t) ? [{ id: "preview" as const, name: <>Preview {runs(t) && <small>{t.app}</small>}</> }] : []),
    ]),
    { id: "timeline", name: "Timeline" },
    { id: "cost", name: <>Cost <small>{cost(t.usage)}</small></> },
    { id: "events", name: "Events" },
  ];
  return (
    <div className={"page task-page" + (tab === "sessions" ? " fill" : "")}>
      <div className="task-head">
        <p className="crumbs"><Link href={to("/", { project: t.project })}>{t.project}</Link> / {t.step && <><Link href={toFlow(t.step.flow)}>{t.step.flow}</Link> / </>}{t.key}</p>
        <div className="page-head">
          <h1><Flag t={t} /> {t.title}</h1>
          <span className="grow" />
          {!offersActions(t) && <ActionBar t={t} />}
        </div>
        <p className="task-state">
          <StatusBadge status={t.status} text={t.status_text} />
          <PullMarks t={t} className="task-pull" />
          <span className="muted">{t.ended_at ? `${ago(t.ended_at, now)} ago` : `for ${ago(t.since, now)}`}</span>
          <span>{t.agent}{t.model ? ` · ${t.model}` : ""}</span>
          {t.round > 0 && <span>restarted {t.round === 1 ? "once" : `${t.round} times`}</span>}
          {t.landed && <span>landed as <code>{t.landed.slice(0, 10)}</code></span>}
        </p>
        <Why t={t} log={tab !== "checks"} />
      </div>
      <div className="task-body">
        <div className="task-main">
          <div className="tabs-row">
            <Tabs label="Task" tabs={tabs} value={tab} onChange={setTab} />
            {t.flow && <Link className="button small primary" href={toFlow(t.key)}>Show the flow</Link>}
            {t.review && <Link className={"button small" + (t.review === "wanted" ? " primary" : "")} href={toReview(t.key)}>Review</Link>}
          </div>
          <div role="tabpanel" aria-label={tab} className="panel">
            {tab === "answer" && <Answer t={t} />}
            {tab === "sessions" && <Sessions t={t} after={<RunningLine t={t} run={checks} />} />}
            {tab === "steps" && <Verdicts t={t} />}
            {tab === "changes" && <Changes t={t} />}
            {tab === "checks" && <Checks t={t} run={checks} />}
            {tab === "pull" && <Suspense fallback={<Loading what="the pull request" />}><PullTab t={t} /></Suspense>}
            {tab === "preview" && <Preview t={t} run={app} />}
            {tab === "timeline" && <History t={t} />}
            {tab === "cost" && <Cost t={t} />}
            {tab === "events" && <Events task={t.key} />}
          </div>
        </div>
        <aside className="task-side">
          {t.body && <section><h2>Description</h2><Markdown text={t.body} /></section>}
          <TaskImages images={t.images ?? []} project={t.project} agent={t.agent} />
          {(t.steps?.length ?? 0) > 0 && <Steps t={t} />}
          <TaskFacts t={t} onPriority={(priority) => void edit(t.key, { priority }, `${t.key} has priority ${priority}`)}
            onBudget={(budget) => void edit(t.key, { budget }, `${t.key} has the budget ${budget}`)}
            onLimits={(change) => void edit(t.key, change, `${t.key} has new limits`)} />
        </aside>
      </div>
    </div>
  );
}

function Steps({ t }: { t: TaskDetail }) {
  const seen = judged(t)?.verdict?.steps ?? [];
  const mark = (n: number) => {
    const s = seen.find((v) => v.n === n);
    return s ? (s.pass ? <span className="add-text">✓</span> : <span className="bad-text">✗</span>) : null;
  };
  return <section><h2>Steps</h2><ol className="steps">{t.steps!.map((s, i) => <li key={i}>{s} {mark(i + 1)}</li>)}</ol></section>;
}
