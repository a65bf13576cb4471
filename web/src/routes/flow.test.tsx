// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { stale } from "../api/stale";
import type { FlowDocument } from "../api/schema";
import { Dialogs } from "../components/dialogs";
import { DebateGrid } from "../components/debategrid";
import { DocumentDialog } from "../components/documentdialog";
import { FlowDocuments } from "../components/flowdocuments";
import { FlowInput } from "../components/flowinput";
import { FlowSteps } from "../components/flowsteps";
import { StepBar } from "../components/stepbar";
import "../components/forms"; // it is loaded before the tests start
import { detail, event, flow, step, task } from "../test/make";
import { serve, show } from "../test/render";
import FlowPage from "./flow";
import FlowsPage from "./flows";
import { TaskPage } from "./task";

const now = Date.parse("2026-01-01T10:05:00Z");
const said = (verdict: "agree" | "disagree", summary: string) => ({ said: { verdict, summary, position: `Because of ${summary}` }, result: `${verdict}: ${summary}` });
const doc = (change: Partial<FlowDocument> & { name: string }): FlowDocument => ({ version: 1, size: 20, by: "engine:flow", at: "2026-01-01T10:03:00Z", ...change });

const debate = flow({
  kind: "debate", spec: { between: ["alpha", "beta"], rounds: 3 }, note: "round 2 of 3",
  steps: [step({ key: "l1/r0/a", group: "Round 1", side: 1, task: "app-2", agent: "alpha", ...said("disagree", "Files are simple") }), step({ key: "l1/r0/b", group: "Round 1", side: 2, task: "app-3", agent: "beta", ...said("agree", "SQLite is safe") }), step({ key: "l1/r1/a", group: "Round 2", side: 1, task: "app-4", agent: "alpha", state: "open", status: "needs you", ended: undefined, waits: "it asks which one", fix: "answer it" })],
  rounds: [{ name: "Round 1", tasks: ["app-2", "app-3"] }, { name: "Round 2", tasks: ["app-4", ""] }], verdict: "summary",
  documents: [doc({ name: "summary", version: 2 })],
});

const list = { task: task({ id: 1, title: "Store events", status: "needs you", line: "the plan waits for you" }), kind: "goal", note: "lead works", done: 2, steps: 5, cost_usd: 1.25 };

it("lists flows, with the reason why one waits", async () => {
  serve({ "GET /api/v1/projects": { projects: [{ prefix: "app" }, { prefix: "web" }] }, "GET /api/v1/flows": { flows: [list, { ...list, task: task({ id: 2, title: "Wave", line: "lead works" }) }], next: 1 } });
  show(<FlowsPage />);
  expect(await screen.findByText("the plan waits for you")).toBeTruthy();
  expect(screen.getByText("lead works")).toBeTruthy();
  expect(screen.getAllByText("2 of 5").length).toBe(2);
  expect(screen.getByText("app-1").getAttribute("href")).toBe("/flows/app-1");
  fireEvent.change(screen.getByLabelText("Show"), { target: { value: "all" } });
  expect(location.search).toBe("?show=all");
  fireEvent.click(await screen.findByText("Older flows"));
  expect(location.search).toBe("?show=all&before=1");
});

it("says that there is no flow", async () => {
  serve({ "GET /api/v1/projects": { projects: [] }, "GET /api/v1/flows": { flows: [] } });
  show(<FlowsPage />);
  expect(await screen.findByText("No open flow")).toBeTruthy();
});

