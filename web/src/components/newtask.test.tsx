// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { completions, retries } from "../api/tables";
import { clock } from "../lib/format";
import { defaults as usual, task } from "../test/make";
import { serve, show } from "../test/render";
import { NewTaskDialog } from "./newtask";

const first = { agent: "robot", model: "opus", limits: { turns: 1000 } };
const defaults = { ...usual, first: (usual.first ?? []).map((s) => ({ ...s, ...first })) };
const project = { prefix: "app", path: "/app", last_task: 0, running: 0, policy: { tracks: [{ name: "main" }] }, defaults };
const agents = {
  at: "",
  agents: [
    { name: "robot", path: "/bin/robot", installed: true, state: "ready", choices: ["auto", "opus", "haiku"], efforts: ["low", "high"], tasks: {}, warnings: [], can: ["images"] },
    { name: "other", path: "/bin/other", installed: true, state: "logged out", choices: ["auto", "mini"], efforts: [], tasks: {}, warnings: [], can: [] },
    { name: "full", path: "/bin/full", installed: true, state: "limited", limit: { agent: "full", class: "rate_limit", until: "2026-01-02T03:04:05Z" }, suggest: [], efforts: [], tasks: {}, warnings: [], can: [] },
    { name: "absent", state: "not installed", suggest: [], efforts: [], tasks: {}, warnings: [], can: [] },
  ],
};
const read = { "GET /api/v1/projects": { projects: [project] }, "GET /api/v1/agents": agents };
const create = "POST /api/v1/projects/app/tasks";

it("offers the installed agents, and the models of the chosen one", async () => {
  serve(read);
  show(<NewTaskDialog onClose={() => {}} />);
  const agent = await screen.findByLabelText("Agent");
  await within(agent).findByText("other (not logged in)");
  expect([...agent.querySelectorAll("option")].map((o) => o.textContent)).toEqual(["robot, the default", "other (not logged in)", `full (limited until ${clock("2026-01-02T03:04:05Z")})`]);
  const models = () => [...document.querySelectorAll("datalist option")].map((o) => (o as HTMLOptionElement).value);
  expect(models()).toEqual(["auto", "opus", "haiku"]);
  expect([...screen.getByLabelText("Effort").querySelectorAll("option")].map((o) => o.textContent)).toEqual(["the default", "low", "high"]);
  fireEvent.change(agent, { target: { value: "other" } });
  expect(models()).toEqual(["auto", "mini"]);
  expect(screen.queryByLabelText("Effort")).toBeNull(); // it has no levels
});

const png = (name: string, bytes = 4) => new File([new Uint8Array(bytes)], name, { type: "image/png" });
const uploaded = { "POST /api/v1/images": { id: "abc", type: "image/png", size: 4, at: "" } };

it("uploads a pasted image, and sends its id with the task", async () => {
  const sent = serve({ ...read, ...uploaded, [create]: { tasks: [task({ id: 3 })] } });
  show(<NewTaskDialog onClose={() => {}} />);
  fireEvent.change(await screen.findByLabelText("Title"), { target: { value: "Like this" } });
  fireEvent.paste(screen.getByLabelText("Description"), { clipboardData: { files: [png("drawing.png")] } });
  expect((await screen.findByAltText("drawing.png")).getAttribute("src")).toBe("/api/v1/images/abc");
  expect(sent.find((s) => s.path === "/api/v1/images")?.body).toEqual({ data: "AAAAAA==" });
  fireEvent.click(screen.getByRole("button", { name: "Create", hidden: true }));
  await waitFor(() => expect(sent.find((s) => s.path.endsWith("/tasks"))?.body).toEqual({ tasks: [{ title: "Like this", images: ["abc"] }] }));
});

it("creates a task from a description alone", async () => {
  const sent = serve({ ...read, [create]: { tasks: [task({ id: 3 })] } });
  show(<NewTaskDialog onClose={() => {}} />);
  fireEvent.change(await screen.findByLabelText("Description"), { target: { value: "Greet. Be kind." } });
  fireEvent.click(screen.getByRole("button", { name: "Create", hidden: true }));
  await waitFor(() => expect(sent.find((s) => s.path.endsWith("/tasks"))?.body).toEqual({ tasks: [{ body: "Greet. Be kind." }] }));
});

