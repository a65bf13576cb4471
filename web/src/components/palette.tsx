// The command palette: every page, every task, and everything that a button
// runs: the actions of tasks, and the commands of the page.
import { useDeferredValue, useMemo, useState } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import type { InboxEntry, Project, Task } from "../api/schema";
import { navigate, to, toTask } from "../router";
import { closeDialog } from "../state/dialog";
import { Dialog } from "../ui/dialog";
import { actionsOf, edit, quick } from "./actions";
import { commands, goTo, projectCommands, trackCommands, type Command } from "./commands";
import { act as help, isSnoozed } from "./entry";
import { markItems } from "./marks";

// fits reports whether the text contains every word.
export function fits(text: string, words: string): boolean {
  const low = text.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((w) => low.includes(w));
}

const SHOWN = 12;

// taskWords returns the part of the text that looks for tasks: all words that
// are not the beginning of the name of an action.
function taskWords(text: string, tasks: Task[]): string {
  const names = tasks.flatMap((t) => actionsOf(t)).map((a) => a.name.toLowerCase());
  return text.split(/\s+/).filter((w) => !names.some((n) => n.split(" ").some((part) => w.length > 1 && part.startsWith(w.toLowerCase())))).join(" ");
}

// priorities change the priority of a task, as the buttons beside it do.
function priorities(t: Task): Command[] {
  if (t.stage === "ended") return [];
  const set = (name: string, priority: number): Command => ({ id: `${name} ${t.key}`, name: `${name} ${t.key}`, hint: "this task", run: () => void edit(t.key, { priority }, `${t.key} has priority ${priority}`) });
  return [set("Raise the priority of", t.priority + 1), set("Lower the priority of", t.priority - 1)];
}

// helps are the actions of entries of the inbox about projects and accounts. One that
// asks for a text or a confirmation is run in the inbox.
function helps(entries: InboxEntry[]): Command[] {
  return entries.filter((e) => !e.task && !isSnoozed(e)).flatMap((e) => (e.actions ?? []).map((a): Command => ({
    id: `${e.id} ${a.label}`, name: `${a.label}: ${e.title}`, hint: "inbox", run: () => (a.text || a.danger ? navigate("/inbox") : void help(e, a)),
  })));
}

// matches lists what a text finds: the actions of the open task first, then
// commands, then tasks with their actions.
export function matches(text: string, here: Task | undefined, tasks: Task[], projects: Project[], entries: InboxEntry[] = []): Command[] {
  const act = (t: Task, hint: string) => actionsOf(t).map((a): Command => ({ id: `${a.id} ${t.key}`, name: `${a.name} ${t.key}${hint ? "" : " " + t.title}`, hint: hint || "action", run: () => quick(t, a) }));
  const mark = (t: Task) => markItems(t).map((m): Command => ({ ...m, id: `${m.id} ${t.key}`, name: `${m.name} ${t.key}`, hint: "this task" }));
  const own = here ? [...act(here, "this task"), ...mark(here), ...priorities(here)] : [];
  const all = [
    ...own, commands.create, commands.theme, commands.help, ...goTo, commands.backup,
    ...projects.flatMap((p) => [...projectCommands(p), ...trackCommands(p)].map((c) => ({ ...c, name: `${c.name} ${p.prefix}` }))), ...helps(entries),
  ];
  const found = all.filter((c) => fits(c.name, text));
  if (!text) return found.slice(0, SHOWN + own.length);
  const others = tasks.filter((t) => t.key !== here?.key);
  const opens = tasks.filter((t) => fits(`${t.key} ${t.title}`, text)).map((t): Command => ({ id: t.key, name: `${t.key} ${t.title}`, hint: t.status, run: () => navigate(toTask(t.key)) }));
  const acts = others.flatMap((t) => act(t, "")).filter((c) => fits(c.name, text));
  const search: Command = { id: "search", name: `Search for “${text}”`, hint: "search", run: () => navigate(to("/search", { q: text })) };
  return [...[...found, ...opens, ...acts].slice(0, SHOWN), search];
}

export function Palette() {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const key = /^\/tasks\/([a-z0-9-]+)(?:\/review)?$/.exec(location.pathname)?.[1];
  const here = useAnswer({ ...queries.task(key ?? ""), enabled: key !== undefined }).data;
  const board = useAnswer(queries.board({})).data;
  const listed = useMemo(() => (board?.columns ?? []).flatMap((c) => c.tasks ?? []), [board]);
  const asked = useDeferredValue(taskWords(text.trim(), listed));
  const more = useAnswer({ ...queries.tasks(asked, SHOWN), enabled: asked !== "" }).data;
  const projects = useAnswer(queries.projects()).data?.projects;
  const found = useMemo(() => {
    const tasks = new Map([...(asked ? (more?.tasks ?? []) : []), ...listed].map((t) => [t.key, t]));
    return matches(text.trim(), here, [...tasks.values()], projects ?? [], board?.entries ?? []);
  }, [text, asked, here, listed, more, projects, board]);

  const choose = (c: Command | undefined) => {
    if (!c) return;
    closeDialog();
    c.run();
  };
  return (
    <Dialog title="Search or run" onClose={closeDialog} className="palette">
      <input
        type="text" autoFocus placeholder="A task, a page, an action" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-label="Command"
        aria-activedescendant={found[at] ? "palette-" + at : undefined} value={text}
        onChange={(e) => {
          setText(e.target.value);
          setAt(0);
        }}
        onKeyDown={(e) => {
          if (e.key === "ArrowDown") setAt(Math.min(at + 1, found.length - 1));
          else if (e.key === "ArrowUp") setAt(Math.max(at - 1, 0));
          else if (e.key === "Enter") choose(found[at]);
          else return;
          e.preventDefault();
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Matches">
        {found.map((c, i) => (
          <li key={c.id} id={"palette-" + i} role="option" aria-selected={i === at} onClick={() => choose(c)} onMouseMove={() => setAt(i)}>
            <span>{c.name}</span>
            <small>{c.hint}</small>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
