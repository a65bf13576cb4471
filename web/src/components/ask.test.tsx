// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { Ask } from "./ask";

const answer = vi.hoisted(() => vi.fn(() => Promise.resolve(true)));
vi.mock("./actions", () => ({ answer }));

afterEach(() => {
  cleanup();
  answer.mockClear();
});

const q = { id: 7, text: "Which format?", options: ["JSON", "Text"], descriptions: ["One object per line", ""] };

test("an option shows what it means, and its number is the answer", () => {
  render(<Ask task="app-1" q={q} />);
  expect(screen.getByText("One object per line")).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: /Text/ }));
  expect(answer).toHaveBeenCalledWith("app-1", 7, "2");
});

test("several options can be chosen", () => {
  render(<Ask task="app-1" q={{ ...q, several: true }} />);
  const send = screen.getByRole("button", { name: "Answer with these" });
  expect((send as HTMLButtonElement).disabled).toBe(true);
  fireEvent.click(screen.getByLabelText(/Text/));
  fireEvent.click(screen.getByLabelText(/JSON/));
  fireEvent.click(send);
  expect(answer).toHaveBeenCalledWith("app-1", 7, "1, 2");
});

test("a permission has the answers that the server offers", () => {
  const permission = { id: 8, kind: "permission" as const, text: "may it run: ls", options: ["allow", "deny"] };
  render(<Ask task="app-1" q={permission} />);
  expect(screen.getAllByRole("button").map((b) => b.textContent)).toEqual(["Allow", "Deny"]);
  fireEvent.change(screen.getByLabelText("Reason"), { target: { value: "too slow" } });
  fireEvent.click(screen.getByRole("button", { name: "Deny" }));
  expect(answer).toHaveBeenCalledWith("app-1", 8, "deny because too slow");
});
