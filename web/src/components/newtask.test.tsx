// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { task } from "../test/make";
import { serve, show } from "../test/render";
import { NewTaskDialog } from "./newtask";

const project = { prefix: "app", path: "/app", last_task: 0, running: 0, policy: { agent: { use: "robot", model: "opus" }, tracks: [{ name: "main" }], limits: {}, budget: {} } };
const agents = {
  at: "",
  agents: [
    { name: "robot", path: "/bin/robot", models: { simple: "haiku", complex: "opus" }, tasks: {}, warnings: [], can: [] },
    { name: "other", path: "/bin/other", login: "no", models: { simple: "mini" }, tasks: {}, warnings: [], can: [] },
    { name: "absent", tasks: {}, warnings: [], can: [] },
  ],
};
const read = { "GET /api/v1/projects": { projects: [project] }, "GET /api/v1/agents": agents };
const create = "POST /api/v1/projects/app/tasks";

it("offers the installed agents, and the models of the chosen one", async () => {
  serve(read);
  show(<NewTaskDialog onClose={() => {}} />);
  const agent = await screen.findByLabelText("Agent");
  await within(agent).findByText("other (not logged in)");
  expect([...agent.querySelectorAll("option")].map((o) => o.textContent)).toEqual(["robot (default)", "other (not logged in)"]);
  const models = () => [...document.querySelectorAll("datalist option")].map((o) => (o as HTMLOptionElement).value);
  expect(models()).toEqual(["auto", "haiku", "opus"]);
  fireEvent.change(agent, { target: { value: "other" } });
  expect(models()).toEqual(["auto", "mini"]);
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
