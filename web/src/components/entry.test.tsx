// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import type { InboxAction } from "../api/schema";
import { entry } from "../test/make";
import { serve, show } from "../test/render";
import { Toasts } from "../ui/toast";
import { nineTomorrow } from "./commands";
import { Dialogs } from "./dialogs";
import { Entry } from "./entry";

const now = Date.parse("2026-01-01T10:05:00Z");
const action = (label: string, change: Partial<InboxAction> = {}): InboxAction => ({ label, method: "POST", route: `/tasks/app-4/${label.toLowerCase()}`, command: `coppice ${label.toLowerCase()} app-4`, ...change });

it("shows why, since when and what the server offers, in its order", () => {
  const actions = ["Retry", "Continue", "Land", "Fork"].map((l) => action(l));
  show(<ul><Entry e={entry({ id: "failed/app-4", actions, fix: "run `make`" })} now={now} /></ul>);
  expect(screen.getByRole("link", { name: /app-4 title of app-4/ }).getAttribute("href")).toBe("/tasks/app-4");
  expect(screen.getByText("it broke")).toBeTruthy();
  expect(screen.getByText("5 m")).toBeTruthy();
  expect(screen.getAllByRole("button").map((b) => b.textContent)).toEqual(["Retry", "Continue", "Land", "More ▾", "Snooze ▾"]);
});

it("sends the request that the server describes, with the person's text", async () => {
  const sent = serve({ "PATCH /api/v1/projects/app/config": {}, "POST /api/v1/projects/app/confirm": {} });
  const raise = action("Raise the budget", { method: "PATCH", route: "/projects/app/config", body: { key: "budget.day" }, text: "value", needs: true, form: "text", prompt: "The most to spend in a day" });
  const confirm = action("Confirm", { route: "/projects/app/confirm", body: { kind: "policy", diff: "+a" } });
  show(<><ul><Entry e={entry({ id: "budget/app", task: undefined, actions: [raise, confirm] })} now={now} /></ul><Dialogs /></>);
  fireEvent.click(screen.getByText("Raise the budget"));
  fireEvent.change(await screen.findByLabelText("The most to spend in a day"), { target: { value: "30" } });
  fireEvent.submit(document.querySelector("form")!);
  await waitFor(() => expect(sent).toEqual([{ method: "PATCH", path: "/api/v1/projects/app/config", body: { key: "budget.day", value: "30" } }]));
  fireEvent.click(screen.getByText("Confirm"));
  await waitFor(() => expect(sent[1]).toEqual({ method: "POST", path: "/api/v1/projects/app/confirm", body: { kind: "policy", diff: "+a" } }));
});

it("opens the form that the server names, whatever the request looks like", async () => {
  const sent = serve({ "POST /api/v1/faq/answer": {}, "POST /api/v1/tasks/app-4/quick": {} });
  const actions = [action("Publish", { route: "/faq/answer", form: "confirm" }), action("Quick", { danger: true, text: "text" })];
  show(<><ul><Entry e={entry({ id: "question/app-4/7", question: 7, text: "Which?", actions })} now={now} /></ul><Dialogs /></>);
  fireEvent.click(screen.getByText("Quick"));
  await waitFor(() => expect(sent).toEqual([{ method: "POST", path: "/api/v1/tasks/app-4/quick", body: {} }]));
  fireEvent.click(screen.getByText("Publish"));
  expect((await screen.findByRole("dialog", { hidden: true })).textContent).toContain("Publish: app-4");
});

it("asks before a dangerous action", async () => {
  const sent = serve({});
  show(<><ul><Entry e={entry({ id: "stalled/app-4", actions: [action("Stop", { danger: true, form: "confirm" })] })} now={now} /></ul><Dialogs /></>);
  fireEvent.click(screen.getByText("Stop"));
  expect(sent).toEqual([]);
  expect((await screen.findByRole("dialog", { hidden: true })).textContent).toContain("Stop: app-4");
});

it("answers a question and a permission right there", async () => {
  const sent = serve({ "POST /api/v1/tasks/app-4/answer": {} });
  const ask = action("Answer", { body: { question: 7 }, text: "text", needs: true, form: "answer" });
  const { rerender } = show(<ul><Entry e={entry({ id: "question/app-4/7", question: 7, text: "Which?", options: ["tabs", "blanks"], can_snooze: false, actions: [ask, action("Stop")] })} now={now} /></ul>);
  expect(screen.queryByText("Snooze ▾")).toBeNull();
  expect(screen.getAllByRole("button").map((b) => b.textContent)).toEqual(["1. tabs", "2. blanks", "Answer", "Stop"]); // the form of the question is the only one that answers
  fireEvent.click(screen.getByText("tabs"));
  await waitFor(() => expect(sent).toEqual([{ method: "POST", path: "/api/v1/tasks/app-4/answer", body: { question: 7, text: "1" } }]));
  rerender(<></>);
  show(<ul><Entry e={entry({ id: "permission/app-4/8", question: 8, text: "Run it?", options: ["allow", "allow always", "deny", "deny always"], rule: { tool: "run", do: "allow" }, actions: [ask] })} now={now} /></ul>);
  fireEvent.click(screen.getByText("Allow always"));
  await waitFor(() => expect(sent.at(-1)?.body).toEqual({ question: 8, text: "allow always" }));
});

it("snoozes for a time, until tomorrow and until an event, and wakes", async () => {
  const path = "/api/v1/inbox/failed%2Fapp-4/snooze";
  const e = entry({ id: "failed/app-4" });
  const sent = serve({ [`POST ${path}`]: e, [`DELETE ${path}`]: e });
  const { rerender } = show(<><ul><Entry e={e} now={now} /></ul><Dialogs /><Toasts /></>);
  const choose = (name: string) => {
    fireEvent.click(screen.getByText("Snooze", { exact: false, selector: "button[aria-haspopup]" }));
    fireEvent.click(screen.getByText(name));
  };
  choose("For 1 hour");
  await waitFor(() => expect(sent.at(-1)).toEqual({ method: "POST", path, body: { for: "1h" } }));
  choose("Until tomorrow 9:00");
  await waitFor(() => expect(sent.at(-1)?.body).toEqual({ until: nineTomorrow(Date.now()) }));
  choose("Until an event…");
  fireEvent.change(await screen.findByLabelText("Until"), { target: { value: "landed" } });
  fireEvent.change(screen.getByLabelText("Task"), { target: { value: "app-7" } });
  fireEvent.submit(document.querySelector("form")!);
  await waitFor(() => expect(sent.at(-1)?.body).toEqual({ event: "landed", task: "app-7" }));
  rerender(<></>);
  show(<ul><Entry e={{ ...e, snoozed: true, snoozed_by: "person", snoozed_for: "landed", snoozed_task: "app-7" }} now={now} /></ul>);
  expect(screen.getByText("snoozed until app-7: it has landed")).toBeTruthy();
  fireEvent.click(screen.getByText("Wake"));
  await waitFor(() => expect(sent.at(-1)).toEqual({ method: "DELETE", path, body: {} }));
});

it("marks an entry whose snooze has ended", () => {
  show(<ul><Entry e={entry({ id: "failed/app-4", back: true, snoozed_by: "person", snoozed_until: "2026-01-01T10:00:00Z" })} now={now} /></ul>);
  expect(screen.getByText("back")).toBeTruthy();
  expect(screen.queryByText("Wake")).toBeNull();
});
