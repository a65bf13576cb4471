// @vitest-environment happy-dom
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { stale } from "../api/stale";
import { Dialogs } from "../components/dialogs";
import { flowFrom, flowKinds, FlowFields } from "../components/flowfields";
import "../components/forms"; // it is loaded before the tests start
import { NewFlowDialog } from "../components/newflow";
import { NewScheduleDialog } from "../components/newschedule";
import { TemplateDialog } from "../components/templateform";
import { openDialog } from "../state/dialog";
import { event, project, schedule, task } from "../test/make";
import { serve, show } from "../test/render";
import SchedulesPage from "./schedules";
import TemplatesPage from "./templates";

const next = new Date(Date.now() + 3_600_000).toISOString();
const template = { name: "update", title: "Update {{package}}", path: ".coppice/templates/update.md", revision: "r1", variables: [{ name: "package", about: "What to update", required: true }], text: "---\ntitle: x\n---\n" };
const read = {
  "GET /api/v1/projects": { projects: [project({ prefix: "app" })] },
  "GET /api/v1/agents": { agents: [{ name: "robot", path: "/bin/robot", state: "ready" }], at: "" },
  "GET /api/v1/schedules": { schedules: [schedule({ name: "nightly", next: [next], runs: 2, last: "app-4", last_at: "2026-01-01T10:00:00Z" }), schedule({ name: "weekly", state: "paused", can: ["run", "resume", "remove"], why: "app-5 failed", flow: "cycle" }), schedule({ name: "hourly", state: "running", can: ["pause", "remove"], problem: "the agent was removed" })] },
  "GET /api/v1/projects/app/schedules/nightly": { ...schedule({ name: "nightly" }), task: { title: "x" }, history: [task({ id: 4, status: "failed", reason: "its checks failed", ended_at: "2026-01-01T10:05:00Z" })] },
  "GET /api/v1/projects/app/templates": { templates: [template, { ...template, name: "broken", variables: [], problem: "line 2: unknown key" }] },
  "GET /api/v1/projects/app/templates/update": template,
  "GET /api/v1/projects/app/template-stats": { stats: [{ template: "update", model: "opus", tasks: 4, done: 3, failed: 1, cost_usd: 0.5, turns: 12.25, took: "10m" }, { template: "old", tasks: 1, done: 1, failed: 0, cost_usd: 1, turns: 3, took: "1m" }] },
};

const type = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });

it("shows when schedules run, why one is paused, and the history of runs", async () => {
  serve(read);
  show(<SchedulesPage />);
  expect(await screen.findByText("app-4")).toBeTruthy();
  expect(screen.getByText(/app-5 failed/)).toBeTruthy();
  expect(screen.getByText(/the agent was removed/)).toBeTruthy();
  expect(screen.getByText(/, in (1 h|59 m)/)).toBeTruthy();
  expect(screen.getByLabelText<HTMLButtonElement>("Run the schedule hourly of app").disabled).toBe(true);
  const details = screen.getByText("History").closest("details")!;
  details.open = true;
  fireEvent(details, new Event("toggle"));
  expect(await screen.findByText("its checks failed")).toBeTruthy();
});

it.each([
  ["Run the schedule nightly of app", "POST", "/api/v1/projects/app/schedules/nightly/run"],
  ["Pause the schedule nightly of app", "POST", "/api/v1/projects/app/schedules/nightly/pause"],
  ["Resume the schedule weekly of app", "POST", "/api/v1/projects/app/schedules/weekly/resume"],
])("%s", async (name, method, path) => {
  const sent = serve({ ...read, [`${method} ${path}`]: schedule({ name: "x" }) });
  show(<SchedulesPage />);
  fireEvent.click(await screen.findByLabelText(name));
  await waitFor(() => expect(sent.some((s) => s.method === method && s.path === path)).toBe(true));
});

