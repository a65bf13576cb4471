// Notifications: who gets messages about what, and the messages that were sent.
import { useMemo, useState } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import type { Notification as Message, Notifier, NotifyRoute } from "../api/schema";
import type { Command } from "../components/commands";
import { usePageCommands } from "../components/keys";
import { NotifyDialog, testOf, type Part } from "../components/notifysettings";
import { ago, clock, plural, useNow } from "../lib/format";
import { Link, to, useParam } from "../router";
import { Choice, Empty, Loading, ProblemBox } from "../ui/parts";

const none: Notifier[] = [];

// tests returns a command that tests each notifier, and one that tests all.
export function tests(list: Notifier[]): Command[] {
  return list.length === 0 ? [] : [testOf([], "Test all notifiers", list.length), ...list.map((n) => testOf([n.name], `Test the notifier ${n.name}`))];
}

// edits returns the commands that open the forms.
export function edits(list: Notifier[], open: (p: Part) => void): Command[] {
  const edit = (name: string, part: Part): Command => ({ id: `edit ${name}`, name, hint: "notifications", run: () => open(part) });
  return [edit("New notifier", "new"), edit("Change the routes", "routes"), edit("Change pause and address", "other"), ...list.map((n) => edit(`Change the notifier ${n.name}`, { notifier: n.name }))];
}

export default function NotificationsPage() {
  const { data, problem, loading, again } = useAnswer(queries.notifiers());
  const list = data?.notifiers ?? none;
  const commands = useMemo(() => tests(list), [list]);
  const [part, setPart] = useState<Part>();
  usePageCommands(useMemo(() => [...commands, ...edits(list, setPart)], [commands, list]));
  const [notifier, setNotifier] = useParam("/notifications", "notifier");
  const [before, setBefore] = useParam("/notifications", "before");
  const choose = (name: string) => {
    setBefore("");
    setNotifier(name);
  };
  return (
    <div className="page">
      <div className="page-head">
        <h1>Notifications</h1>
        <span className="grow" />
        <button className="button small" onClick={() => setPart("new")}>New notifier</button>
        <button className="button small" onClick={() => setPart("routes")}>Routes</button>
        <button className="button small" onClick={() => setPart("other")}>Pause and address</button>
        {list.length > 1 && <button className="button small" onClick={commands[0]!.run}>Test all</button>}
        {list.length > 1 && <Choice label="Notifier" value={notifier} set={choose} options={list.map((n) => n.name)} all="all" />}
      </div>
      <p className="muted">
        The server sends messages about what needs a person, and about what has happened, while nobody looks at this page. Notifiers and routes are under <code>notify</code> in your
        config.yaml: see <code>docs/notifications.md</code>. <Link href="/settings">Settings</Link> has the notifications of this browser.
      </p>
      {problem && <ProblemBox problem={problem} again={again} />}
      {!data && loading && <Loading what="the notifiers" />}
      {data && list.length === 0 && <Empty title="No notifier yet"><p>Without a notifier, no messages are sent.</p><button className="button primary" onClick={() => setPart("new")}>New notifier</button></Empty>}
      {list.length > 0 && <Notifiers list={list} commands={commands} edit={(name) => setPart({ notifier: name })} />}
      {data?.waiting && <p className="muted">Some notices wait to be sent.</p>}
      <Messages notifier={notifier} before={before} setBefore={setBefore} />
      {part && <NotifyDialog part={part} onClose={() => setPart(undefined)} />}
    </div>
  );
}

// routeText says which notices a route sends.
export function routeText(r: NotifyRoute): string {
  const parts = [(r.priority ?? []).join(", ")];
  if (r.kinds?.length) parts.push(`only ${r.kinds.join(", ")}`);
  if (r.projects?.length) parts.push(`of ${r.projects.join(", ")}`);
  if (r.hours) parts.push(`at ${r.hours}`);
  return parts.join(" · ");
}

function Notifiers({ list, commands, edit }: { list: Notifier[]; commands: Command[]; edit: (name: string) => void }) {
  const now = useNow();
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Notifiers">
      <table className="data">
        <thead><tr><th>Name</th><th>Kind</th><th>Gets</th><th>Last message</th><th>Actions</th></tr></thead>
        <tbody>
          {list.map((n) => {
            const test = commands.find((c) => c.id === `test notifier ${n.name}`)!;
            return (
              <tr key={n.name} data-notifier={n.name}>
                <td>{n.name}</td><td>{n.kind}</td>
                <td>{(n.routes ?? []).length === 0 ? <span className="muted">only tests</span> : (n.routes ?? []).map((r, i) => <div key={i}>{routeText(r)}</div>)}</td>
                <td>{n.last ? <><State m={n.last} /> <span className="muted" title={clock(n.last.at)}>{ago(n.last.at, now)}</span><Why m={n.last} /></> : <span className="muted">nothing sent</span>}</td>
                <td><button className="button small" aria-label={test.name} onClick={test.run}>Test</button> <button className="button small" aria-label={`Change the notifier ${n.name}`} onClick={() => edit(n.name)}>Change</button></td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function State({ m }: { m: Message }) {
  const text = m.state === "retrying" ? `failed ${plural(m.tries ?? 0, "time")}, tried again` : m.state;
  return <span className={m.state === "failed" || m.state === "retrying" ? "bad-text" : undefined}>{text}</span>;
}

// Why says why a message was not accepted, and what a person can do.
function Why({ m }: { m: Message }) {
  if (!m.failure) return null;
  return <div className="muted">{m.failure}{m.fix && <><br />Fix: {m.fix}</>}</div>;
}

function Messages({ notifier, before, setBefore }: { notifier: string; before: string; setBefore: (b: string) => void }) {
  const { data, problem, again } = useAnswer(queries.notifications(notifier, before));
  const now = useNow();
  const list = data?.notifications ?? [];
  return (
    <section aria-label="Messages">
      <h2>Messages</h2>
      {problem && <ProblemBox problem={problem} again={again} />}
      {!data && !problem && <Loading what="the messages" />}
      {data && list.length === 0 && <p className="muted">No message was sent.</p>}
      {list.map((m) => (
        <details key={m.id} data-message={m.id}>
          <summary>
            <State m={m} /> <span className="tag">{m.priority}</span> <strong>{m.title}</strong>{m.test && " (test)"} <span className="muted">{m.notifier}, <span title={clock(m.at)}>{ago(m.at, now)}</span></span>
          </summary>
          <pre tabIndex={0} aria-label={`Text of ${m.id}`}>{m.text}</pre>
          <Why m={m} />
          {m.path && <Link href={m.path}>Open the page</Link>}
        </details>
      ))}
      {before && <button className="button small" onClick={() => setBefore("")}>Newest</button>}
      {data?.next ? <Link className="button small" href={to("/notifications", { notifier, before: String(data.next) })}>Older</Link> : null}
    </section>
  );
}
