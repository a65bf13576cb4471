// The results of a task's work: each landing with its checks and their logs.
import { useCallback } from "react";
import { address } from "../api/client";
import type { Check, Landing, TaskDetail } from "../api/schema";
import { plain } from "../lib/conversation";
import { clock, fine } from "../lib/format";
import { useParam } from "../router";
import { Empty } from "../ui/parts";

const words: Record<string, string> = {
  landed: "landed", conflict: "did not merge", refused: "refused by its checks", empty: "nothing to land", failed: "could not run", cancelled: "stopped",
};

// leftOut is the server's text where it cut a long text.
const leftOut = " bytes left out; the whole text: /api/v1";

function judged(l: Landing): string {
  if (l.outcome) return words[l.outcome] ?? l.outcome;
  if (l.waits) return l.waits;
  return l.green ? "passed" : "in progress";
}

export function Checks({ t }: { t: TaskDetail }) {
  const [wanted] = useParam("/tasks/{key}", "check"); // the position of a search result
  const landings = [...(t.landings ?? [])].reverse();
  if (landings.length === 0) return <Empty title="No checks yet"><p>When a session ends, its work is merged with the base and checked there. The logs appear here.</p></Empty>;
  return (
    <div className="checks">
      {landings.map((l, i) => (
        <section key={l.id} className="landing">
          <h2>
            Candidate {landings.length - i} <code>{l.head.slice(0, 10)}</code>
            <span className={"tag " + (l.outcome === "landed" ? "good" : l.outcome === "refused" || l.outcome === "conflict" || l.outcome === "failed" ? "bad" : "")}>{judged(l)}</span>
          </h2>
          {l.failure && <p className="bad-text">{l.failure.text}</p>}
          {(t.check_runs ?? []).filter((c) => c.landing_id === l.id).map((c) => <Run key={c.id} task={t.key} c={c} wanted={String(c.id) === wanted} />)}
          {l.outcome === "conflict" && l.evidence && (
            <details>
              <summary>Conflicts</summary>
              <pre tabIndex={0}>{l.evidence}</pre>
              {l.evidence.includes(leftOut) && <a href={address("/api/v1/tasks/{key}/landings/{id}/evidence", { path: { key: t.key, id: l.id } })} target="_blank" rel="noreferrer">Show all</a>}
            </details>
          )}
        </section>
      ))}
    </div>
  );
}

function Run({ task, c, wanted }: { task: string; c: Check; wanted: boolean }) {
  const passed = c.exit === 0;
  const show = useCallback((el: HTMLElement | null) => void (wanted && el?.scrollIntoView({ block: "nearest" })), [wanted]);
  return (
    <details ref={show} className={"run" + (wanted ? " marked" : "")} open={!passed || wanted}>
      <summary>
        <span className={passed ? "add-text" : "bad-text"}>{passed ? "✓ passed" : c.signal ? `! killed by ${c.signal}` : c.timed_out ? "✗ ran out of time" : `✗ exit ${c.exit}`}</span> <code>{c.command}</code>
        <span className="grow" />
        <small className="muted">{fine(c.took / 1e6)} · {clock(c.ended_at)}</small>
      </summary>
      <pre tabIndex={0}>{c.log ? plain(c.log) : "It wrote nothing."}</pre>
      {c.log?.includes(leftOut) && <a href={address("/api/v1/tasks/{key}/checks/{id}/log", { path: { key: task, id: c.id } })} target="_blank" rel="noreferrer">Whole log</a>}
    </details>
  );
}
