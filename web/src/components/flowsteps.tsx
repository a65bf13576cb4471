// The steps of a flow by cycle, loop or round: state, agent, time, cost and result.
import type { FlowDetail, FlowStep } from "../api/schema";
import { first, groupsOf, milliseconds } from "../lib/flow";
import { clock, plural, span, time, usd } from "../lib/format";
import { Markdown } from "../lib/markdown";
import { Link, toTask } from "../router";
import { openDialog } from "../state/dialog";
import { Empty, StatusBadge } from "../ui/parts";
import { actionsOf } from "./actions";

export function FlowSteps({ f, now }: { f: FlowDetail; now: number }) {
  const steps = f.steps ?? [];
  if (steps.length === 0) return <Empty title="No step yet"><p>The flow plans its first step when it starts.</p></Empty>;
  const resume = actionsOf(f.task).find((a) => a.id === "resume");
  const from = Math.min(...steps.map((s) => time(s.started ?? s.created_at)));
  const to = Math.max(from + 1, ...steps.map((s) => (s.ended ? time(s.ended) : now)));
  const again = (s: FlowStep) => resume && s.can_resume && (() => openDialog({ task: f.task, action: resume, text: s.key }));
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Steps">
      <table className="data stacks flow-steps">
        <thead><tr><th>Step</th><th>State</th><th>Agent</th><th className="lane">Time</th><th className="num">Worked</th><th className="num">Cost</th><th>Result</th></tr></thead>
        {groupsOf(steps).map((g) => (
          <tbody key={g.name}>
            {g.name && <tr className="flow-group"><th colSpan={5} scope="rowgroup">{g.name} <small className="muted">{plural(g.steps.length, "step")}</small></th><th className="num">{usd(g.steps.reduce((n, s) => n + s.cost_usd, 0))}</th><th /></tr>}
            {g.steps.map((s) => <StepRow key={s.task} s={s} from={from} to={to} now={now} again={again(s) || undefined} />)}
          </tbody>
        ))}
      </table>
    </div>
  );
}

function StepRow({ s, from, to, now, again }: { s: FlowStep; from: number; to: number; now: number; again?: () => void }) {
  const start = s.started ? time(s.started) : undefined;
  const end = s.ended ? time(s.ended) : now;
  const share = (t: number) => `${((t - from) / (to - from)) * 100}%`;
  return (
    <tr data-step={s.key} className={s.left ? "left" : undefined}>
      <td className="step-name">
        <Link href={toTask(s.task)} data-row title={s.title}>{s.name}</Link> <small className="key">{s.task}</small>
        {s.below && <small className="muted sub">below {s.below}</small>}
        {s.left && <small className="muted sub">no longer counts</small>}
      </td>
      <td><StatusBadge status={s.status} />{s.says && s.state === "open" && <small className="muted sub step-says" title={s.says}>{s.says}</small>}</td>
      <td>{s.agent}{s.model && <small className="muted sub">{s.model}</small>}</td>
      <td className="lane"><span className="gantt-lane" title={start ? `${clock(s.started)} to ${s.ended ? clock(s.ended) : "now"}` : "not started"}>
        {start !== undefined && <span className={"gantt-bar" + (s.state === "failed" ? " failed" : s.state === "open" ? " runs" : "")} style={{ left: share(start), width: `max(3px, calc(${share(end)} - ${share(start)}))` }} />}
      </span></td>
      <td className="num" data-label={s.started && "worked"}>{s.started ? span(milliseconds(s.took)) : ""}</td>
      <td className="num">{s.cost_usd ? usd(s.cost_usd) : ""}</td>
      <td className="wide">
        {s.result && <details><summary>{first(s.result)}</summary><Markdown text={s.result} /></details>}
        {again && <button className="button small" aria-label={`Resume from ${s.key}`} onClick={again}>Resume from…</button>}
      </td>
    </tr>
  );
}
