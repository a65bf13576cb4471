// @vitest-environment happy-dom
import { act, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ApiError } from "../api/client";
import { show } from "../test/render";
import { attempt, say, Toasts } from "./toast";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  act(() => void vi.runAllTimers());
  vi.useRealTimers();
});

const problem = new ApiError({ code: "conflict", title: "", status: 409, detail: "it has ended", fix: "use `coppice retry`" });

it("shows a message for five seconds", () => {
  show(<Toasts />);
  act(() => say("app-1 was created"));
  expect(screen.getByText("app-1 was created")).toBeTruthy();
  act(() => void vi.advanceTimersByTime(5000));
  expect(screen.queryByText("app-1 was created")).toBeNull();
});

it("keeps a problem with its fix until it is dismissed", async () => {
  show(<Toasts />);
  await act(async () => {
    expect(await attempt("done", () => Promise.reject(problem))).toBeUndefined();
  });
  act(() => void vi.advanceTimersByTime(60_000));
  expect(screen.getByRole("alert").textContent).toContain("it has ended");
  expect(screen.getByText("coppice retry").tagName).toBe("CODE");
  expect(screen.queryByText("done")).toBeNull();
  fireEvent.click(screen.getByLabelText("Dismiss"));
  expect(screen.queryByRole("alert")).toBeNull();
});

it("shows the last four", () => {
  show(<Toasts />);
  act(() => [1, 2, 3, 4, 5].forEach((n) => say(`message ${n}`)));
  expect(screen.getAllByText(/message/).map((e) => e.textContent)).toEqual(["message 2", "message 3", "message 4", "message 5"]);
});
