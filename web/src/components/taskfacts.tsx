// The facts of a task, next to its page.
import type { TaskChange, TaskDetail } from "../api/schema";
import { mostTurns, priorities } from "../api/tables";
import { actionsOf, can, perform } from "./actions";
import { clock, plural } from "../lib/format";
import { Link, to, toFlow, toTask } from "../router";
import { editorLink, editorName } from "../lib/editor";
import { usePrefs } from "../state/prefs";
import { Copy, Fact, Outside } from "../ui/parts";
import { editMarks, flag } from "./marks";

function Keys({ keys }: { keys: string[] }) {
  return <>{keys.map((k, i) => <span key={k}>{i > 0 && ", "}<Link href={toTask(k)}>{k}</Link></span>)}</>;
}

function OpenInEditor({ path }: { path: string }) {
  const { editor } = usePrefs();
  const link = editorLink(editor, path);
  if (!link) return null;
  return <a className="button small" href={link} title="You can choose the editor in Settings">Open in {editorName(editor)}</a>;
}

export function Budget({ t, onBudget }: { t: TaskDetail; onBudget: (usd: string) => void }) {
  return (
    <form className="budget" onSubmit={(e) => {
      e.preventDefault();
      const text = String(new FormData(e.currentTarget).get("budget") ?? "").trim();
      if (text) onBudget(text);
    }}>
      <input name="budget" key={String(t.budget ?? "")} defaultValue={t.budget ? String(t.budget) : ""} placeholder="project default" aria-label="Budget" />
      <button className="button small">Set</button>
    </form>
  );
}

// Limits shows the limits of a task's sessions, and changes those of the task.
export function Limits({ t, onLimits }: { t: TaskDetail; onLimits: (change: TaskChange) => void }) {
  return (
    <form className="budget" onSubmit={(e) => {
      e.preventDefault();
      const form = new FormData(e.currentTarget);
      const text = (name: string) => String(form.get(name) ?? "").trim();
      onLimits({ turns: Number(text("turns")) || 0, time: text("time") || "0s" });
    }}>
      <input name="turns" type="number" min={1} max={mostTurns} key={`turns ${t.turns ?? ""}`} defaultValue={t.turns ?? ""} placeholder={String(t.limits.turns)} aria-label="Turns of a session" />
      <input name="time" key={`time ${t.time ?? ""}`} defaultValue={t.time ?? ""} placeholder={t.limits.time || "time"} aria-label="Time of a session" />
      <button className="button small">Set</button>
    </form>
  );
}

// Restaff opens the action with which another agent or model takes over.
function Restaff({ t }: { t: TaskDetail }) {
  const a = actionsOf(t).find((x) => x.staff);
  return a ? <button className="button small" title={a.about} onClick={() => perform(t, a)}>Change…</button> : null;
}

