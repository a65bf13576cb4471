// The steps of a task, and the verdicts on them: the newest verdict on each,
// then every round with its evidence, the newest first.
import type { Session, StepVerdict, TaskDetail } from "../api/schema";
import { clock, span, time } from "../lib/format";
import { Link, to } from "../router";
import { Empty, Mono } from "../ui/parts";
import { Pictures } from "./pictures";
import { FailureClass } from "./why";

const verifiers = (t: TaskDetail): Session[] => (t.history ?? []).filter((s) => t.verifiers?.includes(s.key));

// judged returns the session with the newest verdict.
export const judged = (t: TaskDetail): Session | undefined => (t.history ?? []).find((s) => s.key === t.verdict_by);

// passed counts the steps that passed.
export const passed = (steps: StepVerdict[]) => `${steps.filter((s) => s.pass).length} of ${steps.length}`;

// stepCount counts those of the newest verdict, or else all steps.
export function stepCount(t: TaskDetail): string {
  const steps = judged(t)?.verdict?.steps ?? [];
  return steps.length > 0 ? passed(steps) : String(t.steps?.length ?? 0);
}

function Mark({ s }: { s?: StepVerdict }) {
  if (!s) return <span className="tag">not verified yet</span>;
  return s.pass ? <span className="tag good">✓ pass</span> : <span className="tag bad">✗ fail</span>;
}

export function Verdicts({ t }: { t: TaskDetail }) {
  const rounds = verifiers(t);
  const newest = judged(t);
  const steps = newest?.verdict?.steps ?? [];
  const asked = (t.steps?.length ?? 0) > 0 ? t.steps! : steps.map((s) => s.text);
  if (asked.length === 0 && rounds.length === 0) {
    return <Empty title="No steps"><p>A task with steps is verified by a session that cannot edit, before it lands. Only the checks decide about this one.</p></Empty>;
  }
  return (
    <div className="verdicts">
      <section>
        <h2>What must be true</h2>
        <ol className="step-list">
          {asked.map((text, i) => {
            const s = steps.find((v) => v.n === i + 1);
            return (
              <li key={i} className={s ? (s.pass ? "pass" : "fail") : ""}>
                <span className="step-n">{i + 1}</span> <span>{text}</span> <Mark s={s} />
              </li>
            );
          })}
        </ol>
        {rounds.length === 0 && <p className="muted">A verifier checks each step after the checks have passed. Its verdicts appear here with their evidence.</p>}
      </section>
      {[...rounds].reverse().map((s, i) => <Round key={s.key} t={t} s={s} n={rounds.length - i} />)}
    </div>
  );
}

function Round({ t, s, n }: { t: TaskDetail; s: Session; n: number }) {
  const steps = s.verdict?.steps ?? [];
  return (
    <section className="round">
      <h2>
        Round {n} <Link href={to("/tasks/{key}", { key: t.key, session: s.key })}>{s.key}</Link>
        <span className={"tag " + (steps.length === 0 ? "" : t.passed_by?.includes(s.key) ? "good" : "bad")}>
          {steps.length > 0 ? `${passed(steps)} passed` : t.live?.includes(s.key) ? "in progress" : "no verdict"}
        </span>
        <small className="muted">{s.agent}{s.model ? ` · ${s.model}` : ""} · {clock(s.started_at ?? s.created_at)}{s.ended_at && ` · ${span(time(s.ended_at) - time(s.started_at ?? s.created_at))}`}</small>
      </h2>
      {s.verdict?.summary && <p><Mono text={s.verdict.summary} /></p>}
      {s.failure && <p className="bad-text"><FailureClass name={s.failure.class} />{s.failure.text}</p>}
      <ol className="step-list">
        {steps.map((v) => (
          <li key={v.n} className={v.pass ? "pass" : "fail"}>
            <span className="step-n">{v.n}</span>
            <span>{v.text}{v.evidence && <span className="evidence"><Mono text={v.evidence} /></span>}</span> <Mark s={v} />
          </li>
        ))}
      </ol>
      <Pictures session={s.key} />
    </section>
  );
}
