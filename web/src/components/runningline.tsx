// One line about the running checks, below a conversation.
import { useRunState, type LiveRun } from "../api/run";
import type { RunningChecks, TaskDetail } from "../api/schema";
import { useNow } from "../lib/format";
import { Link, to } from "../router";
import { spent } from "./checks";

export function RunningLine({ t, run }: { t: TaskDetail; run: LiveRun }) {
  return t.running ? <Line t={t} run={run} answer={t.running} /> : null;
}

function Line({ t, run, answer }: { t: TaskDetail; run: LiveRun; answer: RunningChecks }) {
  const now = useNow();
  const all = useRunState(run, answer).commands ?? [];
  const c = all.find((x) => x.state === "running");
  return (
    <p className="running-line">
      <span className="dots" aria-hidden="true" />
      <Link href={to("/tasks/{key}", { key: t.key, tab: "checks", check: c?.command })}>{c?.setup ? "setup runs" : c ? "checks run" : "checks wait"}</Link>
      {c ? <code title={c.command}>{c.command}</code> : <span className="muted">{t.reason}</span>}
      {c && <span className="muted">{spent(c, now)}</span>}
    </p>
  );
}