export function TaskFacts({ t, onPriority, onBudget, onLimits }: { t: TaskDetail; onPriority: (n: number) => void; onBudget: (usd: string) => void; onLimits: (change: TaskChange) => void }) {
  const open = t.workspace && !t.workspace.removed_at ? t.workspace : undefined;
  return (
    <>
      <section>
        <h2>Task</h2>
        <dl>
          <Fact name="Priority">
            {t.priority}
            {t.can_change && (
              <span className="stepper">
                <button className="button icon" aria-label="Lower the priority" disabled={t.priority <= priorities.least} onClick={() => onPriority(t.priority - 1)}>−</button>
                <button className="button icon" aria-label="Raise the priority" disabled={t.priority >= priorities.most} onClick={() => onPriority(t.priority + 1)}>+</button>
              </span>
            )}
          </Fact>
          <Fact name="Agent">{t.agent}{t.model ? ` · ${t.model}` : ""}{t.effort ? ` · ${t.effort}` : ""} <Restaff t={t} /></Fact>
          <Fact name="Track">{t.track}{t.category ? ` (${t.category})` : ""}</Fact>
          <Fact name="Budget">{!t.can_change ? String(t.budget ?? "project default") : <Budget t={t} onBudget={onBudget} />}</Fact>
          <Fact name="Limits">{t.limits_text || "none"}{t.can_change && <Limits t={t} onLimits={onLimits} />}</Fact>
          <Fact name="Group">{t.group ? <Link href={to("/groups/{id}", { id: String(t.group_id) })}>{t.group}</Link> : "none"}</Fact>
          <Fact name="Labels">{(t.labels?.length ?? 0) === 0 ? "none" : <span className="chips">{t.labels!.map((l) => <Link key={l} href={to("/", { label: l })} className="chip" title={l}>{l}</Link>)}</span>}</Fact>
          <Fact name="Marks">
            <span className="chips">
              <button className="button small" aria-pressed={t.flagged ?? false} onClick={() => flag(t)}>⚑ {t.flagged ? "Flagged" : "Flag"}</button>
              <button className="button small" onClick={() => editMarks(t)}>Labels and group…</button>
            </span>
          </Fact>
          {t.checkout && <Fact name="Workspace">none: your own checkout</Fact>}
          {t.branch && !t.workspace && <Fact name="Branch"><code>{t.branch}</code></Fact>}
          {t.feature && <Fact name="Feature">{t.feature}</Fact>}
          {t.issue && <Fact name="Issue"><Outside href={t.issue.url} title={`of the tracker ${t.issue.tracker}`}>{t.issue_name}</Outside></Fact>}
          {t.fork_of && <Fact name="Fork of"><Link href={toTask(t.fork_of)}>{t.fork_of}</Link></Fact>}
          {t.flow && <Fact name="Flow"><Link href={toFlow(t.key)}>{t.flow.kind}</Link>{t.flow.note && `: ${t.flow.note}`}</Fact>}
          {t.step && <Fact name="Step of"><Link href={toFlow(t.step.flow)}>{t.step.flow}</Link> as {t.step.key}</Fact>}
          {t.parent && !t.step && <Fact name="Created for"><Link href={toTask(t.parent)}>{t.parent}</Link></Fact>}
          {(t.children?.length ?? 0) > 0 && <Fact name="Its agents created">{t.children!.map((c) => <span key={c.key} className="block"><Link href={toTask(c.key)}>{c.key}</Link> {c.status}: {c.title}</span>)}</Fact>}
          {t.report && <Fact name="Reports">{t.report}</Fact>}
          <Fact name="Created">{clock(t.created_at)}{t.created_by ? ` by ${t.created_by}` : ""}</Fact>
          {t.not_before && <Fact name="Not before">{clock(t.not_before)}</Fact>}
          {t.ended_at && <Fact name="Ended">{clock(t.ended_at)}</Fact>}
          {t.reverted && <Fact name="Reverted"><code>{t.reverted.commit.slice(0, 10)}</code>, which had landed: {t.reverted_text}, {clock(t.reverted.at)}</Fact>}
          {(t.after?.length ?? 0) > 0 && <Fact name="Depends on"><Keys keys={t.after!} /></Fact>}
          {(t.dependants?.length ?? 0) > 0 && <Fact name="Blocks"><Keys keys={t.dependants!} /></Fact>}
          {(t.checks?.length ?? 0) > 0 && <Fact name="Own checks">{t.checks!.map((c) => <code key={c} className="block">{c}</code>)}</Fact>}
          {Object.entries(t.context ?? {}).length > 0 && <Fact name="Context">{Object.entries(t.context!).sort().map(([name, value]) => <code key={name} className="block">{name} = {value}</code>)}</Fact>}
          {(t.skipped_checks?.length ?? 0) > 0 && <Fact name="Checks left out">{t.skipped_checks!.map((c) => <code key={c} className="block">{c}</code>)}</Fact>}
        </dl>
      </section>
      {t.workspace && (
        <section>
          <h2>Workspace</h2>
          <dl>
            <Fact name="Branch"><code>{t.workspace.branch}</code></Fact>
            {open ? <Fact name="Folder">{open.path ? <span className="folder"><Copy text={open.path} label="Copy the folder" /><OpenInEditor path={open.path} /></span> : "being created"}</Fact> : <Fact name="Removed">{clock(t.workspace.removed_at)}{can(t, "undo") && "; Undo removal restores it"}</Fact>}
            {(t.stray_branches?.length ?? 0) > 0 && <Fact name="Stray branches">{t.stray_branches!.map((b) => <span key={b.name + (b.ref ?? "")} className="block"><code>{b.name}</code> at <code>{b.head.slice(0, 10)}</code>{b.ref ? ", in the trash" : ""}</span>)}</Fact>}
            {(open?.ports?.length ?? 0) > 0 && <Fact name="Ports">{open!.ports!.join(", ")}</Fact>}
          </dl>
        </section>
      )}
      <section>
        <h2>From a terminal</h2>
        {t.can_attach && <Copy text={`coppice attach ${t.key}`} label="Copy the attach command" />}
        <Copy text={t.ended_at ? `coppice show ${t.key}` : `coppice logs -f ${t.key}`} label="Copy the command" />
      </section>
      {(t.messages?.length ?? 0) > 0 && (
        <section>
          <h2>{plural(t.messages!.length, "message")}</h2>
          <ul className="messages">
            {t.messages!.map((m) => (
              <li key={m.id}>
                <p>{m.kind && <span className="tag">{m.kind}</span>} {m.text}{(m.images?.length ?? 0) > 0 && <span className="muted"> (+{plural(m.images!.length, "image")})</span>}</p>
                <small className={m.state === "failed" ? "bad-text" : "muted"}>{m.state_text}{m.delivered_at && ` ${clock(m.delivered_at)}`}</small>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
