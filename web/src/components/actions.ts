// What a person can do with a task. The server's table says what exists, in
// which order, and a task's `can` says when. Buttons, the palette and the table
// of tasks all run these.
import { actions as table } from "../api/actions";
import { change, changed } from "../api/cache";
import { api, dataOf } from "../api/client";
import type { Between, paths, Task, TaskChange } from "../api/schema";
import { navigate, to, toTask } from "../router";
import { openDialog } from "../state/dialog";
import { attempt, say } from "../ui/toast";

export type ActionID = (typeof table)[number]["id"];

export interface TaskAction {
  id: ActionID;
  path: keyof paths; // a renamed route does not compile
  method?: "DELETE"; // without one it is POST
  name: string;
  about: string;
  done: string;
  text?: string; // the name of its text in requests
  prompt?: string; // asks for the text
  required?: boolean; // the text cannot be empty
  bare?: boolean; // it can be run without asking for the text
  staff?: boolean; // another agent or model can be named
  images?: boolean; // images can belong to the text
  head?: boolean; // the commit that the person has read can be named
  danger?: boolean;
  more?: boolean; // in the menu “More”
  many?: boolean; // it can be run on many tasks
  undo?: ActionID; // the action that undoes it
}

// With is what a request has besides its text: the agent, model and effort with
// which a task continues, ids of images, and the commit that the person has read. Absent fields stay as they are.
export interface With {
  agent?: string;
  model?: string;
  effort?: string;
  images?: string[];
  head?: string;
}

export const actions: readonly TaskAction[] = table;

const known = new Map<string, TaskAction>(actions.map((a) => [a.id, a]));

// actionsOf returns what can be done with a task now, in the server's order.
export function actionsOf(t: Pick<Task, "can">): TaskAction[] {
  return (t.can ?? []).flatMap((id) => known.get(id) ?? []);
}

export const can = (t: Pick<Task, "can">, id: ActionID) => t.can?.includes(id) ?? false;

type Send = (path: keyof paths, init: object) => Promise<{ data?: unknown }>;

// request requests an action. It throws the server's refusal.
export async function request(a: TaskAction, key: string, text = "", more: With = {}): Promise<void> {
  const body = a.id === "undo" ? { task: key } : { ...more, ...(a.text && text ? { [a.text]: text } : {}) };
  const send = (a.method === "DELETE" ? api.DELETE : api.POST) as unknown as Send;
  const answer = await dataOf(send(a.path, { params: { path: { key } }, body }));
  changed();
  const back = a.undo && known.get(a.undo);
  if (a.id === "undo") say(`The workspace of ${key} comes back; this page shows its folder`);
  else if (a.done) say(`${key} ${a.done}`, back && (() => void run(back, key)));
  if (a.id === "fork") navigate(toTask((answer as Task).key));
  if (a.id === "preview") navigate(to("/tasks/{key}", { key, tab: "preview" }));
}

// run is request for a button: a message shows a refusal. It reports whether the
// server accepted the request.
export async function run(a: TaskAction, key: string, head = ""): Promise<boolean> {
  return (await attempt("", () => request(a, key, "", a.head && head ? { head } : {}).then(() => true))) ?? false;
}

// perform runs an action, or first opens its dialog: for a text, or because it
// is dangerous. head is the commit that the page shows.
export function perform(t: Task, a: TaskAction, head?: string): void {
  if (a.prompt || a.danger) openDialog({ task: t, action: a });
  else void run(a, t.key, head);
}

// quick is perform for a person who typed the action: it asks only for a text
// that it needs.
export function quick(t: Task, a: TaskAction): void {
  if (a.prompt && !a.bare) openDialog({ task: t, action: a });
  else void run(a, t.key);
}

// bulk runs one action on many tasks, one after the other. It continues if one
// of them refuses.
export async function bulk(keys: string[], a: TaskAction): Promise<void> {
  for (const key of keys) await run(a, key);
}

// manyActions can be run on many tasks.
export const manyActions = actions.filter((a) => a.many);

// send sends a message to the running session, immediately or after its turn.
export async function send(key: string, text: string, next: boolean, images: string[] = []): Promise<boolean> {
  const body = { text, ...(next ? { next } : {}), ...(images.length > 0 ? { images } : {}) };
  return (await change("", () => dataOf(api.POST("/api/v1/tasks/{key}/send", { params: { path: { key } }, body })))) !== undefined;
}

export async function answer(key: string, question: number, text: string): Promise<boolean> {
  return (await change(`Answered ${key}`, () => dataOf(api.POST("/api/v1/tasks/{key}/answer", { params: { path: { key } }, body: { question, text } })))) !== undefined;
}

export async function edit(key: string, body: TaskChange, done: string): Promise<void> {
  await change(done, () => dataOf(api.PATCH("/api/v1/tasks/{key}", { params: { path: { key } }, body })));
}

// place puts a task between two others. The server finds the priority that does that.
export async function place(t: Task, between: Between): Promise<void> {
  const now = await change("", () => dataOf(api.PATCH("/api/v1/tasks/{key}", { params: { path: { key: t.key } }, body: { between } })));
  if (now && now.priority !== t.priority) say(`${t.key} has priority ${now.priority}`);
}
