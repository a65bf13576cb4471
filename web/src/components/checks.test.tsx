// @vitest-environment happy-dom
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { LiveRun } from "../api/run";
import type { Check, CommandRun, Landing, TaskDetail } from "../api/schema";
import { detail } from "../test/make";
import { serve, show } from "../test/render";
import { checkCount, Checks } from "./checks";
import { RunningLine } from "./runningline";

const landing = { id: 5, project_id: 1, task_id: 1, session_id: 1, round: 0, head: "abcdef0123456789", created_at: "", state: "refused" as const, state_text: "refused by its checks" };
const check = (id: number, change: Partial<Check> = {}): Check => ({
  id, project_id: 1, task_id: 1, landing_id: 5, tree: "t", command: `check ${id}`, env: "", exit: 0, result: change.exit ? "failed" : "passed", took: 2e9, ended_at: "2026-01-01T10:00:00Z", log: "fine\n", ...change,
});
const command = (name: string, change: Partial<CommandRun> = {}): CommandRun => ({ command: name, state: "waiting", exit: 0, size: 0, ...(change.state === "ended" ? { result: change.exit ? "failed" : "passed" } : {}), ...change });
const noRun = () => new LiveRun("/api/v1/tasks/{key}/checks/live", "app-1");
const long = (n: number) => Array.from({ length: n }, (_, i) => (i === n - 3 ? "a.c:1: error: no" : `line ${i + 1}`)).join("\n");

// Rows have a height, as in a browser.
Object.defineProperty(HTMLElement.prototype, "offsetHeight", { get: () => 19 });

// play lets a run receive messages, and waits until they are drawn.
async function play(run: LiveRun, ...messages: [event: string, data: unknown][]): Promise<void> {
  await act(async () => {
    for (const [event, data] of messages) run.take({ id: "", event, data: JSON.stringify(data) });
    await new Promise((r) => requestAnimationFrame(r));
  });
}

const output = (command: number, offset: number, text: string): [string, unknown] => ["output", { command, offset, data: btoa(text) }];

it("opens failed checks at the first error, and passed ones on request", () => {
  show(<Checks run={noRun()} t={detail({ id: 1, landings: [landing], check_runs: [check(1), check(2, { exit: 1, log: long(500), error_line: 498 })] })} />);
  expect(screen.getByText("refused by its checks")).toBeTruthy();
  const red = screen.getByRole("region", { name: "check 2" });
  expect(within(red).getByText("✗ exit code 1")).toBeTruthy();
  const line = within(red).getByText("a.c:1: error: no").parentElement!;
  expect(line.className).toBe("log-line bad marked");
  expect(within(red).queryByText("line 1")).toBeNull(); // only the visible part is drawn
  const green = screen.getByRole("region", { name: "check 1" });
  expect(within(green).queryByRole("log")).toBeNull();
  fireEvent.click(within(green).getByRole("button", { expanded: false }));
  expect(within(green).getByText("fine")).toBeTruthy();
});

it("shows the state of a landing as the server says it", () => {
  const at = (id: number, state: Landing["state"], state_text: string, change = {}) => ({ ...landing, id, state, state_text, ...change });
  show(<Checks run={noRun()} t={detail({ id: 1, landings: [at(1, "refused", "refused by a verifier", { green: true }), at(2, "landed", "landed"), at(3, "waiting", "not yet", { green: true }), at(4, "in progress", "in progress", { green: true, waits: "x" })] })} />);
  const tags = [...document.querySelectorAll("h2 .tag")].map((e) => [e.className, e.textContent]);
  expect(tags).toEqual([["tag", "in progress"], ["tag", "not yet"], ["tag good", "landed"], ["tag bad", "refused by a verifier"]]);
});

