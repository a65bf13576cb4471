// @vitest-environment happy-dom
// Each page with the answers of a server: what it shows, and what it shows without data.
import { fireEvent, screen, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, it } from "vitest";
import { App } from "../app";
import { parts as blocksOf } from "../lib/markdown";
import { to } from "../router";
import { board, comment, detail, file, project, pull, reacted, review, session, task } from "../test/make";
import { serve, show } from "../test/render";
import { Board } from "./board";
import FeaturesPage from "./features";
import GraphPage from "./graph";
import GroupPage from "./group";
import GroupsPage from "./groups";
import HelpPage from "./help";
import LandingPage from "./landing";
import ReviewPage from "./review";
import SearchPage from "./search";
import SettingsPage from "./settings";
import { TaskPage } from "./task";
import TimelinePage from "./timeline";
import UsagePage from "./usage";

const group = { id: 3, project: "app", name: "batch-1", kind: "batch", tasks: 2, archived: 7, counts: { done: 1, failed: 1 }, usage: { cost_usd: 2 }, created_at: "2026-01-01T10:00:00Z" };
const today = new Date().toISOString();
const row = { day: today.slice(0, 10), project: "app", agent: "robot", model: "big", sessions: 2, usage: { cost_usd: 1.5, output_tokens: 10 } };
const app = project({ prefix: "app", rules: [{ do: "allow", tool: "Bash", match: "ls" }], paused_tracks: { docs: "it fails" } });

const some = {
  "GET /api/v1/projects": { projects: [app, project({ prefix: "web" })] },
  "GET /api/v1/status": { counts: {}, today_usd: 0, projects: [{ prefix: "app", warnings: ["the base is old"] }], inbox: 0 },
  "GET /api/v1/board": board({ "Needs you": [], Working: [task({ id: 1, title: "Greet" })] }, { labels: ["ui"], groups: [{ id: 3, project: "app", name: "batch-1" }] }),
  "GET /api/v1/inbox": { entries: [], snoozed: 0 },
  "GET /api/v1/tasks/app-1": detail({ id: 1, title: "Greet", body: "Be **kind**", history: [session({ n: 1 })], sessions: 1, review: "possible" }),
  "GET /api/v1/tasks/app-1/review": review({ files: [file({ path: "a.go", viewed: true }), file({ path: "b.go", viewed: true })], viewed: 2, approved_by: "ada" }),
  "GET /api/v1/sessions/app-1.1/output": { output: [], more: false, next: 0, last: 0, first: 0, ended: true },
  "GET /api/v1/groups": { groups: [group] },
  "GET /api/v1/groups/3": group,
  "GET /api/v1/graph": { tasks: [task({ id: 1 }), task({ id: 2, after: ["app-1"] })] },
  "GET /api/v1/landings": { queue: [{ task: task({ id: 4, title: "Wave", status: "landing", can: ["land"] }), reason: "make test runs" }], landed: [task({ id: 5, title: "Nod", landed: "f".repeat(40), ended_at: "2026-01-01T10:05:00Z" })] },
  "GET /api/v1/timeline": { rows: [{ task: "app-1", title: "Greet", bars: [{ kind: "session", session: "app-1.1", role: "implement", state: "done", from: today, to: today }] }] },
  "GET /api/v1/usage": { from: row.day, to: row.day, rows: [row], sessions: 2, total: row.usage, budgets: [{ project: "app", day_usd: 5, today_usd: 1.5 }], more: false },
  "GET /api/v1/search": { hits: [{ kind: "output", task: "app-1", session: "app-1.1", title: "Greet", at: "2026-01-01T10:00:00Z", offset: 9, source: "event", snippet: "a lucky number", marks: [[2, 5]] }], more: false, behind: true },
  "GET /api/v1/projects/app/features": { project: "app", file: "f.json", features: [{ id: "F1", name: "Greet", status: "failed", track: "main", line: 2, failure_reason: "it broke", can_reopen: true }], problems: [{ line: 7, text: "a comma is missing" }] },
  "GET /api/v1/agents": { agents: [], at: "" },
};

