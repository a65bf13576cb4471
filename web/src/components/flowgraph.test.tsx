// @vitest-environment happy-dom
import { fireEvent, screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { FlowPart } from "../api/schema";
import { layout } from "../lib/graph";
import { detail, flow, step } from "../test/make";
import { serve, show } from "../test/render";
import { CycleTable } from "./cycletable";
import { FlowGraph } from "./flowgraph";
import { Graph } from "./graph";

const part = (key: string, change: Partial<FlowPart> = {}): FlowPart => ({ key, name: `part ${key}`, ...change });

const goal = flow({
  kind: "goal",
  steps: [
    step({ key: "lead", task: "app-2", result: "It is split." }), step({ key: "lead-2", task: "app-3", agent: "beta", result: "GOAL_DONE: all", saw: { plan: 2 } }),
    step({ key: "w1", task: "app-4", title: "Write the lexer", state: "open", status: "needs you", ended: undefined, says: "it reads" }), step({ key: "w9", task: "app-9", left: true }),
  ],
  outline: [part("lead", { name: "Lead", steps: ["lead", "lead-2"], runs: 2, status: "done" }), part("w1", { name: "Write the lexer", steps: ["w1"], runs: 1, status: "needs you", after: ["lead"] }), part("verify-", { name: "Verify", agent: "alpha", after: ["w1"] }), part("fix", { name: "Fixes", after: ["verify-"], maybe: true, most: 3 })],
});

// opens opens the input of a step.
function opens(key: string): void {
  const box = screen.getByLabelText(`Step ${key}`).querySelector("details")!;
  box.open = true;
  fireEvent(box, new Event("toggle"));
}

const node = (key: string) => document.querySelector(`[data-node="${key}"]`)!;
const lines = (key: string) => [...node(key).querySelectorAll("text")].map((t) => t.textContent);

it("draws the steps and what is planned, with state, count, time and cost", () => {
  serve({});
  show(<FlowGraph f={goal} />);
  expect(lines("lead")).toEqual(["done · ×2", "Lead", "3 m · $1.00"]);
  expect(lines("w1")).toEqual(["needs you", "Write the lexer", "1 m 30 s · $0.50"]);
  expect(lines("verify-")).toEqual(["planned", "Verify", "alpha"]);
  expect(lines("fix")).toEqual(["if needed · 0 of 3", "Fixes", ""]);
  expect(["lead", "w1", "verify-", "fix"].map((k) => node(k).querySelector(".planned") !== null)).toEqual([false, false, true, true]);
  expect(document.querySelectorAll(".edge").length).toBe(3);
  expect(screen.getByText(/2 dashed parts have no task yet/)).toBeTruthy();
});

it("shows input, output, time and cost of the steps of a part", async () => {
  const sent = serve({ "GET /api/v1/tasks/app-3": detail({ id: 3, body: "Lead the work." }), "GET /api/v1/tasks/app-2": detail({ id: 2, title: "Split it" }) });
  show(<FlowGraph f={goal} />);
  fireEvent.click(node("lead"));
  expect(location.search).toBe("?step=lead");
  const newest = within(screen.getByLabelText("Step lead-2"));
  expect(newest.getByText("worked 1 m 30 s")).toBeTruthy();
  expect(newest.getByText("$0.50")).toBeTruthy();
  expect(newest.getByText("beta")).toBeTruthy();
  expect(newest.getByText("GOAL_DONE: all")).toBeTruthy();
  expect(newest.getByText("It read plan version 2.")).toBeTruthy();
  expect(sent).toEqual([]);
  opens("lead-2");
  expect(await newest.findByText("Lead the work.")).toBeTruthy();
  opens("lead");
  expect(await within(screen.getByLabelText("Step lead")).findByText(/Its title is: Split it/)).toBeTruthy();
  fireEvent.click(node("verify-"));
  expect(screen.getByText("It has no task yet. alpha would do it. It comes after w1.")).toBeTruthy();
  fireEvent.click(node("verify-"));
  expect(screen.queryByLabelText("Steps of Verify")).toBeNull();
});

it("shows what an open step says", async () => {
  serve({ "GET /api/v1/tasks/app-4": detail({ id: 4 }) });
  history.replaceState(null, "", "/?step=w1");
  show(<FlowGraph f={goal} />);
  expect(screen.getByText("it reads")).toBeTruthy();
  opens("w1");
  expect(await screen.findByText(/It has no description/)).toBeTruthy();
});

it("shortens long names, and opens a node in this window only without a modifier key", () => {
  const items = [{ key: "a", id: 1 }, { key: "b", id: 2, after: ["a"], parent: "a" }, { key: "c", id: 3, parent: "b" }];
  show(<Graph items={items} label="Tasks" lines={2} show={(i) => ({ href: `/tasks/${i.key}`, status: "needs you", title: "all of it", lines: [i.key, "a name that is much too long for a node"] })} />);
  expect(lines("b")).toEqual(["b", "a name that is much too…"]);
  expect(node("b").querySelector(".node-mark.s-needs-you")).toBeTruthy();
  expect(document.querySelectorAll(".edge.child").length).toBe(2);
  fireEvent.click(node("b"), { ctrlKey: true });
  expect(location.pathname).toBe("/");
  fireEvent.click(node("b"));
  expect(location.pathname).toBe("/tasks/b");
});

it("puts parts without an order beside each other", () => {
  const at = layout([1, 2, 3, 4].map((id) => ({ key: String(id), id }))).nodes.map((n) => [n.item.id, n.x, n.y]);
  expect(at).toEqual([[1, 0, 0], [2, 1, 0], [3, 2, 0], [4, 0, 1]]);
});

it("shows cycles as rows", () => {
  show(<CycleTable cycles={[{ cycle: 1, found: "Start with one.\n\nThen two.", done: ["one", "two"], left: 1, of: 3, known: true, steps: ["c1/review"], cost_usd: 1.5 }, { cycle: 2, found: "Short.", left: 1, of: 3, known: true, none: "nothing", steps: [], cost_usd: 0.25 }, { cycle: 3, left: 0, of: 0, none: "not reviewed yet", steps: [], cost_usd: 0 }, { cycle: 4, found: "All.", left: 0, of: 3, none: "nothing was left to do", steps: [], cost_usd: 0 }]} />);
  const rows = screen.getAllByRole("row").slice(1).map((r) => within(r).getAllByRole("cell").map((c) => c.textContent));
  expect(rows[0]).toEqual(["Start with one.Start with one.Then two.", "☑ one☑ two", "1 of 3", "$1.50"]);
  expect(rows[1]).toEqual(["Short.", "nothing", "1 of 3", "$0.25"]);
  expect(rows[3]!.slice(0, 3)).toEqual(["All.", "nothing was left to do", "0 of 3"]);
  expect(rows[2]!.slice(0, 3)).toEqual(["the review has not ended", "not reviewed yet", ""]);
});