it("removes an image, and says that the chosen agent cannot see it", async () => {
  serve({ ...read, ...uploaded });
  show(<NewTaskDialog onClose={() => {}} />);
  const agent = await screen.findByLabelText("Agent");
  await within(agent).findByText("other (not logged in)");
  fireEvent.drop(screen.getByLabelText("Description"), { dataTransfer: { files: [png("drawing.png")], types: ["Files"] } });
  await screen.findByAltText("drawing.png");
  expect(screen.queryByText(/cannot see images/)).toBeNull();
  fireEvent.change(agent, { target: { value: "other" } });
  screen.getByText("other cannot see images; it only gets the text.");
  fireEvent.click(screen.getByLabelText("Remove drawing.png"));
  expect(screen.queryByAltText("drawing.png")).toBeNull();
});

it("refuses an image that is too large before it is sent", async () => {
  const sent = serve({ ...read, ...uploaded });
  show(<NewTaskDialog onClose={() => {}} />);
  fireEvent.change(await screen.findByLabelText("Add image"), { target: { files: [png("huge.png", (5 << 20) + 1)] } });
  expect((await screen.findByRole("alert", { hidden: true })).textContent).toContain("huge.png has 5.0 MiB, 5 MiB are allowed");
  expect(sent.some((s) => s.path === "/api/v1/images")).toBe(false);
});

it("shows an error beside its buttons, and keeps what was typed", async () => {
  const sent = serve({ ...read, [create]: { code: "invalid", title: "", status: 422, detail: "the agent clade is not installed", field: "agent", fix: "install it" } });
  let closed = false;
  show(<NewTaskDialog onClose={() => (closed = true)} />);
  fireEvent.change(await screen.findByLabelText("Title"), { target: { value: "Do it" } });
  fireEvent.click(screen.getByRole("button", { name: "Create", hidden: true }));
  const alert = await screen.findByRole("alert", { hidden: true });
  expect(alert.closest("footer")).toBeTruthy(); // the footer is always in view
  expect(alert.textContent).toContain("the agent clade is not installed");
  expect((screen.getByLabelText("Title") as HTMLInputElement).value).toBe("Do it");
  expect(closed).toBe(false);
  expect(sent.find((s) => s.method === "POST")?.body).toEqual({ tasks: [{ title: "Do it" }] });
});

it("creates the task, and opens its page", async () => {
  const sent = serve({ ...read, [create]: { tasks: [task({ id: 3 })] } });
  let closed = false;
  show(<NewTaskDialog onClose={() => (closed = true)} />);
  fireEvent.change(await screen.findByLabelText("Title"), { target: { value: "Do it" } });
  fireEvent.change(screen.getByLabelText("Steps"), { target: { value: "one\n\n two " } });
  fireEvent.change(screen.getByLabelText("Model"), { target: { value: "haiku" } });
  fireEvent.click(screen.getByRole("button", { name: "Create", hidden: true }));
  await waitFor(() => expect(closed).toBe(true));
  expect(location.pathname).toBe("/tasks/app-3");
  expect(sent.find((s) => s.method === "POST")?.body).toEqual({ tasks: [{ title: "Do it", model: "haiku", steps: ["one", "two"] }] });
});

it("sends the limits of the sessions", async () => {
  const limited = { ...project, defaults: { ...usual, first: [{ ...first, result: "change", limits: { turns: 50, time: "2h" } }] } };
  const sent = serve({ ...read, "GET /api/v1/projects": { projects: [limited] }, [create]: { tasks: [task({ id: 3 })] } });
  show(<NewTaskDialog onClose={() => {}} />);
  fireEvent.change(await screen.findByLabelText("Title"), { target: { value: "Short" } });
  expect(screen.getByLabelText("Turns").getAttribute("placeholder")).toBe("50");
  fireEvent.change(screen.getByLabelText("Turns"), { target: { value: "40" } });
  fireEvent.change(screen.getByLabelText("Time"), { target: { value: "30m" } });
  fireEvent.click(screen.getByRole("button", { name: "Create", hidden: true }));
  await waitFor(() => expect(sent.find((s) => s.path.endsWith("/tasks"))?.body).toEqual({ tasks: [{ title: "Short", turns: 40, time: "30m" }] }));
});

