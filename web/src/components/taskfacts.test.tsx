// @vitest-environment happy-dom
import { fireEvent, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { detail } from "../test/make";
import { show } from "../test/render";
import { limitsOf, TaskFacts } from "./taskfacts";

it("says what stops a session", () => {
  expect(limitsOf(detail({ id: 1 }))).toBe("none");
  expect(limitsOf(detail({ id: 1, until_done: true }))).toBe("until it is done");
  expect(limitsOf(detail({ id: 1, limits: { turns: 40, time: "30m", budget: "2 USD" } }))).toBe("40 turns, 30m, 2 USD per session");
});

it("changes the limits of a task", () => {
  const onLimits = vi.fn();
  show(<TaskFacts t={detail({ id: 1, turns: 40, limits: { turns: 40 } })} onPriority={() => {}} onBudget={() => {}} onLimits={onLimits} />);
  fireEvent.change(screen.getByLabelText("Time of a session"), { target: { value: "1h" } });
  fireEvent.submit(screen.getByLabelText("Time of a session").closest("form")!);
  expect(onLimits).toHaveBeenCalledWith({ turns: 40, time: "1h" });
});
