// The results of a task's work: the checks that run now with their output, then
// each landing with its checks and their logs.
import { useCallback, useMemo, useState, type ReactNode } from "react";
import { useAnswer } from "../api/cache";
import { address } from "../api/client";
import { queries } from "../api/queries";
import { useLines, useRunState, type LiveRun } from "../api/run";
import type { Check, CommandRun, Landing, RunningChecks, TaskDetail } from "../api/schema";
import { clock, fine, span, time, useNow } from "../lib/format";
import { isError, linesOf } from "../lib/lines";
import { relativeTo } from "../lib/relative";
import { Link, to, useParam } from "../router";
import { Empty, Loading, ProblemBox } from "../ui/parts";
import { LogView, useFind } from "./logview";

const tones: Partial<Record<Landing["state"], string>> = { landed: " good", refused: " bad", conflict: " bad", failed: " bad" };

// Ended is a command that has ended.
type Ended = Pick<CommandRun, "exit" | "signal" | "result">;

const results: Record<Check["result"], (e: Ended) => string> = {
  passed: () => "✓ passed", failed: (e) => `✗ exit code ${e.exit}`, killed: (e) => `! killed by ${e.signal}`, "timed out": () => "✗ ran out of time",
};

const result = (e: Ended) => (e.result ? results[e.result](e) : "");

// checkCount says how many checks a task has, and whether some run.
export function checkCount(t: TaskDetail): string {
  const runs = (t.check_runs ?? []).filter((c) => !c.on_base);
  const now = (t.running?.commands ?? []).filter((c) => !c.setup);
  const state = now.some((c) => c.state !== "waiting") ? " · running" : t.running ? " · waiting" : "";
  return (t.refusals > 0 ? `${t.refusals} refused` : String(runs.length + now.length)) + state;
}

export function Checks({ t, run }: { t: TaskDetail; run: LiveRun }) {
  const landings = [...(t.landings ?? [])].reverse();
  useFind();
  if (landings.length === 0 && !t.running) return <Empty title="No checks yet"><p>When a session ends, its work is merged with the base and checked there. The logs appear here.</p></Empty>;
  return (
    <div className="checks">
      {t.running && landings.length === 0 && <Running t={t} run={run} answer={t.running} />}
      {landings.map((l, i) => (
        <section key={l.id} className="landing">
          <h2>
            Candidate {landings.length - i} <code>{l.head.slice(0, 10)}</code>
            <span className={"tag" + (tones[l.state] ?? "")}>{l.state_text}</span>
          </h2>
          {l.failure && <p className="bad-text">{l.failure.text}</p>}
          {t.running && i === 0 && <Running t={t} run={run} answer={t.running} />}
          {(t.check_runs ?? []).filter((c) => c.landing_id === l.id).map((c) => <Stored key={c.id} t={t} c={c} />)}
          {l.state === "conflict" && l.evidence && (
            <details>
              <summary>Conflicts</summary>
              <pre tabIndex={0}>{l.evidence}</pre>
              {l.cut && <a href={address("/api/v1/tasks/{key}/landings/{id}/evidence", { path: { key: t.key, id: l.id } })} target="_blank" rel="noreferrer">Show all</a>}
            </details>
          )}
        </section>
      ))}
    </div>
  );
}

// Section is one command with its log. It can be opened and closed, and has an
// address.
function Section({ t, id, command, about, side, bad, auto, wanted, children }: {
  t: TaskDetail; id: string; command: string; about: string; side: string; bad: boolean; auto: boolean; wanted: boolean; children: ReactNode;
}) {
  const [chosen, choose] = useState<boolean>();
  const open = chosen ?? (auto || wanted);
  const show = useCallback((el: HTMLElement | null) => void (wanted && el?.scrollIntoView({ block: "nearest" })), [wanted]);
  return (
    <section ref={show} className={"run" + (wanted ? " marked" : "")} aria-label={command}>
      <header>
        <button aria-expanded={open} onClick={() => choose(!open)}>
          <span aria-hidden="true">{open ? "▾" : "▸"}</span>
          <span className={bad ? "bad-text" : about.startsWith("✓") ? "add-text" : "muted"}>{about}</span>
          <code title={command}>{command}</code>
        </button>
        <small className="muted">{side}</small>
        <Link href={to("/tasks/{key}", { key: t.key, tab: "checks", check: id })} aria-label={`Link to ${command}`} title="Link to this check">#</Link>
      </header>
      {open && children}
    </section>
  );
}

