// @vitest-environment happy-dom
// The forms that any page can open: each sends what a person has typed.
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { detail, project, review, session, task } from "../test/make";
import { serve, show, type Sent } from "../test/render";
import { openDialog, useDialog, type OpenDialog } from "../state/dialog";
import { ActionDialog } from "./actiondialog";
import { actions } from "./actions";
import { AgentFields, stateOf } from "./agentfields";
import { AddProject } from "./addproject";
import { Config } from "./config";
import { Dialogs } from "./dialogs";
import { changesOf } from "./featuredialog";
import "./forms"; // it is loaded before the tests start
import { Help, usePageCommands } from "./keys";
import { left } from "./removeproject";

const limits = { key: "limits.sessions", text: "6", value: 6, line: 3, doc: "How many run at the same time", default: "4", type: "number", shape: "number" };
const config = { path: "/src/app/coppice.yaml", exists: true, revision: "r1", server: [], keys: [limits, { key: "tracks", text: "", value: [{ name: "main", default: true }], line: 0, doc: "", default: "", type: "list", form: true }] };
const prompts = { prompts: [{ role: "fix", about: "fix", built_in: "", path: ".coppice/prompts/fix.md", revision: "p1", text: "Fix it." }], fields: [], functions: [] };
const question = { id: 7, kind: "", text: "Which?", options: ["tabs", "blanks"], asked_at: "2026-01-01T10:00:00Z", open: true };

const answers = {
  "GET /api/v1/projects": { projects: [project({ prefix: "app", policy: { ...project({ prefix: "app" }).policy, features: "f.json" } })] },
  "GET /api/v1/projects/app/config": config,
  "GET /api/v1/projects/app/prompts": prompts,
  "GET /api/v1/projects/app/features": { project: "app", file: "f.json", revision: "f1", features: [{ id: "F1", name: "Greet", status: "open", track: "main", line: 2 }], problems: [] },
  "GET /api/v1/tasks/app-1": detail({ id: 1, question, history: [session({ n: 1 })] }),
  "GET /api/v1/tasks/app-1/review": review({ drafts: 1 }),
  "GET /api/v1/agents": { agents: [], at: "" },
};

const dialog = () => within(screen.getByRole("dialog", { hidden: true }));
const fill = (label: string | RegExp, value: string) => fireEvent.change(dialog().getByLabelText(label), { target: { value } });
const press = (name: string) => fireEvent.click(dialog().getByText(name, { selector: "button" }));

function Open() {
  return <output>{useDialog() === undefined ? "closed" : "open"}</output>;
}

// Each form: what to fill in, and what is sent then.
const forms: { open: OpenDialog; field: string | RegExp; fill: () => void; sends: Sent; stays?: boolean }[] = [
  { open: { form: "add project" }, field: /Directory/, fill: () => (fill(/Directory/, "~/web"), press("Add project")), sends: { method: "POST", path: "/api/v1/projects", body: { path: "~/web" } } },
  { open: { form: "remove project", project: "app" }, field: /Also remove/, fill: () => (fireEvent.click(dialog().getByLabelText(/Also remove/)), press("Remove app")), sends: { method: "POST", path: "/api/v1/projects/app/remove", body: { purge: true, force: false } } },
  { open: { form: "new track", project: "app" }, field: "Move track 2 up", fill: () => (fireEvent.change(dialog().getAllByLabelText("Name")[1]!, { target: { value: "docs" } }), press("Show the change")), sends: { method: "PATCH", path: "/api/v1/projects/app/config", body: { key: "tracks", value: [{ name: "main", default: true }, { name: "docs" }], revision: "r1", dry_run: true } }, stays: true },
  { open: { form: "tracks", project: "app" }, field: "Name", fill: () => (fill("Name", "all"), press("Show the change")), sends: { method: "PATCH", path: "/api/v1/projects/app/config", body: { key: "tracks", value: [{ name: "all", default: true }], revision: "r1", dry_run: true } }, stays: true },
  { open: { form: "settings", project: "app" }, field: "Change limits.sessions", fill: () => (fireEvent.click(dialog().getByLabelText("Change limits.sessions")), fireEvent.change(dialog().getByLabelText("limits.sessions"), { target: { value: "7" } }), press("Save")), sends: { method: "PATCH", path: "/api/v1/projects/app/config", body: { key: "limits.sessions", revision: "r1", value: 7 } }, stays: true },
  { open: { form: "prompt", project: "app", role: "fix" }, field: "The text of fix", fill: () => (fill("The text of fix", "Fix all."), press("Show the change")), sends: { method: "PATCH", path: "/api/v1/projects/app/prompts/fix", body: { text: "Fix all.", dry_run: true, revision: "p1" } }, stays: true },
  { open: { form: "feature", project: "app" }, field: "Name", fill: () => (fill("Name", "Wave"), press("Add")), sends: { method: "POST", path: "/api/v1/projects/app/features", body: { name: "Wave" } } },
  { open: { form: "feature", project: "app", id: "F1" }, field: "Name", fill: () => (fill("Priority", "3"), press("Save")), sends: { method: "PATCH", path: "/api/v1/projects/app/features/F1", body: { priority: 3 } } },
  { open: { form: "message", task: "app-1" }, field: "Message to the agent", fill: () => (fill("Message to the agent", "stop"), press("Send")), sends: { method: "POST", path: "/api/v1/tasks/app-1/send", body: { text: "stop" } } },
  { open: { form: "answer", task: "app-1" }, field: "Answer", fill: () => fireEvent.click(dialog().getByText("blanks")), sends: { method: "POST", path: "/api/v1/tasks/app-1/answer", body: { question: 7, text: "2" } } },
  { open: { form: "limits", task: "app-1" }, field: "Budget", fill: () => (fill("Budget", "5 USD"), fireEvent.submit(dialog().getByLabelText("Budget").closest("form")!)), sends: { method: "PATCH", path: "/api/v1/tasks/app-1", body: { budget: "5 USD" } } },
  { open: { form: "review", task: "app-1" }, field: /About the whole change/, fill: () => press("Send to the agent"), sends: { method: "POST", path: "/api/v1/tasks/app-1/comments/send", body: {} } },
  { open: { form: "trash" }, field: "Empty the trash", fill: () => press("Remove permanently"), sends: { method: "POST", path: "/api/v1/trash/empty", body: {} } },
];

