// Each project with its policy, and the preferences of this browser.
import { useState } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import type { Project, Rule } from "../api/schema";
import { AddProject } from "../components/addproject";
import { projectCommands, ruleCommands, trackCommands } from "../components/commands";
import { Config } from "../components/config";
import { Hooks } from "../components/hooks";
import { Prompts } from "../components/prompts";
import { RemoveProject } from "../components/removeproject";
import { RenameProject } from "../components/renameproject";
import { Trackers } from "../components/trackers";
import { Tracks } from "../components/tracks";
import { editorLink, editors, fault } from "../lib/editor";
import { clock, plural } from "../lib/format";
import { setPrefs, usePrefs, type Theme } from "../state/prefs";
import { Link } from "../router";
import { Empty, Loading, ProblemBox } from "../ui/parts";
import { say } from "../ui/toast";

export default function SettingsPage() {
  const projects = useAnswer(queries.projects());
  const status = useAnswer(queries.status());
  const list = projects.data?.projects ?? [];
  return (
    <div className="page">
      <div className="page-head"><h1>Settings</h1></div>
      <Preferences />
      <h2>Projects</h2>
      {projects.problem && <ProblemBox problem={projects.problem} again={projects.again} />}
      {!projects.data && projects.loading && <Loading what="the projects" />}
      {projects.data && list.length === 0 && <Empty title="No project yet" />}
      {list.map((p) => <ProjectView key={p.prefix} p={p} warnings={status.data?.projects?.find((s) => s.prefix === p.prefix)?.warnings ?? []} />)}
      <AddProject />
      <Hooks />
    </div>
  );
}

function Preferences() {
  const p = usePrefs();
  const notify = async (on: boolean) => {
    if (on && (await Notification.requestPermission()) !== "granted") {
      say("The browser does not allow notifications from this page; allow them in its settings");
      return;
    }
    setPrefs({ notify: on });
  };
  return (
    <section className="prefs">
      <h2>This browser</h2>
      <label className="choice"><span>Theme</span>
        <select value={p.theme} onChange={(e) => setPrefs({ theme: e.target.value as Theme })}><option value="system">as the system</option><option value="dark">dark</option><option value="light">light</option></select>
      </label>
      <EditorChoice />
      {"Notification" in window && (
        <label className="check"><input type="checkbox" checked={p.notify && Notification.permission === "granted"} onChange={(e) => void notify(e.target.checked)} /> Show a notification of this browser when a task needs me and this page is in the background</label>
      )}
      <p className="muted">Messages by chat, mail, phone and other programs come from the server: see <Link href="/notifications">Notifications</Link>.</p>
    </section>
  );
}

const OWN = "own";

// EditorChoice chooses the editor that opens workspaces.
function EditorChoice() {
  const { editor } = usePrefs();
  const known = editors.find((e) => e.template === editor);
  const [own, setOwn] = useState(!known);
  const wrong = fault(editor);
  return (
    <>
      <label className="choice"><span>Editor</span>
        <select value={own ? OWN : known?.id} onChange={(e) => {
          const chosen = editors.find((x) => x.id === e.target.value);
          setOwn(!chosen);
          if (chosen) setPrefs({ editor: chosen.template });
        }}>
          {editors.map((e) => <option key={e.id} value={e.id}>{e.name}</option>)}
          <option value={OWN}>another</option>
        </select>
      </label>
      {own && (
        <label className="choice"><span>Its link</span>
          <input value={editor} spellCheck={false} aria-invalid={wrong !== ""} onChange={(e) => setPrefs({ editor: e.target.value })} />
        </label>
      )}
      {own && <p className={wrong ? "bad-text" : "muted"}>{wrong ? `It cannot be used: ${wrong}.` : <>A workspace opens as <code>{editorLink(editor, "/path/to/it")}</code></>}</p>}
    </>
  );
}

function ProjectView({ p, warnings }: { p: Project; warnings: string[] }) {
  const [open, setOpen] = useState(false);
  const [tracksOpen, setTracks] = useState(false);
  const [trackersOpen, setTrackers] = useState(false);
  const [promptsOpen, setPrompts] = useState(false);
  const paused = !!p.paused_at;
  const tracks = Object.entries(p.paused_tracks ?? {});
  const resume = trackCommands(p);
  const forget = ruleCommands(p);
  return (
    <section className="project">
      <div className="page-head">
        <h3>{p.prefix}</h3> {(p.earlier_prefixes?.length ?? 0) > 0 && <span className="muted">earlier {p.earlier_prefixes!.join(", ")}</span>} <code>{p.path}</code>
        <span className="grow" />
        {projectCommands(p).map((c) => <button key={c.id} className="button small" onClick={c.run}>{c.name}</button>)}
        <RenameProject p={p} />
        <RemoveProject p={p} />
      </div>
      <p className="muted">{plural(p.running, "session")} running of {p.policy.limits.sessions} · {plural(p.last_task, "task")} · base {p.policy.base}{p.base_commit ? ` at ${p.base_commit.slice(0, 10)}` : ""}{paused && ` · paused since ${clock(p.paused_at)}`}</p>
      {tracks.map(([t, why], i) => <p key={t} className="warn-text">Track {t} is paused: {why}. <button className="button small" onClick={resume[i]!.run}>Resume</button></p>)}
      {warnings.map((w) => <p key={w} className="warn-text">{w}</p>)}
      {(p.rules?.length ?? 0) > 0 && (
        <div>
          <h3>Remembered permission answers</h3>
          <ol className="rules">
            {p.rules!.map((r: Rule, i) => (
              <li key={i}>
                <span className="tag">{r.do}</span> {r.tool || "every tool"}{r.match ? <> on <code>{r.match}</code></> : null}
                <button className="button small" onClick={forget[i]!.run} aria-label={forget[i]!.name}>Remove</button>
              </li>
            ))}
          </ol>
        </div>
      )}
      <details onToggle={(e) => setTracks(e.currentTarget.open)}>
        <summary>Tracks</summary>
        {tracksOpen && <Tracks project={p.prefix} />}
      </details>
      <details onToggle={(e) => setTrackers(e.currentTarget.open)}>
        <summary>Trackers</summary>
        {trackersOpen && <Trackers project={p.prefix} />}
      </details>
      <details onToggle={(e) => setPrompts(e.currentTarget.open)}>
        <summary>Prompts</summary>
        {promptsOpen && <Prompts project={p.prefix} />}
      </details>
      <details onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary>Every key of coppice.yaml</summary>
        {open && <Config project={p.prefix} />}
      </details>
    </section>
  );
}