it("sends the branch and the context values", async () => {
  const sent = serve({ ...read, [create]: { tasks: [task({ id: 3 })] } });
  show(<NewTaskDialog onClose={() => {}} />);
  fireEvent.change(await screen.findByLabelText("Title"), { target: { value: "Fix it" } });
  fireEvent.change(screen.getByLabelText("Branch"), { target: { value: "fix/crash" } });
  fireEvent.change(screen.getByLabelText("Context"), { target: { value: "ticket=APP-7\n\nurl = http://x/?a=b" } });
  fireEvent.click(screen.getByRole("button", { name: "Create", hidden: true }));
  await waitFor(() => expect(sent.find((s) => s.path.endsWith("/tasks"))?.body).toEqual({ tasks: [{ title: "Fix it", branch: "fix/crash", context: { ticket: "APP-7", url: "http://x/?a=b" } }] }));
});

it("offers every list of completion checks and every retry that the server accepts", async () => {
  const sent = serve({ ...read, [create]: { tasks: [task({ id: 3 })] } });
  show(<NewTaskDialog onClose={() => {}} />);
  const complete = await screen.findByLabelText("A session is complete if");
  const offered = (field: HTMLElement) => [...field.querySelectorAll("option")].slice(1).map((o) => o.textContent);
  expect(offered(complete)).toEqual(completions.map((c) => c.words));
  expect(offered(screen.getByLabelText("If a session fails"))).toEqual(retries.map((r) => r.words));
  fireEvent.change(screen.getByLabelText("Title"), { target: { value: "Both" } });
  const both = completions.find((c) => c.checks.length > 1)!;
  fireEvent.change(complete, { target: { value: within(complete).getByText<HTMLOptionElement>(both.words).value } });
  fireEvent.click(screen.getByRole("button", { name: "Create", hidden: true }));
  await waitFor(() => expect(sent.find((s) => s.path.endsWith("/tasks"))?.body).toEqual({ tasks: [{ title: "Both", completion: both.checks }] }));
});

it("creates an interactive task in the person's checkout", async () => {
  const sent = serve({ ...read, [create]: { tasks: [task({ id: 3 })] } });
  show(<NewTaskDialog onClose={() => {}} />);
  fireEvent.change(await screen.findByLabelText("Title"), { target: { value: "Together" } });
  fireEvent.change(screen.getByLabelText("Result"), { target: { value: "checkout" } });
  for (const gone of ["Checks", "Depends on"]) expect(screen.queryByLabelText(gone)).toBeNull();
  fireEvent.change(screen.getByLabelText("Work with the agent"), { target: { value: "yes" } });
  fireEvent.click(screen.getByRole("button", { name: "Create", hidden: true }));
  await waitFor(() => expect(sent.find((s) => s.path.endsWith("/tasks"))?.body).toEqual({ tasks: [{ title: "Together", workspace: "none", interactive: true }] }));
});

it("shows what a task of each result has, as the server says", async () => {
  const answer = { result: "answer", agent: "other", limits: { turns: 20, time: "10m" }, without: ["branch", "interactive"] };
  serve({ ...read, "GET /api/v1/projects": { projects: [{ ...project, defaults: { budget: "5 USD", retry: "analyze", branch: "work/{key}", first: [defaults.first[0], answer] } }] } });
  show(<NewTaskDialog onClose={() => {}} />);
  const agent = await screen.findByLabelText("Agent");
  await within(agent).findByText("robot, the default");
  for (const hint of ["5 USD if empty", "work/{key} if empty", "the project's (analyze)", "opus if empty"]) expect(screen.getByText(hint)).toBeTruthy();
  fireEvent.change(screen.getByLabelText("Result"), { target: { value: "answer" } });
  expect(within(agent).getByText("other, the default (not logged in)")).toBeTruthy();
  expect(screen.getByLabelText("Turns").getAttribute("placeholder")).toBe("20");
  expect(screen.queryByLabelText("Branch")).toBeNull();
  expect(screen.queryByLabelText("Work with the agent")).toBeNull();
  expect(screen.getByLabelText("Checks")).toBeTruthy();
});
