// @vitest-environment happy-dom
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { detail } from "../test/make";
import { show } from "../test/render";
import { offersActions, Why } from "./why";

const failed = detail({
  id: 1, status: "failed", need: "failed", stage: "ended", reason: "its checks do not pass on the merged tree", fix: "fix its branch and run `coppice land app-1`",
  failure: { class: "test_only", text: "its checks do not pass" }, can: ["land", "continue", "retry", "undo"],
  failed_check: { id: 7, command: "go test ./...", line: 12, from: 10, lines: ["ok", "\u001b[31mRUN\u001b[0m", "--- FAIL: TestA", "FAIL"] },
});

it("shows the reason in words, the log around the error, and the server's actions", () => {
  show(<Why t={failed} />);
  expect(screen.getByText("checks failed")).toBeTruthy();
  expect(screen.queryByText("test_only")).toBeNull();
  expect(screen.getByText(failed.reason!)).toBeTruthy();
  expect(screen.getByText("Open the log at line 12").getAttribute("href")).toBe("/tasks/app-1?tab=checks&check=7&line=12");
  expect(screen.getByText("RUN").previousSibling!.textContent).toBe("11");
  expect(screen.getByText("--- FAIL: TestA").parentElement!.className).toBe("log-line bad");
  expect(screen.getAllByRole("button").map((b) => b.textContent)).toEqual(["Land", "Continue", "Retry", "More ▾"]);
});

it("has the actions only where the banner explains them", () => {
  expect(offersActions(failed)).toBe(true);
  expect(offersActions(detail({ id: 1, status: "needs you", need: "waiting", reason: "waits for you" }))).toBe(true);
  expect(offersActions(detail({ id: 1, status: "needs you", need: "waiting" }))).toBe(false);
  expect(offersActions(detail({ id: 1, status: "waiting", reason: "waits for app-2" }))).toBe(false);
  expect(offersActions(detail({ id: 1, status: "needs you", need: "question", reason: "asks", question: { id: 1, text: "?", asked_at: "", open: true } }))).toBe(false);
});

it("offers the actions of a silent session, which still works", () => {
  const { container } = show(<Why t={detail({ id: 1, status: "working", need: "stalled", warning: "stalled: no output for 10m", can: ["interrupt", "stop"] })} />);
  expect(container.querySelector(".why.needs")).toBeTruthy();
  expect(screen.getAllByRole("button").map((b) => b.textContent)).toEqual(["Interrupt", "Stop"]);
});

it("shows nothing without a reason", () => {
  const { container } = show(<Why t={detail({ id: 1, status: "working" })} />);
  expect(container.textContent).toBe("");
});
