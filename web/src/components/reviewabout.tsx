// What a person should know beside the lines of a change: what its agent says
// about it, its checks, its verdicts, its cost, and who approved it.
import type { Review, TaskDetail } from "../api/schema";
import { clock, cost, fine, plural } from "../lib/format";
import { Markdown } from "../lib/markdown";
import { Link, to } from "../router";
import { Fact } from "../ui/parts";
import { passed } from "./verdicts";

export function ReviewAbout({ t, r }: { t: TaskDetail; r: Review }) {
  const summary = (t.history ?? []).find((s) => s.key === t.summary_by)?.summary;
  const runs = r.checks ?? [];
  const steps = (t.history ?? []).find((s) => s.key === r.judged_by)?.verdict?.steps ?? [];
  return (
    <div className="review-about">
      <section>
        <h2>Summary</h2>
        {summary ? <div className="summary" tabIndex={0} role="region" aria-label="Summary"><Markdown text={summary} /></div> : <p className="muted">Its agent has not written one.</p>}
      </section>
      <section>
        <h2><Link href={to("/tasks/{key}", { key: t.key, tab: "checks" })}>Checks</Link></h2>
        {runs.length === 0 && <p className="muted">{r.landing ? "None were configured, or they have not run yet." : "They run when its session has ended."}</p>}
        <ul>{runs.map((c) => <li key={c.id}>{c.result === "passed" ? <span className="add-text">✓</span> : <span className="bad-text">✗</span>} <code>{c.command}</code> <small className="muted">{fine(c.took / 1e6)}</small></li>)}</ul>
        {steps.length > 0 && <>
          <h2><Link href={to("/tasks/{key}", { key: t.key, tab: "steps" })}>Steps {passed(steps)}</Link></h2>
          <ul>{steps.map((s) => <li key={s.n} title={s.evidence}>{s.pass ? <span className="add-text">✓</span> : <span className="bad-text">✗</span>} {s.text}</li>)}</ul>
        </>}
      </section>
      <section>
        <h2>Facts</h2>
        <dl>
          {r.approved_by && <Fact name="Approved"><strong>by {r.approved_by}</strong>{r.approved_at ? `, ${clock(r.approved_at)}` : ""}</Fact>}
          <Fact name="Commit"><code title={r.head}>{r.head.slice(0, 10)}</code></Fact>
          {(t.skipped_checks?.length ?? 0) > 0 && <Fact name="Checks left out">{t.skipped_checks!.map((c) => <code key={c} className="block">{c}</code>)}</Fact>}
          <Fact name="Agent">{t.agent}{t.model ? ` · ${t.model}` : ""}</Fact>
          <Fact name="Cost">{cost(t.usage)} in {plural(t.sessions, "session")}</Fact>
        </dl>
      </section>
    </div>
  );
}
