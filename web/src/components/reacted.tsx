// An entry of the history of reactions: an event, what followed it, or why nothing did.
import type { ReactNode } from "react";
import type { Reacted } from "../api/schema";
import { ago, clock } from "../lib/format";
import { Link, toTask } from "../router";
import { Mono } from "../ui/parts";

const done: Record<string, string> = {
  "send-to-agent": "sent to the agent", task: "new task", notify: "a person was notified", merge: "merge requested", run: "command ran", nothing: "nothing done",
};

const commit = (hash: string) => <code>{hash.slice(0, 10)}</code>;

// ReactedView shows an entry. Its texts come from outside: they are text, never markup.
export function ReactedView({ r, now, of }: { r: Reacted; now: number; of?: ReactNode }) {
  const result = r.result || (r.waits ? "no result yet" : "");
  return (
    <li className={"reacted" + (r.do === "nothing" ? " nothing" : "")} data-reaction={r.event}>
      <p className="reacted-head">
        <strong>{r.event}</strong>
        <span className="tag">{done[r.do] ?? r.do}</span>
        {(r.try ?? 0) > 1 && !r.why && <span className="muted">try {r.try}</span>}
        {of}
        <span className="grow" />
        <span className="since" title={clock(r.at)}>{ago(r.at, now)} ago</span>
      </p>
      {r.text && <p>{r.text}</p>}
      {r.why && <p className="warn-text"><Mono text={r.why} /></p>}
      <p className="reacted-facts muted">
        {r.head && <span>at {commit(r.head)}</span>}
        {r.task && <span>created <Link href={toTask(r.task)}>{r.task}</Link></span>}
        {r.priority && <span>priority {r.priority}</span>}
        {result && <span title={clock(r.ended_at)}>{result}</span>}
        {r.pushed && !r.result && <span>pushed {commit(r.pushed)}</span>}
      </p>
      {r.run && <code className="block">{r.run}</code>}
      {r.message && <details><summary>Message</summary><pre tabIndex={0} aria-label={`Message of ${r.event}`}>{r.message}</pre></details>}
    </li>
  );
}