it.each(forms)("sends the form $open", async ({ open, field, fill, sends, stays }) => {
  const sent = serve({ ...answers, [`${sends.method} ${sends.path}`]: { diff: "" } });
  show(<><Dialogs /><Open /></>);
  act(() => openDialog(open));
  await waitFor(() => expect(screen.getAllByLabelText(field).length).toBeGreaterThan(0));
  fill();
  await waitFor(() => expect(sent).toContainEqual(sends));
  await waitFor(() => expect(screen.getByText(stays ? "open" : "closed")).toBeTruthy());
});

it.each<[string, OpenDialog]>([["project", { form: "remove project", project: "gone" }], ["prompt", { form: "prompt", project: "app", role: "gone" }], ["feature", { form: "feature", project: "app", id: "gone" }]])("says that the %s does not exist any more", async (_, open) => {
  serve(answers);
  show(<Dialogs />);
  act(() => openDialog(open));
  expect(await screen.findByText("It does not exist any more")).toBeTruthy();
});

it("keeps a refused form open, with the problem", async () => {
  serve({ "POST /api/v1/projects": { code: "invalid", title: "", status: 422, detail: "it is not a checkout", fix: "run `git init`" } });
  show(<AddProject />);
  fireEvent.change(screen.getByLabelText(/Directory/), { target: { value: "/tmp" } });
  fireEvent.click(screen.getByText("Add project"));
  expect(await screen.findByText("it is not a checkout")).toBeTruthy();
});

it("asks for the text that an action needs, and offers another agent", async () => {
  const sent = serve({ ...answers, "POST /api/v1/tasks/app-1/retry": task({ id: 1 }) });
  const retry = actions.find((a) => a.id === "retry")!;
  show(<ActionDialog t={task({ id: 1 })} action={retry} onClose={() => {}} />);
  fireEvent.change(screen.getByLabelText(retry.prompt!), { target: { value: "with care" } });
  fireEvent.change(screen.getByLabelText("Model"), { target: { value: "big" } });
  fireEvent.click(screen.getByText("Retry", { selector: "button" }));
  await waitFor(() => expect(sent).toContainEqual({ method: "POST", path: "/api/v1/tasks/app-1/retry", body: { note: "with care", model: "big" } }));
});

it.each([["ready", ""], ["logged out", "not logged in"], ["broken", "does not work"], ["limited", "limited until you clear it"]] as const)("says of an agent that is %s: %s", (state, text) => {
  expect(stateOf({ state } as never)).toBe(text);
});

it("offers only agents that are installed", async () => {
  serve({ "GET /api/v1/agents": { agents: [{ name: "robot", installed: true, state: "ready", suggest: ["big"], choices: ["one", "big"] }, { name: "absent", path: "/bin/absent", state: "not installed", choices: [] }], choices: ["any"], at: "" } });
  show(<AgentFields project="app" agent="scripted" />);
  const models = () => [...document.querySelectorAll("datalist option")].map((o) => o.getAttribute("value"));
  expect(await screen.findByText("robot")).toBeTruthy();
  expect(screen.queryByText("absent")).toBeNull();
  expect(models()).toEqual(["any"]); // the server lists the choices
  fireEvent.change(screen.getByLabelText("Agent"), { target: { value: "robot" } });
  expect(models()).toEqual(["one", "big"]);
});

it("finds keys by their meaning, and shows which are in the file", async () => {
  serve(answers);
  show(<Config project="app" />);
  expect(await screen.findByText("line 3")).toBeTruthy();
  fireEvent.change(screen.getByLabelText("Find a key of app"), { target: { value: "same time" } });
  expect(screen.getByText("1 of 2")).toBeTruthy();
  fireEvent.change(screen.getByLabelText("Find a key of app"), { target: { value: "nothing like it" } });
  expect(screen.getByText("No matching keys.")).toBeTruthy();
});

it("sends only the fields of a feature that changed", () => {
  const form = new FormData();
  for (const [name, value] of Object.entries({ name: "Greet", description: "", category: "ui", steps: "a\n\nb", depends_on: "F1, F2", priority: "0", budget: "" })) form.set(name, value);
  expect(changesOf(form, { name: "Greet" })).toEqual({ category: "ui", steps: ["a", "b"], depends_on: ["F1", "F2"] });
});

it("says what a removal leaves behind", () => {
  expect(left({ left: [{ what: "workspaces", path: "/w" }] } as never)).toBe(" Not removed: workspaces: /w.");
  expect(left({ left: [] } as never)).toBe("");
});

it("lists keys, with those of the open page", () => {
  const own = [{ id: "v", name: "Mark the file", hint: "", key: "v", run: () => {} }, { id: "x", name: "Without a key", hint: "", run: () => {} }];
  const Page = () => {
    usePageCommands(own);
    return null;
  };
  show(<Page />);
  show(<Help onClose={() => {}} />);
  expect(screen.getByText("Mark the file")).toBeTruthy();
  expect(screen.queryByText("Without a key")).toBeNull();
  expect(screen.getByText("New task")).toBeTruthy();
});
