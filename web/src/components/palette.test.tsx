// @vitest-environment happy-dom
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Board, InboxEntry, Project, Task } from "../api/schema";
import { task } from "../test/make";
import { serve, show } from "../test/render";
import { useDialog } from "../state/dialog";
import { actions } from "./actions";
import { commands, goTo, projectCommands } from "./commands";
import { matches, Palette } from "./palette";

const failed = task({ id: 5, title: "Add a flag", status: "failed", stage: "ended", can: ["continue", "retry", "archive"] });
const board = (...tasks: Task[]): Board => ({ seq: 1, count: tasks.length, empty: false, needs: [], statuses: [], projects: [], tracks: [], agents: [], groups: [], labels: [], entries: [], columns: [{ name: "Failed", count: tasks.length, tasks }] });
const project = { prefix: "app", path: "/app", policy: {}, can: ["reload", "pause"] } as Partial<Project> as Project;
const names = (list: { name: string }[]) => list.map((c) => c.name);

function Open() {
  const open = useDialog();
  return <output>{typeof open !== "object" ? (open ?? "") : "form" in open ? open.form : `${open.action.id} ${open.task.key}`}</output>;
}

const type = (text: string) => fireEvent.change(screen.getByRole("combobox", { hidden: true }), { target: { value: text } });

it("finds every action of a task that has a button", () => {
  const t = task({ id: 1, can: actions.map((a) => a.id) });
  for (const a of actions) {
    expect(names(matches(`${a.name} app-1`, { here: t }))).toContain(`${a.name} app-1`);
    expect(names(matches(`${a.name} app-1`, { tasks: [t] }))).toContain(`${a.name} app-1 task 1`);
  }
});

it("finds the commands of the frame, of pages and of projects", () => {
  for (const c of [commands.create, commands.theme, commands.help, commands.backup, ...goTo]) expect(names(matches(c.name, {}))).toContain(c.name);
  for (const c of projectCommands(project)) expect(names(matches(c.name, { projects: [project] }))).toContain(`${c.name} app`);
  expect(names(projectCommands(project))).toEqual(["Reload coppice.yaml", "Pause"]);
  expect(names(projectCommands({ ...project, can: ["resume"] }))).toEqual(["Resume"]);
});

it("marks the open task", () => {
  const t = task({ id: 1, unread: true, group_id: 3 });
  for (const name of ["Flag", "Labels and group…", "Mark as read", "Open its group"]) expect(names(matches(name, { here: t }))).toContain(`${name} app-1`);
});

it("changes the priority of the open task, and resumes paused tracks", () => {
  const t = task({ id: 1, priority: 2, stage: "waiting" });
  for (const name of ["Raise the priority of", "Lower the priority of"]) expect(names(matches(name, { here: t }))).toContain(`${name} app-1`);
  expect(names(matches("priority", { here: { ...t, can_change: false } }))).toEqual(["Search for “priority”"]);
  expect(names(matches("resume", { projects: [{ ...project, paused_tracks: { docs: "it fails" } }] }))).toContain("Resume track docs of app");
});

it("runs the actions of the inbox that no task offers", async () => {
  const entry = { id: "limit/ann", kind: "limit", title: "ann", text: "not logged in", blocks: "work", actions: [{ label: "Clear the limit", method: "POST", route: "/agents/ann/clear", command: "" }, { label: "Restore base", method: "POST", route: "/x", command: "", danger: true, form: "confirm" }] } as unknown as InboxEntry;
  expect(names(matches("clear", { entries: [entry] }))).toContain("Clear the limit: ann");
  const retry = { ...entry, task: "app-1", actions: [{ ...entry.actions![0]!, label: "Retry", verb: "retry" }] } as InboxEntry;
  expect(names(matches("retry", { entries: [retry], tasks: [task({ id: 1, can: ["retry"] })] }))).toEqual(["Retry app-1 task 1", "Search for “retry”"]);
  const asks = { ...entry, question: 3, actions: [{ ...entry.actions![0]!, label: "Answer", form: "answer" }, { ...entry.actions![0]!, label: "Answered", route: "/x/answer" }] } as InboxEntry;
  expect(names(matches("answer", { entries: [asks] }))).toEqual(["Answered: ann", "Search for “answer”"]);
  const sent = serve({ "POST /api/v1/agents/ann/clear": {} });
  matches("clear", { entries: [entry] })[0]!.run();
  await waitFor(() => expect(sent.some((s) => s.path === "/api/v1/agents/ann/clear")).toBe(true));
  show(<Open />);
  act(() => matches("restore base", { entries: [entry] })[0]!.run());
  expect(screen.getByRole("status").textContent).toBe("entry");
});

it("offers no action that the server does not offer", () => {
  expect(names(matches("stop", { tasks: [failed] }))).toEqual(["Search for “stop”"]);
});

it("runs an action of a task on the board", async () => {
  const sent = serve({ "GET /api/v1/board": board(failed), "GET /api/v1/projects": { projects: [project] }, "POST /api/v1/tasks/app-5/retry": failed });
  show(<><Palette /><Open /></>);
  type("ret");
  fireEvent.click(await screen.findByText("Retry app-5 Add a flag"));
  await waitFor(() => expect(sent.some((s) => s.path === "/api/v1/tasks/app-5/retry")).toBe(true));
});

it("asks for a text that an action needs", async () => {
  serve({ "GET /api/v1/board": board(failed), "GET /api/v1/projects": { projects: [] } });
  show(<><Palette /><Open /></>);
  type("continue");
  fireEvent.click(await screen.findByText("Continue app-5 Add a flag"));
  expect(screen.getByRole("status").textContent).toBe("continue app-5");
});

it("finds tasks that the page has not read", async () => {
  const sent = serve({ "GET /api/v1/board": board(), "GET /api/v1/projects": { projects: [] }, "GET /api/v1/tasks": { tasks: [task({ id: 900, title: "Old thing" })] } });
  show(<Palette />);
  type("old thing");
  fireEvent.keyDown(await screen.findByText("app-900 Old thing"), { key: "Enter" });
  fireEvent.keyDown(screen.getByRole("combobox", { hidden: true }), { key: "Enter" });
  expect(location.pathname).toBe("/tasks/app-900");
  expect(sent.some((s) => s.path === "/api/v1/tasks")).toBe(true);
});
