// @vitest-environment happy-dom
import { fireEvent, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { clock } from "../lib/format";
import { detail } from "../test/make";
import { show } from "../test/render";
import { TaskFacts } from "./taskfacts";

it("says what stops a session", () => {
  const limits = () => screen.getByText("Limits").nextElementSibling!.textContent;
  const facts = (limits_text?: string) => <TaskFacts t={detail({ id: 1, limits_text, can_change: false })} onPriority={() => {}} onBudget={() => {}} onLimits={() => {}} />;
  const { unmount } = show(facts());
  expect(limits()).toBe("none");
  unmount();
  show(facts("40 turns, 30m per session"));
  expect(limits()).toBe("40 turns, 30m per session");
});

it("changes the limits of a task", () => {
  const onLimits = vi.fn();
  show(<TaskFacts t={detail({ id: 1, turns: 40, limits: { turns: 40 } })} onPriority={() => {}} onBudget={() => {}} onLimits={onLimits} />);
  fireEvent.change(screen.getByLabelText("Time of a session"), { target: { value: "1h" } });
  fireEvent.submit(screen.getByLabelText("Time of a session").closest("form")!);
  expect(onLimits).toHaveBeenCalledWith({ turns: 40, time: "1h" });
});

it("links the issue of a task, unless its address is not one of the web", () => {
  const props = { onPriority: () => {}, onBudget: () => {}, onLimits: () => {} };
  show(<TaskFacts t={detail({ id: 1, issue: { tracker: "gitea", id: "012", url: "https://gitea.example.org/app/issues/12" }, issue_name: "#12" })} {...props} />);
  expect(screen.getByRole("link", { name: "#12" }).getAttribute("href")).toBe("https://gitea.example.org/app/issues/12");
  show(<TaskFacts t={detail({ id: 2, issue: { tracker: "linear", id: "ENG-1", url: "javascript:alert(1)" }, issue_name: "ENG-1" })} {...props} />);
  expect(screen.getByText("ENG-1").tagName).toBe("SPAN");
});

it("shows the state of each message as the server says it", () => {
  const message = { id: 1, task_id: 1, text: "Hurry", sent_at: "2026-01-01T10:00:00Z" };
  const messages = [
    { ...message, state: "waiting" as const, state_text: "not here" }, { ...message, id: 2, state: "failed" as const, state_text: "lost: it was busy" },
    { ...message, id: 3, state: "delivered" as const, state_text: "arrived", failed: "it was busy", delivered_at: "2026-01-01T10:05:00Z" },
  ];
  show(<TaskFacts t={detail({ id: 1, messages })} onPriority={() => {}} onBudget={() => {}} onLimits={() => {}} />);
  const states = [...document.querySelectorAll(".messages small")];
  expect(states.map((s) => s.textContent)).toEqual(["not here", "lost: it was busy", `arrived ${clock("2026-01-01T10:05:00Z")}`]);
  expect(states.map((s) => s.className)).toEqual(["muted", "bad-text", "muted"]);
});

it("has the command for attaching while the server says that it works", () => {
  const props = { onPriority: () => {}, onBudget: () => {}, onLimits: () => {} };
  const { unmount } = show(<TaskFacts t={detail({ id: 1, session: "app-1.1", terminals: ["app-1.1"] })} {...props} />);
  expect(screen.queryByText("coppice attach app-1")).toBeNull();
  unmount();
  show(<TaskFacts t={detail({ id: 1, can_attach: true })} {...props} />);
  expect(screen.getByText("coppice attach app-1")).toBeTruthy();
});

it("says how a landing was taken off the branch as the server says it", () => {
  const reverted = { commit: "a".repeat(40), back_to: "b".repeat(40), by: "person", at: "2026-01-01T10:00:00Z" };
  show(<TaskFacts t={detail({ id: 1, reverted, reverted_text: "undone by hand" })} onPriority={() => {}} onBudget={() => {}} onLimits={() => {}} />);
  expect(screen.getByText("Reverted").nextElementSibling!.textContent).toBe(`aaaaaaaaaa, which had landed: undone by hand, ${clock(reverted.at)}`);
});
