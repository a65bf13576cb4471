// @vitest-environment happy-dom
// The parts of a task's page: what each shows of a task, and what it says without data.
import { fireEvent, screen, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, it } from "vitest";
import { LiveRun } from "../api/run";
import type { Check, TimelineRow } from "../api/schema";
import type { Block } from "../lib/conversation";
import { detail, event, review, session, task } from "../test/make";
import { serve, show } from "../test/render";
import { Answer } from "./answer";
import { BlockView } from "./block";
import { Changes } from "./changes";
import { Cost } from "./cost";
import { DiffLines } from "./difflines";
import { Events } from "./events";
import { Chart } from "./gantt";
import { History } from "./history";
import { Attachments, TaskImages, useImages } from "./images";
import { NoTask } from "./notask";
import { Pictures } from "./pictures";
import { ReviewAbout } from "./reviewabout";
import { RunningLine } from "./runningline";
import { Composer, Sessions } from "./sessions";
import TaskBars from "./taskbars";
import { Verdicts } from "./verdicts";

const PATCH = "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n";
const bars = [{ kind: "session", session: "app-1.1", role: "implement", state: "done", from: "2026-01-01T10:00:00Z", to: "2026-01-01T10:01:00Z" }, { kind: "check", session: "", role: "", state: "passed", command: "make test", from: "2026-01-01T10:01:00Z", to: "2026-01-01T10:03:00Z" }] satisfies TimelineRow["bars"];
const verdict = { summary: "half of it", steps: [{ n: 1, text: "It greets.", pass: true }, { n: 2, text: "It waves.", pass: false, evidence: "no hand" }] };
const check: Check = { id: 1, landing_id: 1, project_id: 1, task_id: 1, command: "make test", env: "", exit: 1, result: "failed", took: 2e9, tree: "t", ended_at: "2026-01-01T10:00:00Z" };
const failed = { name: "make", kind: "tool", id: 1, at: "2026-01-01T10:00:00Z", text: "", ok: false, bad: true, input: { command: "make" }, result: "no rule" } as unknown as Block;

const answers = {
  "GET /api/v1/tasks/app-1/diff": PATCH,
  "GET /api/v1/events": { events: [event("task.created", "app-1"), event("work.taken", "app-1"), event("session.ended", "app-1.1", { reason: "done" })], more: false, next: 0, last: 3 },
  "GET /api/v1/timeline": { rows: [{ task: "app-1", title: "One", bars }] },
  "GET /api/v1/sessions/app-1.2/output": { output: [{ offset: 7, at: "2026-01-01T10:00:00Z", kind: "image" }] },
  "GET /api/v1/agents": { agents: [{ name: "scripted", can: [] }], at: "" },
};

// Each part, what it must show, and what it must not.
const parts: [string, ReactNode, (string | RegExp)[], (string | RegExp)[]?][] = [
  ["an answer is Markdown", <Answer t={detail({ id: 1, answer: { text: "**Yes**, it *really* does" } as never })} />, ["Yes", "really"], ["**Yes**", /\*really/]],
  ["an answer can be JSON", <Answer t={detail({ id: 1, answer: { value: { ok: true } } as never, schema: { type: "object" } })} />, [/"ok": true/, "The schema it must match"]],
  ["without an answer, the last try is named", <Answer t={detail({ id: 1, history: [session({ n: 1, answer: { problem: "not JSON" } as never })] })} />, ["No answer yet", "The last try: not JSON"]],
  ["costs by session, and their sum", <Cost t={detail({ id: 1, usage: { cost_usd: 3 }, history: [session({ n: 1, usage: { cost_usd: 1 } }), session({ n: 2, role: "fix", usage: { cost_usd: 2, estimated: true } })] })} />, ["$1.00", "~$2.00", "$3.00", "fix"]],
  ["no costs", <Cost t={detail({ id: 1 })} />, ["Nothing used yet"]],
  ["lines of a change have their marks", <DiffLines numbers lines={[{ kind: "add", text: "three", new: 2 }, { kind: "del", text: "two", old: 2 }]} />, [/\+three/, /-two/]],
  ["a file of a change", <Changes t={detail({ id: 1, review: "possible" })} />, ["a.go", /^1 file/, /\+three/, "Review by file"]],
  ["the log of a task, the newest first", <Events task="app-1" />, ["task.created", "work.taken", "session.ended"]],
  ["the history leaves out what only matters to Coppice", <History t={detail({ id: 1 })} />, ["Created", "Session ended", "make test"], ["work.taken"]],
  ["a bar for each session and check", <TaskBars task="app-1" />, ["sessions", "make test", "2 m"]],
  ["steps with verdicts and evidence", <Verdicts t={detail({ id: 1, steps: ["It greets.", "It waves."], verifiers: ["app-1.2"], verdict_by: "app-1.2", history: [session({ n: 2, role: "verify", verdict })] })} />, ["1 of 2 passed", "no hand", "half of it", "✗ fail", "1 picture"]],
  ["no steps", <Verdicts t={detail({ id: 1 })} />, ["No steps"]],
  ["pictures of a session", <Pictures session="app-1.2" />, ["1 picture"]],
  ["the running check below a conversation", <RunningLine t={detail({ id: 1, running: { run: "r", commands: [{ command: "make test", state: "running", started_at: "2026-01-01T10:00:00Z" }] } as never })} run={new LiveRun("/api/v1/tasks/{key}/checks/live", "app-1")} />, ["checks run", "make test"]],
  ["an image that the agent cannot see", <TaskImages images={[{ id: "i", at: "", size: 9, type: "image/png" }]} project="app" agent="scripted" />, ["1 image", /cannot see images/]],
  ["a failed tool call is open, with its result", <BlockView b={failed} session="app-1.1" marked={false} relative={(s) => s} />, ["no rule", "✗"]],
  ["a task that does not exist", <NoTask taskKey="app-9" task={{ problem: { code: "not_found", title: "", status: 404, detail: "" }, loading: false, again: () => {} }} />, ["There is no task app-9"]],
  ["what to know before a review", <ReviewAbout t={detail({ id: 1, summary_by: "app-1.1", history: [session({ n: 1, summary: "I did **it**" }), session({ n: 2, role: "analyze", summary: "It failed" })], landings: [{ id: 1 }, { id: 2 }] as never, check_runs: [{ ...check, landing_id: 2, command: "of another head" }] })} r={review({ approved_by: "ada", landing: 1, checks: [check] })} />, ["it", "make test", "✗", "by ada", "cccccccccc"], ["of another head", "It failed"]],
  ["a review has the verdict on its head", <ReviewAbout t={detail({ id: 1, verdict_by: "app-1.3", history: [session({ n: 2, role: "verify", verdict }), session({ n: 3, role: "verify", verdict: { steps: [{ n: 1, text: "Of another head.", pass: true }] } })] })} r={review({ judged_by: "app-1.2" })} />, ["Steps 1 of 2", "It waves.", "They run when its session has ended."], ["Of another head."]],
  ["a task without a session", <Sessions t={detail({ id: 1, status: "waiting", reason: "all sessions are busy" })} />, ["No session yet", "Waiting: all sessions are busy."]],
];