it("opens the check and the line that the address names", () => {
  history.replaceState(null, "", "/tasks/app-1?tab=checks&check=2&line=3");
  show(<Checks run={noRun()} t={detail({ id: 1, landings: [landing], check_runs: [check(1), check(2, { log: long(10) })] })} />);
  const named = screen.getByRole("region", { name: "check 2" });
  expect(named.className).toContain("marked");
  expect(within(named).getByText("line 3").parentElement!.className).toContain("marked");
  expect(within(named).getByLabelText("Line 3").getAttribute("href")).toBe("/tasks/app-1?tab=checks&check=2&line=3");
  expect(within(named).getByLabelText("Link to check 2").getAttribute("href")).toBe("/tasks/app-1?tab=checks&check=2");
});

it("opens the newest run of a command that the address names", () => {
  history.replaceState(null, "", "/tasks/app-1?tab=checks&check=make");
  show(<Checks run={noRun()} t={detail({ id: 1, landings: [landing], check_runs: [check(1, { command: "make" }), check(2, { command: "make" })] })} />);
  expect(screen.getAllByRole("region", { name: "make" }).map((r) => r.className)).toEqual(["run", "run marked"]);
});

it("reads the whole log if the task has only a part of it", async () => {
  const sent = serve({ "GET /api/v1/tasks/app-1/checks/2/log": "the whole log" });
  show(<Checks run={noRun()} t={detail({ id: 1, landings: [landing], check_runs: [check(2, { exit: 1, cut: true, log: "a\nb" }), check(3, { log: "a\n[... 9 bytes left out; the whole text: /api/v1/x ...]\nb" })] })} />);
  expect(await screen.findByText(/the whole log/)).toBeTruthy();
  expect(sent.map((s) => s.path)).toEqual(["/api/v1/tasks/app-1/checks/2/log"]);
});

it("shows running commands with their output as it comes", async () => {
  const run = noRun();
  const all = [command("npm ci", { setup: true, state: "ended", started_at: "2026-01-01T10:00:00Z", ended_at: "2026-01-01T10:00:03Z" }), command("make", { state: "running", started_at: "2026-01-01T10:00:03Z" }), command("lint")];
  const t = detail({ id: 1, status: "checking", running: { run: "1", commands: all } });
  show(<><Checks run={run} t={t} /><RunningLine run={run} t={t} /></>);
  const made = screen.getByRole("region", { name: "make" });
  expect(within(made).getByText("running")).toBeTruthy();
  expect(within(made).getByText("No output yet.")).toBeTruthy();
  expect(screen.getByText("✓ passed · setup")).toBeTruthy();
  expect(screen.getByText("3.0 s")).toBeTruthy();
  await play(run, ["state", t.running], output(1, 0, "compiling\n"), output(1, 10, "a.c:1: err"));
  expect(within(made).getByText("compiling")).toBeTruthy();
  await play(run, output(1, 20, "or: no\n"));
  expect(within(made).getByText("a.c:1: error: no").parentElement!.className).toBe("log-line bad");
  expect(screen.getByText("checks run").getAttribute("href")).toBe("/tasks/app-1?tab=checks&check=make");

  const failed = [all[0]!, command("make", { state: "ended", exit: 2, started_at: "2026-01-01T10:00:03Z", ended_at: "2026-01-01T10:00:04Z" }), command("lint", { state: "running", started_at: "2026-01-01T10:00:04Z" })];
  await play(run, ["state", { run: "1", commands: failed }]);
  expect(within(made).getByText("✗ exit code 2")).toBeTruthy();
  expect(within(made).getByText("a.c:1: error: no").parentElement!.className).toBe("log-line bad marked");
  expect(screen.getByText("checks run").getAttribute("href")).toBe("/tasks/app-1?tab=checks&check=lint");

  await play(run, ["state", { run: "2", commands: all }], output(1, 0, "again\n"));
  expect(screen.queryByText("again")).toBeNull(); // the task's answer still has the first run
});

it("shows what waiting checks wait for, as the server says it", () => {
  const reason = "waiting for a check slot; running: app-7";
  const t = detail({ id: 1, status: "checking", reason, running: { run: "1", commands: [command("make")] } });
  show(<><Checks run={noRun()} t={t} /><RunningLine run={noRun()} t={t} /></>);
  expect(screen.getAllByText(reason).length).toBe(2);
  expect(screen.getByText("checks wait")).toBeTruthy();
});