const none: Record<string, unknown> = {
  "GET /api/v1/projects": { projects: [] }, "GET /api/v1/board": board({}, { empty: true }), "GET /api/v1/groups": { groups: [] }, "GET /api/v1/graph": { tasks: [] }, "GET /api/v1/landings": { queue: [], landed: [] },
  "GET /api/v1/timeline": { rows: [] }, "GET /api/v1/usage": { from: "", to: "", rows: [], sessions: 0, total: {}, budgets: [], more: false }, "GET /api/v1/search": { hits: [], more: false, behind: false },
  "GET /api/v1/tasks/app-1/review": review(), "GET /api/v1/tasks/app-1": detail({ id: 1, history: [] }), "GET /api/v1/projects/app/features": { project: "app", file: "", features: [], problems: [] },
};

// A page: its address, what it shows with data, and what it says without.
const pages: [string, string, ReactNode, (string | RegExp)[], string[]][] = [
  ["the board", "/", <Board />, ["Greet", "1 task", "Label"], ["Nothing here yet"]],
  ["the features", "/features?project=app", <FeaturesPage />, ["it broke", "a comma is missing", "line 7", "Retry"], []],
  ["the graph", "/graph", <GraphPage />, ["2 tasks, 1 dependency", "app-2 · ready"], ["No dependencies between open tasks"]],
  ["a group", "/groups/3", <GroupPage id="3" />, ["batch-1", /2 tasks · \$2\.00/, "7 archived tasks", "Greet"], ["There is no such group"]],
  ["the groups", "/groups", <GroupsPage />, ["batch-1", "1 failed, 1 done"], ["No groups yet"]],
  ["the help", "/help", <HelpPage />, ["needs you", "coppice inbox", "Next or previous row"], ["Statuses"]],
  ["the landings", "/landing", <LandingPage />, ["1 in the queue", "make test runs", "Nod", "ffffffffff"], ["Nothing is landing", "Nothing yet."]],
  ["a review", "/tasks/app-1/review", <ReviewPage taskKey="app-1" />, ["Greet", "2 of 2 viewed", "✓ approved by ada", "Ask for changes"], ["No change to review yet"]],
  ["the search", "/search?q=lucky", <SearchPage />, ["lucky", "app-1.1", /still being indexed/, "Label"], ["No match"]],
  ["the settings", "/settings", <SettingsPage />, ["app", "the base is old", "ls", /Track docs is paused: it fails/, "This browser"], ["No project yet"]],
  ["a task", "/tasks/app-1", <TaskPage taskKey="app-1" />, ["Greet", "kind", "Sessions"], ["No session yet"]],
  ["the timeline", "/timeline", <TimelinePage />, ["1 session of 1 task", "Greet"], ["No session in the last 1 h"]],
  ["the usage", "/usage", <UsagePage />, ["robot", "$1.50", /The budget of app is \$5\.00 per day/, "Label"], ["Nothing used in the last 30 d"]],
];

it.each(pages)("%s", async (_, path, page, shown, empty) => {
  serve(some);
  history.replaceState(null, "", path);
  const { unmount } = show(page);
  for (const text of shown) await waitFor(() => expect(screen.getAllByText(text).length).toBeGreaterThan(0));
  unmount();
  serve({ ...none });
  const { cache } = await import("../api/cache");
  cache.clear();
  show(page);
  for (const text of empty) await waitFor(() => expect(screen.getAllByText(text).length).toBeGreaterThan(0));
});

it("asks the server for what a filter chooses", async () => {
  const asked: string[] = [];
  serve(some);
  const answer = fetch;
  globalThis.fetch = ((r: Request) => (asked.push(new URL(r.url).pathname + new URL(r.url).search), answer(r))) as typeof fetch;
  history.replaceState(null, "", "/search?q=lucky&label=ui&in=3");
  show(<SearchPage />);
  await waitFor(() => expect(asked.some((a) => a.startsWith("/api/v1/search?q=lucky") && a.includes("group_id=3") && a.includes("label=ui"))).toBe(true));
  history.replaceState(null, "", "/");
  show(<Board />);
  fireEvent.click(await screen.findByLabelText("Open pull request"));
  await waitFor(() => expect(asked.some((a) => a.startsWith("/api/v1/board?") && a.includes("pull=open"))).toBe(true));
  expect(location.search).toBe("?pull=open");
  history.replaceState(null, "", "/usage?by=task&label=ui");
  show(<UsagePage />);
  await waitFor(() => expect(asked.some((a) => a.startsWith("/api/v1/usage?") && a.includes("group=task") && a.includes("label=ui"))).toBe(true));
});

