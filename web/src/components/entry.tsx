// An entry of the inbox: why it needs a person, and what helps. The server says
// what can be done, in which order.
import { useState, type FormEvent, type ReactNode } from "react";
import type { InboxAction, InboxEntry, NewSnooze } from "../api/schema";
import { needLines } from "../lib/diff";
import { ago, clock } from "../lib/format";
import { Link, to, toTask } from "../router";
import { openDialog } from "../state/dialog";
import { Dialog } from "../ui/dialog";
import { Menu } from "../ui/menu";
import { Mono } from "../ui/parts";
import { Ask } from "./ask";
import { entryName, help, isSnoozed, snooze, snoozeCommands } from "./commands";
import { DiffLines } from "./difflines";

// kinds are the kinds of entry, in words.
export const kinds: Record<InboxEntry["kind"], string> = {
  question: "question", permission: "permission", waiting: "waiting for you", stalled: "stalled", limit: "limit or login", budget: "budget or limit", queue: "landing blocked",
  change: "change to confirm", schedule: "schedule", review: "ready to land", failed: "failed",
};

const events: Record<NonNullable<NewSnooze["event"]>, string> = {
  any: "anything happens to it", ended: "it has ended", landed: "it has landed", failed: "it has failed", asked: "it asks something", message: "it gets a message",
};

const SHOWN = 3; // actions with a button

export function Entry({ e, now }: { e: InboxEntry; now: number }) {
  const [busy, setBusy] = useState(false);
  const list = (e.actions ?? []).filter((a) => a.form !== "answer"); // Ask has its form
  const start = (a: InboxAction) => {
    if (a.form) return openDialog({ form: "entry", entry: e, action: a });
    setBusy(true);
    void help(e, a).then(() => setBusy(false));
  };
  return (
    <li className={`entry b-${e.blocks}`} data-row data-entry={e.id}>
      <div className="entry-head">
        <EntryTitle e={e} />
        <span className="tag">{kinds[e.kind]}</span>
        {e.back && <span className="tag" title="It was snoozed, and the snooze has ended">back</span>}
        <span className="grow" />
        {e.since && <span className="since" title={clock(e.since)}>{ago(e.since, now)}</span>}
      </div>
      <Cause e={e} />
      <div className="entry-actions">
        {list.slice(0, SHOWN).map((a, i) => (
          <button key={a.label} className={"button small" + (a.danger ? " danger" : i === 0 && !e.question ? " primary" : "")} title={a.command} disabled={busy} onClick={() => start(a)}>{a.label}</button>
        ))}
        {list.length > SHOWN && <Menu name="More" small items={list.slice(SHOWN).map((a) => ({ id: a.label, name: a.label, about: a.command, danger: a.danger, run: () => start(a) }))} />}
        <span className="grow" />
        {isSnoozed(e) ? <Snoozed e={e} /> : e.can_snooze && <Menu name="Snooze" small items={snoozeCommands(e)} />}
      </div>
    </li>
  );
}

function EntryTitle({ e }: { e: InboxEntry }) {
  if (e.task) return <Link href={toTask(e.task)} className="entry-title" title={e.title}><span className="key">{e.task}</span> {e.title}</Link>;
  const href = e.kind === "limit" ? "/agents" : to("/", { project: e.project });
  return <Link href={href} className="entry-title" title={e.title}>{e.title}</Link>;
}

function Cause({ e }: { e: InboxEntry }) {
  if (e.task && e.question) return <Ask task={e.task} q={{ id: e.question, kind: e.kind, text: e.text, options: e.options, descriptions: e.descriptions, several: e.several, rule: e.rule }} />;
  return (
    <div className="entry-cause">
      <p><Mono text={e.text} /></p>
      {(e.paths?.length ?? 0) > 0 && <ul className="entry-paths">{e.paths!.map((p) => <li key={p}><code>{p}</code></li>)}</ul>}
      {e.diff && <details><summary>What changed</summary><DiffLines lines={needLines(e.diff)} /></details>}
      {(e.tasks?.length ?? 0) > 0 && <p>Tasks: {e.tasks!.map((k, i) => <span key={k}>{i > 0 && ", "}<Link href={toTask(k)}>{k}</Link></span>)}</p>}
      {e.fix && <p className="muted"><Mono text={e.fix} /></p>}
    </div>
  );
}

function Snoozed({ e }: { e: InboxEntry }) {
  return (
    <>
      <span className="muted">snoozed until {e.snoozed_for ? `${e.snoozed_task}: ${events[e.snoozed_for as keyof typeof events] ?? e.snoozed_for}` : clock(e.snoozed_until)}</span>
      {snoozeCommands(e).map((c) => <button key={c.id} className="button small" onClick={c.run}>{c.name}</button>)}
    </>
  );
}

function Ends({ name, danger, onClose, children }: { name: string; danger?: boolean; onClose: () => void; children?: ReactNode }) {
  return (
    <footer className="form-end">
      {children}
      <button className={"button " + (danger ? "danger" : "primary")}>{name}</button>
      <button type="button" className="button" onClick={onClose}>Cancel</button>
    </footer>
  );
}

// read returns a function that reads a form when it is submitted, and closes it.
const read = (onClose: () => void, done: (text: (name: string) => string) => unknown) => (ev: FormEvent<HTMLFormElement>) => {
  ev.preventDefault();
  const form = new FormData(ev.currentTarget);
  onClose();
  done((name) => String(form.get(name) ?? "").trim());
};

export function EntryDialog({ e, a, onClose }: { e: InboxEntry; a: InboxAction; onClose: () => void }) {
  return (
    <Dialog title={`${a.label}: ${entryName(e)}`} onClose={onClose}>
      <form className="form" onSubmit={read(onClose, (text) => help(e, a, text("text")))}>
        <p>{e.title}</p>
        {a.text && (
          <div className="field">
            <label htmlFor="entry-text">{a.prompt || a.label}</label>
            <textarea id="entry-text" name="text" rows={a.needs ? 1 : 3} required={a.needs} autoFocus />
          </div>
        )}
        <Ends name={a.label} danger={a.danger} onClose={onClose} />
      </form>
    </Dialog>
  );
}

export function SnoozeDialog({ e, onClose }: { e: InboxEntry; onClose: () => void }) {
  return (
    <Dialog title={`Snooze ${entryName(e)}`} onClose={onClose}>
      <form className="form" onSubmit={read(onClose, (text) => snooze(e, { event: text("event") as NewSnooze["event"], task: text("task") || undefined }))}>
        <div className="field">
          <label htmlFor="snooze-task">Task</label>
          <input id="snooze-task" name="task" required defaultValue={e.task} placeholder="app-12" autoComplete="off" />
        </div>
        <div className="field">
          <label htmlFor="snooze-event">Until</label>
          <select id="snooze-event" name="event">{Object.entries(events).map(([id, name]) => <option key={id} value={id}>{name}</option>)}</select>
        </div>
        <Ends name="Snooze" onClose={onClose} />
      </form>
    </Dialog>
  );
}

// Entries lists entries about projects and accounts, above tasks.
export function Entries({ list, now }: { list: InboxEntry[]; now: number }) {
  if (list.length === 0) return null;
  return <ul className="needs-list entries" aria-label="What projects need you for">{list.map((e) => <Entry key={e.id} e={e} now={now} />)}</ul>;
}