// usePlace returns which check and which line of it the address names. A check is
// named by its id, or by its command: then it is the running or the newest one.
function usePlace(): { check: string; line?: number } {
  const [check] = useParam("/tasks/{key}", "check");
  const [line] = useParam("/tasks/{key}", "line");
  return { check, line: Number(line) || undefined };
}

function Stored({ t, c }: { t: TaskDetail; c: Check }) {
  const { check, line } = usePlace();
  const newest = !t.running && (t.check_runs ?? []).findLast((r) => r.command === c.command && !r.on_base) === c;
  const wanted = check !== "" && (String(c.id) === check || (newest && c.command === check));
  const ok = c.result === "passed";
  return (
    <Section t={t} id={String(c.id)} command={c.command} about={result(c) + (c.on_base ? " · on the base" : "")} side={`${fine(c.took / 1e6)} · ${clock(c.ended_at)}`} bad={!ok} auto={!ok} wanted={wanted}>
      <StoredLog t={t} c={c} at={(wanted ? line : undefined) ?? c.error_line} end={!ok} />
    </Section>
  );
}

// StoredLog reads the whole log if the task has only a part of it. It opens at a
// line, or else at its end or start.
function StoredLog({ t, c, at, end }: { t: TaskDetail; c: Check; at?: number; end: boolean }) {
  const cut = c.cut ?? false;
  const whole = useAnswer({ ...queries.checkLog(t.key, c.id), enabled: cut });
  const text = cut ? whole.data : (c.log ?? "");
  const lines = useMemo(() => linesOf(text ?? ""), [text]);
  const link = useCallback((no: number) => to("/tasks/{key}", { key: t.key, tab: "checks", check: String(c.id), line: String(no) }), [t.key, c.id]);
  if (whole.problem) return <ProblemBox problem={whole.problem} again={whole.again} />;
  if (text === undefined) return <Loading what="the log" />;
  return <LogView name={c.command} lines={lines} at={at ?? (end ? lines.length : undefined)} link={link} relative={relativeTo(t)} />;
}

function Running({ t, run, answer }: { t: TaskDetail; run: LiveRun; answer: RunningChecks }) {
  const state = useRunState(run, answer);
  const all = state.commands ?? [];
  return (
    <>
      {t.reason && all.every((c) => c.state === "waiting") && <p className="muted">{t.reason}</p>}
      {all.map((c, i) => <Live key={i} t={t} c={c} run={run} state={state} index={i} />)}
    </>
  );
}

// spent says how long a command has run, or ran.
export function spent(c: CommandRun, now: number): string {
  if (!c.started_at) return "";
  return c.ended_at ? fine(time(c.ended_at) - time(c.started_at)) : span(now - time(c.started_at));
}

function Live({ t, c, run, state, index }: { t: TaskDetail; c: CommandRun; run: LiveRun; state: RunningChecks; index: number }) {
  const now = useNow();
  const lines = useLines(run, state, index);
  const { check } = usePlace();
  const ended = c.state === "ended";
  const bad = ended && c.result !== "passed";
  const about = (result(c) || c.state) + (c.setup ? " · setup" : "");
  return (
    <Section t={t} id={c.command} command={c.command} about={about} side={spent(c, now)} bad={bad} auto={c.state === "running" || bad} wanted={check === c.command}>
      <LogView name={c.command} lines={lines} live={!ended} at={bad ? lines.find(isError)?.id : undefined} relative={relativeTo(t)} />
    </Section>
  );
}