it("counts the checks that run, and says so", () => {
  const count = (change: Partial<TaskDetail>) => checkCount(detail({ id: 1, ...change }));
  expect(count({})).toBe("0");
  expect(count({ check_runs: [check(1)], running: { run: "1", commands: [command("npm ci", { setup: true, state: "running" }), command("make")] } })).toBe("2 · waiting");
  expect(count({ check_runs: [check(1)], running: { run: "1", commands: [command("make", { state: "running" })] } })).toBe("2 · running");
  expect(count({ check_runs: [check(1, { exit: 1 }), check(2, { exit: 1 })], refusals: 1 })).toBe("1 refused"); // the server counts
  expect(count({ check_runs: [check(1), check(2, { exit: 1, on_base: true })] })).toBe("1");
});

it("says how a check ended as the server says it", () => {
  const runs = [check(1, { exit: 0, result: "timed out", timed_out: true }), check(2, { exit: -1, result: "killed", signal: "SIGKILL" }), check(3, { exit: 3, result: "passed" }), check(4, { exit: 0, result: "failed" })];
  show(<Checks run={noRun()} t={detail({ id: 1, landings: [landing], check_runs: runs })} />);
  expect(runs.map((c) => screen.getByRole("region", { name: c.command }).querySelector("header span + span")!.textContent)).toEqual(["✗ ran out of time", "! killed by SIGKILL", "✓ passed", "✗ exit code 0"]);
});

it("says which run was on the base", () => {
  show(<Checks run={noRun()} t={detail({ id: 1, landings: [landing], check_runs: [check(1, { exit: 1 }), check(2, { exit: 3, on_base: true })] })} />);
  expect(screen.getByText("✗ exit code 1")).toBeTruthy();
  expect(screen.getByText("✗ exit code 3 · on the base")).toBeTruthy();
});

it("searches the whole log, and jumps to matches and errors", async () => {
  show(<Checks run={noRun()} t={detail({ id: 1, landings: [landing], check_runs: [check(2, { exit: 1, log: long(2000) + "\nERROR: x\nerror: y" })] })} />);
  fireEvent.keyDown(document.body, { key: "f", ctrlKey: true });
  const field = screen.getByLabelText("Search in the log of check 2");
  expect(document.activeElement).toBe(field);
  fireEvent.change(field, { target: { value: "LINE 7" } });
  expect(await screen.findByText("111 found")).toBeTruthy();
  fireEvent.keyDown(field, { key: "Enter" });
  expect(screen.getByText("1 of 111")).toBeTruthy();
  await waitFor(() => expect(document.querySelector(".log-line.marked mark")?.textContent).toBe("line 7"));
  fireEvent.keyDown(field, { key: "Enter", shiftKey: true });
  expect(screen.getByText("111 of 111")).toBeTruthy();
  fireEvent.click(screen.getByText("Next error (2)"));
  await waitFor(() => expect(document.querySelector(".log-line.marked")?.textContent).toContain("a.c:1: error: no"));
  field.blur();
  expect(fireEvent.keyDown(document.body, { key: "f", ctrlKey: true })).toBe(false);
  expect(document.activeElement).toBe(field);
  expect(fireEvent.keyDown(field, { key: "f", ctrlKey: true })).toBe(true); // the browser's own search
});

it("copies the whole log", async () => {
  const writeText = vi.fn(() => Promise.resolve());
  vi.stubGlobal("navigator", { clipboard: { writeText } });
  show(<Checks run={noRun()} t={detail({ id: 1, landings: [landing], check_runs: [check(2, { exit: 1, log: "one\n\u001b[1mtwo\u001b[0m\n" })] })} />);
  fireEvent.click(screen.getByLabelText("Copy the log of check 2"));
  await screen.findByText("copied");
  expect(writeText).toHaveBeenCalledWith("one\ntwo\n");
});
