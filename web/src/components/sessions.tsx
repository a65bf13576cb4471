// A task's sessions as tabs: each as a conversation, as raw output, or as a
// live terminal; and a field for messages to it.
import { lazy, Suspense, useState, type ReactNode } from "react";
import type { Session, TaskDetail } from "../api/schema";
import { appRoles, classes } from "../api/tables";
import { ago, cost, size, useNow, plural } from "../lib/format";
import { relativeTo } from "../lib/relative";
import { useParam, type Param } from "../router";
import { Empty, Loading, Mono, Tabs } from "../ui/parts";
import { send } from "./actions";
import { Conversation } from "./conversation";
import { Attachments, useImages } from "./images";
import { Raw } from "./raw";

const Terminal = lazy(() => import("./terminal"));
const Replay = lazy(() => import("./replay"));
const APP = ["app"];

const live = (t: TaskDetail, s: Session) => t.live?.includes(s.key) ?? false;

// after is shown below the conversation of the newest session.
export function Sessions({ t, after }: { t: TaskDetail; after?: ReactNode }) {
  const all = t.history ?? [];
  const newest = all.at(-1);
  const [chosen, setChosen] = useParam("/tasks/{key}", "session", newest?.key);
  const [view, setView] = useParam("/tasks/{key}", "view");
  const session = all.find((s) => s.key === chosen) ?? newest;
  if (!session) return <Empty title="No session yet"><p>{t.reason ? `${t.status === "waiting" ? "Waiting" : "Status"}: ${t.reason}.` : "It starts as soon as the limits allow it."}</p></Empty>;
  const views: { id: Param<"/tasks/{key}", "view">; name: string; hidden?: boolean }[] = [
    { id: "conversation", name: "Conversation" },
    { id: "terminal", name: "Terminal", hidden: !t.terminals?.includes(session.key) },
    { id: "raw", name: "Raw" },
    { id: "app", name: "App", hidden: !appRoles.includes(session.role) },
  ];
  const offered = views.filter((v) => !v.hidden);
  const shown = offered.some((v) => v.id === view) ? view : "conversation";
  return (
    <div className="sessions">
      <div className="session-bar">
        {all.length > 1 && <Tabs label="Session" value={session.key} onChange={setChosen} tabs={all.map((s) => ({ id: s.key, name: <><span className={"dot st-" + s.state} aria-hidden="true" /> {s.n} {s.role}</> }))} />}
        <span className="grow" />
        <div className="segments" role="group" aria-label="View of the session">
          {offered.map((v) => <button key={v.id} aria-pressed={shown === v.id} onClick={() => setView(v.id)}>{v.name}</button>)}
        </div>
      </div>
      <SessionLine s={session} live={live(t, session)} rested={t.rested?.includes(session.key)} />
      {shown === "conversation" && <Conversation key={session.key} session={session} relative={relativeTo(t)} />}
      {shown === "raw" && <Raw key={session.key} session={session} />}
      {shown === "app" && <Raw key={session.key + " app"} session={session} kinds={APP} name="Output of the app" nothing="There is no output of an app. An app is served for a verifier when workspace.serve is set in coppice.yaml." />}
      {shown === "terminal" && (
        <Suspense fallback={<Loading what="the terminal" />}>
          {live(t, session) ? <Terminal key={session.key} session={session.key} /> : <Replay key={session.key} session={session} />}
        </Suspense>
      )}
      {shown === "conversation" && session === newest && after}
      {shown !== "terminal" && <Composer t={t} session={session} />}
    </div>
  );
}

function SessionLine({ s, live, rested }: { s: Session; live: boolean; rested?: boolean }) {
  const now = useNow();
  return (
    <p className="session-line muted">
      <span className={"dot st-" + s.state} aria-hidden="true" /> {s.key} · {s.role} · {s.agent}{s.model ? ` · ${s.model}` : ""} · {s.state}{s.parked_at ? ", parked" : ""}
      {live ? ` · ${ago(s.started_at ?? s.created_at, now)}` : ` · ended ${ago(s.ended_at, now)} ago`}
      {s.usage.cost_usd ? ` · ${cost(s.usage)}` : ""}{s.usage.turns ? ` · ${plural(s.usage.turns, "turn")}` : ""}
      {s.dropped ? <span className="warn-text"> · {size(s.dropped)} of its output were not kept (limits.output)</span> : null}
      {rested && " · stopped while it was parked; its conversation continues"}
      {s.warning && <span className="warn-text"> · {s.warning}</span>}
      {s.failure && <span className="bad-text"> · {classes[s.failure.class] ?? s.failure.class}: <Mono text={s.failure.text} /></span>}
    </p>
  );
}

// Composer sends messages to a session, or to the next one.
export function Composer({ t, session, onSent }: { t: TaskDetail; session?: Session; onSent?: () => void }) {
  const running = session !== undefined && live(t, session);
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [next, setNext] = useState(false);
  const images = useImages();
  if (!t.can_send) return null;
  const submit = async () => {
    if (!text.trim() || busy || images.busy) return;
    setBusy(true);
    if (await send(t.key, text, next, images.ids.images)) {
      setText("");
      images.clear();
      onSent?.();
    }
    setBusy(false);
  };
  return (
    <form className="composer" aria-label="Message" {...images.take} onSubmit={(e) => {
      e.preventDefault();
      void submit();
    }}>
      <textarea
        rows={2} value={text} onChange={(e) => setText(e.target.value)} aria-label="Message to the agent"
        placeholder={running ? "Message to the running session" : "Message to the next session"}
        onKeyDown={(e) => {
          if (e.key !== "Enter" || e.shiftKey) return;
          e.preventDefault();
          void submit();
        }}
      />
      <span className="composer-end">
        {running && <label className="check"><input type="checkbox" checked={next} onChange={(e) => setNext(e.target.checked)} /> after its turn</label>}
        <button className="button primary" disabled={busy || images.busy || !text.trim()}>Send</button>
      </span>
      <Attachments images={images} project={t.project} agent={session?.agent ?? t.agent} small />
    </form>
  );
}