it("shows a debate: the verdict first, then input, rounds, steps and documents", async () => {
  serve({ "GET /api/v1/flows/app-1": debate, "GET /api/v1/flows/app-1/documents/summary": { ...doc({ name: "summary" }), text: "Both sides prefer **SQLite**.\n\n> A crash loses nothing.\n\n| Round | a |\n| --- | --- |\n| 1 | agree |" } });
  show(<FlowPage flowKey="app-1" />);
  expect(await screen.findByText("SQLite", { selector: "strong" })).toBeTruthy();
  expect(screen.getAllByRole("heading", { level: 2 }).map((h) => h.textContent)).toEqual(["Verdict", "Input", "2 rounds", "Steps worked 3 m, queued 1 m", "Documents"]);
  expect(screen.getByText("A crash loses nothing.").tagName).toBe("BLOCKQUOTE");
  expect(within(screen.getByLabelText("Table")).getAllByRole("row").map((r) => r.textContent)).toEqual(["Rounda", "1agree"]);
  expect(screen.getByText("alpha, beta")).toBeTruthy();
  expect(screen.getByText("round 2 of 3")).toBeTruthy();
  expect(within(screen.getByLabelText("Steps that wait")).getByText(/it asks which one/)).toBeTruthy();
  const grid = within(screen.getByLabelText("Rounds"));
  expect(grid.getByText("Files are simple")).toBeTruthy();
  expect(grid.getAllByRole("columnheader").map((h) => h.textContent)).toEqual(["Round", "alpha", "beta"]);
  for (const name of ["Pause", "Wrap up", "Stop"]) expect(screen.getByText(name, { selector: "button" })).toBeTruthy();
});

it("shows a plan with its check-boxes", async () => {
  const plan = "# Plan\n\n- [x] M1 parse\n- [ ] M2 print";
  serve({ "GET /api/v1/flows/app-1": flow({ steps: [], plan: "plan", documents: [doc({ name: "plan" })] }), "GET /api/v1/flows/app-1/documents/plan": { ...doc({ name: "plan" }), text: plan } });
  show(<FlowPage flowKey="app-1" />);
  expect((await screen.findByLabelText("done")).parentElement!.textContent).toBe("☑ M1 parse");
  expect(screen.getByLabelText("open").parentElement!.textContent).toBe("☐ M2 print");
  expect(screen.getByText("No step yet")).toBeTruthy();
  expect(screen.getByText("Edit the plan…")).toBeTruthy();
});

it("groups steps, folds results, and resumes from a step", async () => {
  const f = flow({ task: detail({ id: 1, can: ["resume"], flow: { kind: "cycle" } }), steps: [step({ key: "assess", task: "app-2" }), step({ key: "c1/review", group: "Cycle 1", name: "review", task: "app-3", state: "failed", status: "failed", result: "It broke.\nBadly.", can_resume: true }), step({ key: "c1/implement", group: "Cycle 1", task: "app-4", left: true })] });
  const sent = serve({ "GET /api/v1/flows/app-1": f, "POST /api/v1/tasks/app-1/resume": f.task });
  show(<><FlowSteps f={f} now={now} /><Dialogs /></>);
  expect(screen.getByText("Cycle 1")).toBeTruthy();
  expect(screen.getByText("review").getAttribute("href")).toBe("/tasks/app-3");
  expect(screen.getByText("It broke.", { selector: "summary" })).toBeTruthy();
  expect(screen.getByText("no longer counts")).toBeTruthy();
  expect(screen.queryByLabelText("Resume from c1/implement")).toBeNull();
  fireEvent.click(screen.getByLabelText("Resume from c1/review"));
  expect((await screen.findByLabelText<HTMLInputElement>("From which step? (optional)")).value).toBe("c1/review");
  fireEvent.click(screen.getByText("Resume", { selector: "button" }));
  await waitFor(() => expect(sent).toContainEqual({ method: "POST", path: "/api/v1/tasks/app-1/resume", body: { from: "c1/review" } }));
});

it("shows the versions of a document, and who wrote them", async () => {
  const f = flow({ steps: [], documents: [doc({ name: "plan", version: 2, by: "person" })] });
  let asked = "";
  serve({ "GET /api/v1/flows/app-1/documents/plan/versions": { versions: [doc({ name: "plan", version: 2, by: "person" }), doc({ name: "plan", version: 1, by: "session:app-2.1", step: "assess" })] }, "GET /api/v1/flows/app-1/documents/plan": { ...doc({ name: "plan" }), text: "The text." } });
  const answer = fetch;
  globalThis.fetch = ((r: Request) => ((asked = new URL(r.url).search || asked), answer(r))) as typeof fetch;
  show(<FlowDocuments f={f} />);
  fireEvent.click(screen.getByText("plan", { selector: "button" }));
  expect(await screen.findByText("The text.")).toBeTruthy();
  expect(asked).toBe("?version=2");
  fireEvent.change(screen.getByLabelText("Version"), { target: { value: "1" } });
  expect(await screen.findByText(/session:app-2\.1, step assess/)).toBeTruthy();
  await waitFor(() => expect(asked).toBe("?version=1"));
  expect(location.search).toBe("?doc=plan&version=1");
});