it("has a tab for the pull request of a task, or only for what reactions did", async () => {
  serve({ ...some, "GET /api/v1/tasks/app-1": detail({ id: 1, status: "landing", status_text: "in review", pr: pull({ ci: "passed" }), pull: { number: 12, branch: "b", base: "main", created_at: today, report: { title: "Greet all" } } }) });
  history.replaceState(null, "", "/tasks/app-1?tab=pull");
  const { unmount } = show(<TaskPage taskKey="app-1" />);
  expect(await screen.findByText(/Greet all/)).toBeTruthy();
  expect(screen.getByRole("tab", { name: "Pull request #12" })).toBeTruthy();
  expect(screen.getByText("in review")).toBeTruthy();
  expect(screen.getByText("✓ CI")).toBeTruthy();
  unmount();
  const { cache } = await import("../api/cache");
  cache.clear();
  serve({ ...some, "GET /api/v1/tasks/app-1": detail({ id: 1, reactions: [reacted({ id: 1, event: "agent-idle" })] }) });
  show(<TaskPage taskKey="app-1" />);
  expect(await screen.findByText("agent-idle")).toBeTruthy();
  expect(screen.getByRole("tab", { name: "Reactions" })).toBeTruthy();
});

it("shows which tasks have spent their budget, as the server says", async () => {
  const cost = (task: string, budget_usd?: number, over?: boolean) => ({ ...row, task, budget_usd, over });
  serve({ ...some, "GET /api/v1/usage": { from: row.day, to: row.day, rows: [cost("app-1", 1, true), cost("old-2", 9), cost("web-1")], sessions: 6, total: row.usage, budgets: [{ project: "app", task_usd: 1 }], more: false } });
  history.replaceState(null, "", "/usage?by=task");
  show(<UsagePage />);
  const rowOf = (key: string) => screen.getByRole("link", { name: key }).closest("tr")!.textContent;
  await waitFor(() => expect(rowOf("app-1")).toContain("over"));
  expect(rowOf("old-2")).not.toContain("over");
  expect(screen.getByTitle("budget: $9.00")).toBeTruthy();
  expect(rowOf("web-1")).not.toContain("over");
});

it("removes a remembered answer", async () => {
  const sent = serve({ ...some, "POST /api/v1/projects/app/rules/1/forget": {} });
  show(<SettingsPage />);
  fireEvent.click(await screen.findByLabelText("Remove the remembered answer “allow Bash on ls” of app"));
  await waitFor(() => expect(sent.some((s) => s.path === "/api/v1/projects/app/rules/1/forget")).toBe(true));
});

it("says that there is no such page, inside the frame", async () => {
  serve(some);
  history.replaceState(null, "", "/nowhere");
  show(<App />);
  expect(await screen.findByText("Page not found")).toBeTruthy();
  expect(screen.getByRole("navigation", { name: "Pages" })).toBeTruthy();
});

it("writes addresses without defaults, and reads Markdown by parts", () => {
  expect(to("/tasks/{key}", { key: "a/b", tab: "checks" })).toBe("/tasks/a%2Fb?tab=checks");
  expect(to("/", { label: "" })).toBe("/");
  expect(blocksOf("# One\n\n- two\n\n```go\nx\n```").map((p) => p.kind)).toEqual(["heading", "list", "code"]);
});

it("shows a comment at the file that the server names", async () => {
  const comments = [comment({ id: 1, path: "a.go", at: { path: "a.go", first: 1, last: 1 }, file: "b.go" }), comment({ id: 2, path: "b.go", file: undefined })];
  serve({ ...some, "GET /api/v1/tasks/app-1/review": review({ files: [file({ path: "a.go", viewed: true }), file({ path: "b.go", viewed: true })], comments }) });
  show(<ReviewPage taskKey="app-1" />);
  const renamed = await screen.findByRole("region", { name: "b.go" });
  expect(renamed.textContent).toContain("1 comment");
  expect(screen.getByRole("region", { name: "a.go" }).textContent).not.toContain("comment");
  expect(screen.getByRole("region", { name: "Files that the change no longer touches" }).textContent).toContain("comment 2");
});