it("asks before it removes a schedule", async () => {
  const sent = serve({ ...read, "DELETE /api/v1/projects/app/schedules/nightly": schedule({ name: "nightly" }) });
  show(<><SchedulesPage /><Dialogs /></>);
  fireEvent.click(await screen.findByLabelText("Remove the schedule nightly of app…"));
  expect(sent.some((s) => s.method === "DELETE")).toBe(false);
  fireEvent.click(await screen.findByText("Remove", { selector: "button" }));
  await waitFor(() => expect(sent.some((s) => s.method === "DELETE")).toBe(true));
});

it("adds a schedule of a task, with the variables of a template", async () => {
  const sent = serve({ ...read, "POST /api/v1/projects/app/schedules": schedule({ name: "deps" }) });
  show(<NewScheduleDialog onClose={() => {}} />);
  await screen.findByLabelText("Template");
  type("Name", "deps");
  type("Cron line", "0 7 * * 1-5");
  type("After a run that failed", "yes");
  type("Template", "update");
  type("package", "cobra");
  fireEvent.click(screen.getByText("Add"));
  await waitFor(() => expect(sent.find((s) => s.method === "POST")?.body).toEqual({ name: "deps", cron: "0 7 * * 1-5", always: true, task: { template: "update", variables: { package: "cobra" } } }));
});

it("adds a schedule of a flow", async () => {
  const sent = serve({ ...read, "POST /api/v1/projects/app/schedules": schedule({ name: "talk" }) });
  show(<NewScheduleDialog project="app" onClose={() => {}} />);
  await screen.findByLabelText("Name");
  type("Name", "talk");
  type("Every", "6h");
  type("Each run is", "debate");
  type("Title", "What next?");
  type("Rounds", "2");
  fireEvent.click(screen.getByText("Add"));
  await waitFor(() => expect(sent.find((s) => s.method === "POST")?.body).toEqual({ name: "talk", every: "6h", task: { title: "What next?", flow: { kind: "debate", spec: { rounds: 2 } } } }));
});

it("creates a flow and opens its page", async () => {
  const sent = serve({ ...read, "POST /api/v1/projects/app/tasks": { tasks: [task({ id: 9 })] } });
  show(<NewFlowDialog onClose={() => {}} />);
  await screen.findByLabelText("Kind");
  type("Kind", "debate");
  type("Title", "SQLite or files?");
  type("Sides", "alpha, beta:mini");
  type("Action", "Write it down");
  type("Verify", "yes");
  type("Time", "2h");
  type("Budget", "5 USD");
  fireEvent.click(screen.getByText("Create"));
  await waitFor(() => expect(sent.find((s) => s.method === "POST")?.body).toEqual({ tasks: [{ title: "SQLite or files?", budget: "5 USD", flow: { kind: "debate", time: "2h", spec: { between: ["alpha", "beta:mini"], action: "Write it down", verify: true } } }] }));
  await waitFor(() => expect(location.pathname).toBe("/flows/app-9"));
});

it("keeps the form of a flow that the server refuses", async () => {
  serve({ ...read, "POST /api/v1/projects/app/tasks": { code: "invalid", title: "", status: 422, detail: "a debate has two sides", field: "between" } });
  show(<NewFlowDialog onClose={() => {}} />);
  fireEvent.change(await screen.findByLabelText("Title"), { target: { value: "What?" } });
  fireEvent.click(screen.getByText("Create"));
  expect(await screen.findByText("between: a debate has two sides")).toBeTruthy();
  expect(screen.getByLabelText<HTMLInputElement>("Title").value).toBe("What?");
});

