// The command palette: every page, every task, and everything that a button runs. A
// test compares it with the requests of the page (palette.coverage.test.tsx).
import { useDeferredValue, useMemo, useState } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import type { InboxEntry, Project, Task } from "../api/schema";
import { priorities } from "../api/tables";
import { navigate, to, toReview, toTask } from "../router";
import { closeDialog, openDialog } from "../state/dialog";
import { Dialog } from "../ui/dialog";
import { actionsOf, answer, edit, quick } from "./actions";
import { commands, entryCommands, entryName, goTo, isSnoozed, projectCommands, projectForms, ruleCommands, snoozeCommands, trackCommands, type Command } from "./commands";
import { pageCommands } from "./keys";
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

// prioritiesOf change the priority of a task, as the buttons beside it do.
function prioritiesOf(t: Task): Command[] {
  const set = (name: string, priority: number): Command[] => (priority < priorities.least || priority > priorities.most ? [] : [{ id: name, name, hint: "", run: () => void edit(t.key, { priority }, `${t.key} has priority ${priority}`) }]);
  return [...set("Raise the priority of", t.priority + 1), ...set("Lower the priority of", t.priority - 1)];
}

// answersOf answer the open question of a task.
function answersOf(t: Task): Command[] {
  const q = t.question;
  if (!q?.open) return [];
  const say = (name: string, text: string): Command => ({ id: "answer " + text, name, hint: "", run: () => void answer(t.key, q.id, text) });
  const name = (option: string) => (q.kind === "permission" ? `${option[0]!.toUpperCase()}${option.slice(1)}:` : `Answer “${option}”:`);
  const offered = q.several ? [] : (q.options ?? []).map((o, i) => say(name(o), String(i + 1)));
  return [...offered, { id: "answer", name: "Answer…", hint: "", run: () => openDialog({ form: "answer", task: t.key }) }];
}

// taskCommands are what a person can do with a task.
export function taskCommands(t: Task): Command[] {
  const form = (name: string, form: "message" | "limits" | "review"): Command => ({ id: "form " + form, name, hint: "", run: () => openDialog({ form, task: t.key }) });
  return [
    ...actionsOf(t).map((a): Command => ({ id: a.id, name: a.name, hint: "", run: () => quick(t, a) })),
    ...answersOf(t),
    ...markItems(t).map((m): Command => ({ ...m, hint: "" })),
    ...(t.can_send ? [form("Send a message to", "message")] : []),
    ...(t.can_change ? [...prioritiesOf(t), form("Change the budget and limits of", "limits")] : []),
    ...(t.review ? [{ id: "review", name: "Review", hint: "", run: () => navigate(toReview(t.key)) }, form("Ask for changes to", "review")] : []),
  ];
}

// inboxCommands are the actions of entries of the inbox, and what hides them. What the
// task of an entry offers is left out.
function inboxCommands(entries: InboxEntry[], tasks: Task[]): Command[] {
  const can = new Map(tasks.map((t) => [t.key, t.can ?? []]));
  return entries.flatMap((e) => {
    const offered: string[] = (e.task && can.get(e.task)) || [];
    const own = entryCommands({ ...e, actions: (e.actions ?? []).filter((a) => !(a.verb && offered.includes(a.verb)) && a.form !== "answer") });
    const hide = snoozeCommands(e).map((c) => ({ ...c, id: `${e.id} ${c.id}`, name: c.id === "wake" ? "Wake" : `Snooze ${c.name[0]!.toLowerCase()}${c.name.slice(1)}` }));
    return [...(isSnoozed(e) ? [] : own), ...hide].map((c) => ({ ...c, name: `${c.name}: ${entryName(e)}`, hint: "inbox" }));
  });
}

export interface Offers {
  here?: Task; // the task of the open page
  tasks?: Task[];
  projects?: Project[];
  entries?: InboxEntry[];
}

const act = (t: Task, hint: string) => taskCommands(t).map((c): Command => ({ ...c, id: `${c.id} ${t.key}`, name: `${c.name} ${t.key}${hint ? "" : " " + t.title}`, hint: hint || "action" }));

// everything lists all commands besides those of other tasks: what the open page and
// its task offer first.
export function everything({ here, tasks = [], projects = [], entries = [] }: Offers): Command[] {
  const { palette: _, ...rest } = commands;
  return [
    ...ownOf(here), ...Object.values<Command>(rest), ...goTo, ...inboxCommands(entries, here ? [here, ...tasks] : tasks),
    ...projects.flatMap((p) => [...projectCommands(p).map((c) => ({ ...c, name: `${c.name} ${p.prefix}` })), ...trackCommands(p), ...ruleCommands(p), ...projectForms(p)]),
  ];
}

const ownOf = (here?: Task) => [...(here ? act(here, "this task") : []), ...pageCommands()];

// matches lists what a text finds: commands, then tasks, then the actions of tasks.
export function matches(text: string, offers: Offers): Command[] {
  const { here, tasks = [] } = offers;
  const found = everything(offers).filter((c) => fits(c.name, text));
  if (!text) return found.slice(0, SHOWN + ownOf(here).length);
  const others = tasks.filter((t) => t.key !== here?.key);
  const opens = tasks.filter((t) => fits(`${t.key} ${t.title}`, text)).map((t): Command => ({ id: t.key, name: `${t.key} ${t.title}`, hint: t.status, run: () => navigate(toTask(t.key)) }));
  const acts = others.flatMap((t) => act(t, "")).filter((c) => fits(c.name, text));
  const search: Command = { id: "search", name: `Search for “${text}”`, hint: "search", run: () => navigate(to("/search", { q: text })) };
  return [...[...found, ...opens, ...acts].slice(0, SHOWN), search];
}

export function Palette() {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const key = /^\/(?:tasks|flows)\/([a-z0-9-]+)(?:\/review)?$/.exec(location.pathname)?.[1];
  const here = useAnswer({ ...queries.task(key ?? ""), enabled: key !== undefined }).data;
  const board = useAnswer(queries.board({})).data;
  const listed = useMemo(() => (board?.columns ?? []).flatMap((c) => c.tasks ?? []), [board]);
  const asked = useDeferredValue(taskWords(text.trim(), listed));
  const more = useAnswer({ ...queries.tasks(asked, SHOWN), enabled: asked !== "" }).data;
  const projects = useAnswer(queries.projects()).data?.projects ?? undefined;
  const entries = useAnswer(queries.inbox("", true)).data?.entries ?? undefined;
  const found = useMemo(() => {
    const tasks = new Map([...(asked ? (more?.tasks ?? []) : []), ...listed].map((t) => [t.key, t]));
    return matches(text.trim(), { here, tasks: [...tasks.values()], projects, entries });
  }, [text, asked, here, listed, more, projects, entries]);

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