it("keeps what a person typed when somebody else wrote the document", async () => {
  const at = "GET /api/v1/flows/app-1/documents/plan";
  const answers: Record<string, unknown> = { [at]: { ...doc({ name: "plan" }), text: "one" }, "PUT /api/v1/flows/app-1/documents/plan": { code: "conflict", title: "", status: 409, detail: "the document plan has version 2, not 1", fix: "read it again" } };
  const sent = serve(answers);
  let closed = false;
  show(<DocumentDialog flow="app-1" name="plan" onClose={() => (closed = true)} />);
  fireEvent.change(await screen.findByLabelText("Text"), { target: { value: "mine" } });
  answers[at] = { ...doc({ name: "plan", version: 2, by: "session:app-2.1" }), text: "theirs" };
  fireEvent.click(screen.getByText("Save"));
  expect(await screen.findByText("theirs")).toBeTruthy();
  expect(screen.getByText(/session:app-2\.1 changed this document/)).toBeTruthy();
  expect(screen.getByLabelText<HTMLTextAreaElement>("Your text").value).toBe("mine");
  expect(screen.getByText<HTMLButtonElement>("Save").disabled).toBe(true);
  fireEvent.click(screen.getByText("Keep my text"));
  answers["PUT /api/v1/flows/app-1/documents/plan"] = doc({ name: "plan", version: 3 });
  fireEvent.click(screen.getByText("Save"));
  await waitFor(() => expect(sent.filter((s) => s.method === "PUT").map((s) => s.body)).toEqual([{ text: "mine", if_version: 1 }, { text: "mine", if_version: 2 }]));
  await waitFor(() => expect(closed).toBe(true));
});

it("shows a result that is not a statement, the input, and the count of steps", () => {
  show(<><DebateGrid rounds={[{ name: "Round 1", sides: [step({ key: "r0/a", status: "failed", result: "It failed." }), undefined] }]} /><FlowInput f={flow({ steps: [], branch: "coppice/app-1", task: detail({ id: 1, body: "long ".repeat(400) }) })} /><StepBar done={0} steps={0} /></>);
  expect(screen.getByText("It failed.")).toBeTruthy();
  expect(screen.getByText("side 2")).toBeTruthy();
  expect(screen.getByText("Description", { selector: "summary" })).toBeTruthy();
  expect(screen.getByText("coppice/app-1")).toBeTruthy();
  expect(screen.getByText("0 of 0")).toBeTruthy();
});

it("says that there is no such flow", async () => {
  serve({});
  show(<FlowPage flowKey="app-9" />);
  expect(await screen.findByText("There is no task app-9")).toBeTruthy();
});

it("links the task of a flow and the task of a step to the flow", async () => {
  serve({ "GET /api/v1/tasks/app-1": detail({ id: 1, flow: { kind: "goal", note: "lead works" } }), "GET /api/v1/tasks/app-2": detail({ id: 2, step: { flow: "app-1", key: "lead" } }) });
  const { unmount } = show(<TaskPage taskKey="app-1" />);
  expect((await screen.findByText("Show the flow")).getAttribute("href")).toBe("/flows/app-1");
  unmount();
  show(<TaskPage taskKey="app-2" />);
  for (const a of await screen.findAllByText("app-1")) expect(a.getAttribute("href")).toBe("/flows/app-1");
});

it("follows the events of a flow, its steps and its documents", () => {
  const document = ["/api/v1/flows/{key}/documents/{name}", { path: { key: "app-1", name: "plan" } }] as const;
  expect(stale(event("task.ended", "app-7"), ["/api/v1/flows/{key}", { path: { key: "app-1" } }])).toBe(true);
  expect(stale(event("flow.planned", "app-1"), ["/api/v1/flows", {}])).toBe(true);
  expect(stale(event("flow.document", "app-1"), document)).toBe(true);
  expect(stale(event("flow.document", "app-2"), document)).toBe(false);
  expect(stale(event("task.ended", "app-1"), document)).toBe(false);
  expect(stale(event("flow.document", "app-1"), [...document, "2"])).toBe(false);
});
