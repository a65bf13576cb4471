// One flow: its input, where it is and why it waits, its plan or verdict, its steps and
// its documents. The page fetches; the components below it only show.
import { useMemo } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import type { FlowDetail, FlowStep } from "../api/schema";
import { ActionBar } from "../components/actionbar";
import { DebateGrid } from "../components/debategrid";
import { FlowDocuments, FlowDocumentText } from "../components/flowdocuments";
import { CycleTable } from "../components/cycletable";
import { FlowGraph } from "../components/flowgraph";
import { FlowPlan, planCommands } from "../components/flowplan";
import { FlowInput } from "../components/flowinput";
import { FlowSteps } from "../components/flowsteps";
import { editDocument } from "../components/commands";
import { usePageCommands } from "../components/keys";
import { Flag, useSeen } from "../components/marks";
import { NoTask } from "../components/notask";
import { StepBar } from "../components/stepbar";
import { offersActions, Why } from "../components/why";
import { milliseconds, roundsOf } from "../lib/flow";
import { ago, clock, plural, span, usd, useNow } from "../lib/format";
import { Markdown } from "../lib/markdown";
import { Link, to, toTask } from "../router";
import { Mono, StatusBadge } from "../ui/parts";

export default function FlowPage({ flowKey }: { flowKey: string }) {
  const flow = useAnswer(queries.flow(flowKey));
  return flow.data ? <FlowView f={flow.data} /> : <NoTask taskKey={flowKey} task={flow} />;
}

function FlowView({ f }: { f: FlowDetail }) {
  const t = f.task;
  const now = useNow();
  useSeen(t);
  const steps = f.steps ?? [];
  const documents = f.documents ?? [];
  const rounds = roundsOf(f);
  const names = documents.map((d) => d.name).join("\n");
  const { approves, drafts } = f;
  usePageCommands(useMemo(() => [...(names ? names.split("\n").map((n) => editDocument(t.key, n)) : []), ...planCommands({ task: { key: t.key }, approves, drafts })], [t.key, names, approves, drafts]));
  return (
    <div className="page flow-page">
      <div className="task-head">
        <p className="crumbs"><Link href="/flows">Flows</Link> / <Link href={to("/flows", { project: t.project })}>{t.project}</Link> / <Link href={toTask(t.key)}>{t.key}</Link></p>
        <div className="page-head">
          <h1><Flag t={t} /> {t.title}</h1>
          <span className="grow" />
          {!offersActions(t) && <ActionBar t={t} names={{ pause: "Pause", "wrap-up": "Wrap up" }} />}
        </div>
        <p className="task-state">
          <StatusBadge status={t.status} text={t.status_text} />
          <span className="muted">{t.ended_at ? `${ago(t.ended_at, now)} ago` : `for ${ago(t.since, now)}`}</span>
          <span className="tag">{f.kind}</span>
          <StepBar done={f.done} steps={f.of} />
          <span>{usd(f.metrics.cost_usd)}{t.budget ? ` of ${String(t.budget)}` : ""}</span>
          {f.paused && <span className="warn-text">paused</span>}
          {f.wrap_up && <span className="warn-text">wraps up</span>}
          {f.until && !t.ended_at && <span title={clock(f.until)}>until {clock(f.until)}</span>}
          {t.landed && <span>landed as <code>{t.landed.slice(0, 10)}</code></span>}
        </p>
        {f.note && f.note !== t.reason && <p className="flow-where">{f.note}</p>}
        <Why t={t} actions={<ActionBar t={t} names={{ pause: "Pause", "wrap-up": "Wrap up" }} />} />
        <Waiting steps={steps.filter((s) => s.waits)} />
      </div>
      {f.verdict && <section className="flow-part flow-verdict"><h2>Verdict</h2><FlowDocumentText flow={t.key} name={f.verdict} /></section>}
      <FlowInput f={f} />
      {f.plan && <FlowPlan f={f} name={f.plan} />}
      {f.result && !f.verdict && <section className="flow-part"><h2>Result</h2><Markdown text={f.result} /></section>}
      {(f.cycles ?? []).length > 0 && <section className="flow-part"><h2>{plural(f.cycles!.length, "cycle")}</h2><CycleTable cycles={f.cycles!} /></section>}
      {rounds.length > 0 && <section className="flow-part"><h2>{plural(rounds.length, "round")}</h2><DebateGrid rounds={rounds} /></section>}
      <section className="flow-part">
        <h2>Steps <small className="muted">worked {span(milliseconds(f.metrics.worked))}, queued {span(milliseconds(f.metrics.queued))}</small></h2>
        <FlowGraph f={f} />
        <FlowSteps f={f} now={now} />
      </section>
      <FlowDocuments f={f} />
    </div>
  );
}

// Waiting lists the open steps that do not work, with the reason and the fix.
function Waiting({ steps }: { steps: FlowStep[] }) {
  if (steps.length === 0) return null;
  return (
    <ul className="flow-waits" aria-label="Steps that wait">
      {steps.map((s) => (
        <li key={s.task}>
          <StatusBadge status={s.status} /> <Link href={toTask(s.task)}>{s.key}</Link>: <Mono text={s.waits!} />{s.fix && <span className="muted"> <Mono text={s.fix} /></span>}
        </li>
      ))}
    </ul>
  );
}
