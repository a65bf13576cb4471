// The hooks of all projects and of the user, and their last runs.
import { useMemo, useState } from "react";
import { change, useAnswer } from "../api/cache";
import { api, dataOf } from "../api/client";
import { queries } from "../api/queries";
import type { ConfiguredHook, HookRun } from "../api/schema";
import { ago, clock, span, useNow } from "../lib/format";
import { Link, toTask } from "../router";
import { Loading, ProblemBox } from "../ui/parts";
import type { Command } from "./commands";
import { usePageCommands } from "./keys";

const none: ConfiguredHook[] = [];

// tests returns one command for each event of a project, or of the user, that has
// hooks.
export function tests(list: ConfiguredHook[]): Command[] {
  const out = new Map<string, Command>();
  for (const { event, project } of list) {
    const id = `test hooks ${project ?? ""} ${event}`;
    const name = `Test the hooks of ${event}${project ? ` in ${project}` : ""}`;
    const body = { event, ...(project ? { project } : {}) };
    out.set(id, { id, name, hint: "hooks", run: () => void change(`The hooks of ${event} are being tested`, () => dataOf(api.POST("/api/v1/hooks/test", { body }))) });
  }
  return [...out.values()];
}

export function Hooks() {
  const hooks = useAnswer(queries.hooks());
  const list = hooks.data?.hooks ?? none;
  const commands = useMemo(() => tests(list), [list]);
  usePageCommands(commands);
  return (
    <section aria-label="Hooks">
      <h2>Hooks</h2>
      <p className="muted">Commands that run after events, from <code>hooks</code> in coppice.yaml and in the user's config.yaml.</p>
      {hooks.problem && <ProblemBox problem={hooks.problem} again={hooks.again} />}
      {!hooks.data && hooks.loading && <Loading what="the hooks" />}
      {hooks.data && list.length === 0 && <p className="muted">No hooks are configured.</p>}
      {list.length > 0 && <HookTable list={list} commands={commands} />}
      {list.length > 0 && <Runs />}
    </section>
  );
}

function HookTable({ list, commands }: { list: ConfiguredHook[]; commands: Command[] }) {
  const now = useNow();
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="List of hooks">
      <table className="data"><thead><tr><th>Of</th><th>Event</th><th>Command</th><th>On failure</th><th>Last run</th><th>Actions</th></tr></thead>
        <tbody>{list.map((h, i) => {
          const test = commands.find((c) => c.id === `test hooks ${h.project ?? ""} ${h.event}`)!;
          return (
            <tr key={i}>
              <td>{h.project ?? "user"}</td><td>{h.event}</td><td><code>{h.run}</code></td><td>{h.on_failure}</td>
              <td>{h.last ? <><State run={h.last} /> <span className="muted" title={clock(h.last.at)}>{ago(h.last.at, now)}</span></> : <span className="muted">never ran</span>}</td>
              <td><button className="button small" aria-label={test.name} onClick={test.run}>Test</button></td>
            </tr>
          );
        })}</tbody>
      </table>
    </div>
  );
}

function State({ run }: { run: HookRun }) {
  const bad = run.state === "failed";
  return <span className={bad ? "bad-text" : undefined} title={run.text}>{bad ? `failed (${run.exit})` : run.state}</span>;
}

// Runs are the newest runs with their output.
function Runs() {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>Last runs</summary>
      {open && <RunList />}
    </details>
  );
}

export function RunList() {
  const runs = useAnswer(queries.hookRuns());
  const now = useNow();
  const list = runs.data?.runs ?? [];
  return (
    <>
      {runs.problem && <ProblemBox problem={runs.problem} again={runs.again} />}
      {runs.data && list.length === 0 && <p className="muted">No hook has run.</p>}
      {list.map((r) => (
        <div key={r.id}>
          <p>
            <State run={r} /> <strong>{r.event}</strong>{r.test && " (test)"} {r.task ? <Link href={toTask(r.task)}>{r.task}</Link> : r.project} <code>{r.run}</code>{" "}
            <span className="muted" title={clock(r.at)}>{ago(r.at, now)}{r.took_ms ? `, ${span(r.took_ms)}` : ""}</span>
          </p>
          {r.output && <pre tabIndex={0} aria-label={`Output of ${r.id}`}>{r.output}</pre>}
        </div>
      ))}
    </>
  );
}