it("reads the fields of each kind, and leaves out empty ones", () => {
  const form = new FormData();
  for (const [name, value] of Object.entries({ "spec tasks": "One\n\n Two ", "spec most": "2", "spec lead": "robot", "spec workers": "", "spec plan": "yes", "spec threshold": "0.5" })) form.set(name, value);
  expect(flowFrom(form, "batch")).toEqual({ kind: "batch", spec: { tasks: [{ title: "One" }, { title: "Two" }], most: 2 } });
  expect(flowFrom(form, "goal")).toEqual({ kind: "goal", spec: { lead: "robot", plan: true } });
  expect(flowFrom(form, "cycle")).toEqual({ kind: "cycle", spec: { threshold: 0.5 } });
  expect(flowFrom(form, "debate")).toEqual({ kind: "debate" });
  serve(read);
  for (const kind of flowKinds) show(<FlowFields kind={kind} project="app" />);
  expect(screen.getByLabelText<HTMLTextAreaElement>("Tasks").required).toBe(true);
});

it("lists templates with their variables, problems and statistics by model", async () => {
  serve(read);
  show(<TemplatesPage />);
  expect(await screen.findAllByText("Update {{package}}")).toHaveLength(2);
  expect(screen.getByText("What to update")).toBeTruthy();
  expect(screen.getByText(/line 2: unknown key/)).toBeTruthy();
  expect(await screen.findByText("75 %")).toBeTruthy();
  expect(screen.getByText("12.3")).toBeTruthy();
  expect(screen.getByText("10 m")).toBeTruthy();
  expect(screen.getByText("Templates that were removed")).toBeTruthy();
});

it("shows what a template would become before it is saved", async () => {
  const diff = "--- a/update.md\n+++ b/update.md\n@@ -1 +1 @@\n-old\n+new\n";
  const sent = serve({ ...read, "PUT /api/v1/projects/app/templates/update": { ...template, diff } });
  let closed = false;
  show(<TemplateDialog project="app" name="update" onClose={() => (closed = true)} />);
  fireEvent.change(await screen.findByLabelText("Text"), { target: { value: "new" } });
  fireEvent.click(screen.getByText("Show the change"));
  expect(await screen.findByLabelText("The change")).toBeTruthy();
  fireEvent.click(screen.getByText("Save"));
  await waitFor(() => expect(closed).toBe(true));
  expect(sent.filter((s) => s.method === "PUT").map((s) => s.body)).toEqual([{ text: "new", revision: "r1", dry_run: true }, { text: "new", revision: "r1" }]);
});

it("shows what a removal does, and writes a new template", async () => {
  const sent = serve({ ...read, "PUT /api/v1/projects/app/templates/update": { ...template, diff: "-x\n" }, "PUT /api/v1/projects/app/templates/greet": { ...template, name: "greet", diff: "+x\n" } });
  show(<Dialogs />);
  act(() => openDialog({ form: "template", project: "app", name: "update" }));
  fireEvent.click(await screen.findByText("Remove…"));
  fireEvent.click(await screen.findByText("Remove the file"));
  await waitFor(() => expect(sent.filter((s) => s.method === "PUT").map((s) => s.body)).toEqual([{ unset: true, revision: "r1", dry_run: true }, { unset: true, revision: "r1" }]));
  act(() => openDialog({ form: "template", project: "app" }));
  fireEvent.change(await screen.findByLabelText("Name"), { target: { value: "greet" } });
  fireEvent.click(screen.getByText("Show the change"));
  await waitFor(() => expect(sent.some((s) => s.path.endsWith("/greet") && (s.body as { dry_run?: boolean }).dry_run)).toBe(true));
});

it("says that there is none", async () => {
  serve({ "GET /api/v1/projects": { projects: [] }, "GET /api/v1/schedules": { schedules: [] } });
  show(<><SchedulesPage /><TemplatesPage /></>);
  expect(await screen.findByText("No schedules yet")).toBeTruthy();
  expect(screen.getByText("No templates yet")).toBeTruthy();
});

it("follows the events of schedules", () => {
  expect(stale(event("schedule.changed", "nightly"), ["/api/v1/schedules", {}])).toBe(true);
  expect(stale(event("task.created", "app-1"), ["/api/v1/schedules", {}])).toBe(false);
  expect(stale(event("schedule.run", "app-1"), ["/api/v1/projects/{project}/schedules/{name}", { path: { project: "app", name: "nightly" } }])).toBe(true);
});
