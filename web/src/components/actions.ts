// What a person can do with a task, and when.
import { feed } from "../api/live";
import { patch, post } from "../api/client";
import { invalidate } from "../api/query";
import type { Message, Question, Task, Trash } from "../api/schema";
import { verbs } from "../api/verbs";
import { navigate } from "../router";
import { attempt, say } from "../ui/toast";

export interface TaskAction {
  id: string;
  name: string;
  about: string;
  needsText?: string; // the label of the text
  needed?: boolean; // the text is required
  bare?: boolean; // the palette offers it too, without a text
  who?: boolean; // another agent or model can be named
  danger?: boolean;
  more?: boolean; // in the menu “More”
  fits: (t: Task) => boolean;
  run: (key: string, text: string, who?: Who) => Promise<unknown>;
}

// Who is the agent and model that continue a task. Absent fields stay as they
// are.
export interface Who {
  agent?: string;
  model?: string;
}

const ended = (t: Task) => t.stage === "ended";

// changed shows the server's answer immediately. The event follows.
function changed(t: Task | undefined): void {
  if (t) feed.put([t]);
}

async function act(key: string, name: string, body: unknown, done: string): Promise<boolean> {
  const t = await attempt(done, () => post<Task>(`/tasks/${key}/${name}`, body));
  changed(t);
  if (t) invalidate((n) => n === "task:" + key || n.startsWith("archived "));
  return t !== undefined;
}

// speak sends a message to a session.
async function speak(key: string, name: string, body: unknown, done: string): Promise<boolean> {
  const m = await attempt(done, () => post<Message>(`/tasks/${key}/${name}`, body));
  if (m) invalidate((n) => n === "task:" + key);
  return m !== undefined;
}

// What the server's table of verbs offers.
const asked: TaskAction[] = verbs.map((v) => ({
  id: v.id, name: v.name, about: v.about, needsText: v.prompt, bare: v.bare, who: v.staff, danger: v.danger, more: v.more,
  fits: (t) => t.can?.includes(v.id) ?? false,
  run: (key, text, who) =>
    v.id === "undo" ? undo(key) : act(key, v.id, { ...who, ...(v.text && text ? { [v.text]: text } : {}) }, `${key} ${v.done}`),
}));

// What people send to a session, and what creates or archives tasks.
const others: TaskAction[] = [
  {
    id: "interrupt", name: "Interrupt", about: "Interrupt the agent's turn, but keep its session", needsText: "What should it do instead? (optional)",
    fits: (t) => t.stage === "session" && !t.taken,
    run: (key, text) => speak(key, "interrupt", text ? { text } : {}, `${key} is interrupted`),
  },
  {
    id: "model", name: "Change the model", about: "Continue with another model, immediately if the agent can", needsText: "Name of the model, or auto", needed: true, more: true,
    fits: (t) => !ended(t),
    run: (key, model) => speak(key, "model", { model }, `${key} changes to ${model}`),
  },
  {
    id: "fork", name: "Fork", about: "Create a new task that continues with a copy of this conversation and branch", needsText: "What should the copy do? (optional)", more: true,
    fits: (t) => t.sessions > 0,
    run: async (key, text) => {
      const t = await attempt(`${key} was forked`, () => post<Task>(`/tasks/${key}/fork`, text ? { text } : {}));
      changed(t);
      if (t) navigate("/tasks/" + t.key);
    },
  },
  {
    id: "archive", name: "Archive", about: "Remove it from the board; it stays in search, usage and history", more: true,
    fits: (t) => ended(t) && !t.archived,
    run: (key) => act(key, "archive", {}, `${key} is archived`),
  },
  {
    id: "unarchive", name: "Unarchive", about: "Show it on the board again", more: true,
    fits: (t) => !!t.archived,
    run: (key) => act(key, "unarchive", {}, `${key} is back on the board`),
  },
];

// The order in which they are shown; a verb that is not in it comes last.
const order = ["land", "continue", "retry", "interrupt", "requeue", "stop", "give", "take", "model", "fork", "undo", "archive", "unarchive"];
const place = (id: string) => (order.indexOf(id) + order.length + 1) % (order.length + 1);

export const actions: TaskAction[] = [...asked, ...others].sort((a, b) => place(a.id) - place(b.id));

export function actionsOf(t: Task): TaskAction[] {
  return actions.filter((a) => a.fits(t));
}

export async function undo(key: string): Promise<boolean> {
  const trash = await attempt("", () => post<Trash>("/undo", key ? { task: key } : {}));
  if (trash) {
    say(`The workspace ${trash.path} is being restored`);
    invalidate((n) => n.startsWith("task:"));
  }
  return trash !== undefined;
}

// send sends a message to the running session, immediately or after its turn.
export function send(key: string, text: string, next: boolean): Promise<boolean> {
  return speak(key, "send", next ? { text, next } : { text }, "");
}

export async function answer(key: string, question: number, text: string): Promise<boolean> {
  const q = await attempt(`Answered ${key}`, () => post<Question>(`/tasks/${key}/answer`, { question, text }));
  if (q) {
    feed.touch(key);
    invalidate((n) => n === "task:" + key);
  }
  return q !== undefined;
}

export async function change(key: string, what: Record<string, unknown>, done: string): Promise<boolean> {
  const t = await attempt(done, () => patch<Task>("/tasks/" + key, what));
  changed(t);
  if (t) invalidate((n) => n === "task:" + key);
  return t !== undefined;
}

// bulk runs one action on many tasks, one after the other. It continues if one
// of them refuses.
export async function bulk(keys: string[], action: TaskAction): Promise<void> {
  for (const key of keys) await action.run(key, "");
}
