// What people mark tasks with: labels, a group, a flag, and whether they have seen
// it.
import { useEffect, useState, type FormEvent } from "react";
import { change, changed, useAnswer } from "../api/cache";
import { api, dataOf, problemOf } from "../api/client";
import { queries } from "../api/queries";
import type { Problem, Task } from "../api/schema";
import { navigate, to } from "../router";
import { openDialog } from "../state/dialog";
import { Dialog } from "../ui/dialog";
import { Menu, type MenuItem } from "../ui/menu";
import { Loading, ProblemBox } from "../ui/parts";
import { actionsOf, edit, perform } from "./actions";

// words splits a text into labels.
export const words = (text: string) => text.split(/[\s,]+/).filter(Boolean);

export const editMarks = (t: Task) => openDialog(`marks ${t.key}`);
export const flag = (t: Task) => void edit(t.key, { flagged: !t.flagged }, t.flagged ? `${t.key} is no longer flagged` : `${t.key} is flagged`);

const putSeen = (key: string) => dataOf(api.PUT("/api/v1/tasks/{key}/seen", { params: { path: { key } }, body: {} }));
const see = (key: string) => change("", () => putSeen(key));

// useSeen says that the person has seen a task, while its page is in the
// foreground. The person did not ask for that, so a failure is not shown.
export function useSeen(t: Task): void {
  const { key, unread } = t;
  useEffect(() => {
    if (!unread) return;
    const look = () => document.visibilityState === "visible" && void putSeen(key).then(changed, () => undefined);
    look();
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [key, unread]);
}

// markItems are the entries of a menu that mark a task.
export function markItems(t: Task): MenuItem[] {
  return [
    { id: "flag", name: t.flagged ? "Remove the flag" : "Flag", run: () => flag(t) },
    { id: "marks", name: "Labels and group…", run: () => editMarks(t) },
    ...(t.unread ? [{ id: "seen", name: "Mark as read", run: () => void see(t.key) }] : []),
    ...(t.group_id ? [{ id: "group", name: "Open its group", run: () => navigate(to("/groups/{id}", { id: String(t.group_id) })) }] : []),
  ];
}

// TaskMenu is the menu of a card or a row: the actions of its task, and its marks.
export function TaskMenu({ t }: { t: Task }) {
  const items = (): MenuItem[] => [...actionsOf(t).map((a) => ({ id: a.id, name: a.name, about: a.about, danger: a.danger, run: () => perform(t, a) })), ...markItems(t)];
  return <Menu name="⋯" label={`Actions of ${t.key}`} float items={items} />;
}

// Dot and Flag mark a task in lists.
export function Dot({ t }: { t: Task }) {
  return t.unread ? <span className="unread-dot" role="img" aria-label="unread" title="Something happened since you last saw it" /> : null;
}

export function Flag({ t }: { t: Task }) {
  return t.flagged ? <span className="flag" role="img" aria-label="flagged" title="Flagged">⚑</span> : null;
}

export function MarksDialog({ task, onClose }: { task: string; onClose: () => void }) {
  const { data: t, problem, again } = useAnswer(queries.task(task));
  return (
    <Dialog title={`Labels and group of ${task}`} onClose={onClose}>
      {problem && <ProblemBox problem={problem} again={again} />}
      {!t && !problem && <Loading what={task} />}
      {t && <MarksForm t={t} onClose={onClose} />}
    </Dialog>
  );
}

function MarksForm({ t, onClose }: { t: Task; onClose: () => void }) {
  const [problem, setProblem] = useState<Problem>();
  const submit = async (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget);
    const text = (name: string) => String(form.get(name) ?? "").trim();
    try {
      const body = { labels: words(text("labels")), group: text("group"), flagged: form.get("flagged") !== null };
      await dataOf(api.PATCH("/api/v1/tasks/{key}", { params: { path: { key: t.key } }, body }));
      changed();
      onClose();
    } catch (err) {
      setProblem(problemOf(err));
    }
  };
  return (
    <form className="form" onSubmit={(e) => void submit(e)}>
      <p>{t.title}</p>
      <MarkFields project={t.project} labels={t.labels ?? []} group={t.group} />
      <label className="check"><input type="checkbox" name="flagged" defaultChecked={t.flagged} /> Flagged</label>
      <footer className="form-end">
        {problem && <ProblemBox problem={problem} />}
        <button className="button primary">Save</button>
        <button type="button" className="button" onClick={onClose}>Cancel</button>
      </footer>
    </form>
  );
}

// MarkFields are the fields for labels and a group, for forms.
export function MarkFields({ project, labels = [], group = "" }: { project: string; labels?: string[]; group?: string }) {
  const groups = useAnswer(queries.groups(project)).data?.groups ?? [];
  return (
    <div className="form-row">
      <div className="field">
        <label htmlFor="mark-labels">Labels</label>
        <input id="mark-labels" name="labels" defaultValue={labels.join(" ")} autoComplete="off" placeholder="ui later" />
        <small>Lower-case words, separated by blanks</small>
      </div>
      <div className="field">
        <label htmlFor="mark-group">Group</label>
        <input id="mark-group" name="group" defaultValue={group} autoComplete="off" list="mark-groups" />
        <datalist id="mark-groups">{groups.map((g) => <option key={g.id} value={g.name} />)}</datalist>
        <small>A new name creates a group; empty for none</small>
      </div>
    </div>
  );
}