it.each(parts)("%s", async (_, part, shown, hidden = []) => {
  serve(answers);
  show(part);
  for (const text of shown) await waitFor(() => expect(screen.getAllByText(text, { exact: typeof text === "string" }).length).toBeGreaterThan(0));
  for (const text of hidden) expect(screen.queryByText(text)).toBeNull();
});

it("knows from the server which verdict passed and which session runs", () => {
  const t = (change = {}) => detail({ id: 1, verifiers: ["app-1.1", "app-1.2"], history: [session({ n: 1, role: "verify", verdict: { steps: [{ n: 1, text: "It greets.", pass: true }] } }), session({ n: 2, role: "verify" })], ...change });
  const tags = () => [...document.querySelectorAll(".round h2 .tag")].map((e) => [e.className, e.textContent]);
  serve(answers);
  const { unmount } = show(<Verdicts t={t()} />);
  expect(tags()).toEqual([["tag ", "no verdict"], ["tag bad", "1 of 1 passed"]]);
  unmount();
  show(<Verdicts t={t({ live: ["app-1.2"], passed_by: ["app-1.1"] })} />);
  expect(tags()).toEqual([["tag ", "in progress"], ["tag good", "1 of 1 passed"]]);
});

it("sends a message if the server says that the task takes one", async () => {
  const sent = serve({ ...answers, "POST /api/v1/tasks/app-1/send": {} });
  const { rerender } = show(<Composer t={detail({ id: 1, live: ["app-1.1"] })} session={session({ n: 1, state: "working", ended_at: undefined })} />);
  fireEvent.change(screen.getByLabelText("Message to the agent"), { target: { value: "be brief" } });
  fireEvent.click(screen.getByRole("checkbox"));
  fireEvent.keyDown(screen.getByLabelText("Message to the agent"), { key: "Enter" });
  await waitFor(() => expect(sent).toContainEqual({ method: "POST", path: "/api/v1/tasks/app-1/send", body: { text: "be brief", next: true } }));
  rerender(<></>);
  show(<Composer t={detail({ id: 1, can_send: false })} />);
  expect(screen.queryByLabelText("Message to the agent")).toBeNull();
});

it("uploads images, and refuses too large ones before they are sent", async () => {
  const sent = serve({ ...answers, "POST /api/v1/images": { id: "i1", at: "", size: 3, type: "image/png" } });
  const Form = () => {
    const images = useImages();
    return <><Attachments images={images} project="app" agent="scripted" /><output>{images.ids.images?.join()}</output></>;
  };
  show(<Form />);
  const field = document.querySelector<HTMLInputElement>("input[type=file]")!;
  fireEvent.change(field, { target: { files: [new File(["png"], "a.png")] } });
  await waitFor(() => expect(screen.getByRole("status").textContent).toBe("i1"));
  const large = new File(["x"], "b.png");
  Object.defineProperty(large, "size", { value: 6 << 20 });
  fireEvent.change(field, { target: { files: [large] } });
  expect(await screen.findByText(/b\.png has 6 MiB/)).toBeTruthy();
  expect(sent.filter((s) => s.path === "/api/v1/images")).toHaveLength(1);
  fireEvent.click(screen.getByLabelText("Remove a.png"));
  expect(screen.getByRole("status").textContent).toBe("");
});

it("puts a bar where its time is", () => {
  show(<Chart label="Tasks" lanes={[{ id: "a", task: "app-1", name: task({ id: 1 }).title, bars }]} view={{ from: Date.parse("2026-01-01T10:00:00Z"), to: Date.parse("2026-01-01T10:04:00Z") }} onView={() => {}} />);
  const bar = screen.getByLabelText("check: make test");
  expect([bar.style.left, bar.style.width]).toEqual(["25%", "50%"]);
  expect(bar.getAttribute("href")).toBe("/tasks/app-1?tab=checks&check=make+test");
});
