// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { stale } from "../api/stale";
import { event, project, reacted } from "../test/make";
import { serve, show } from "../test/render";
import ReactionsPage, { limits } from "./reactions";

const rules = {
  project: "app", trust: "sandboxed",
  events: [
    { event: "ci-failed", about: "A check failed.", rules: [{ do: "send-to-agent", retries: 2 }], why: "set trust: unsandboxed" },
    { event: "comment", about: "A comment.", own: true, rules: [{ if: 'text contains "/fix"', do: "run", run: "./fix.sh", message: "Fix it", escalate_after: "30m", priority: "urgent" }, { do: "nothing" }] },
  ],
};
const entry = (id: number, change = {}) => ({ ...reacted({ id }), project: "app", of: "app-1", title: "Greet", ...change });
const answers = {
  "GET /api/v1/projects": { projects: [project({ prefix: "app" }), project({ prefix: "web" })] },
  "GET /api/v1/projects/app/reactions": rules,
  "GET /api/v1/reactions": { reactions: [entry(9), entry(8, { of: undefined, title: undefined, project: "web", event: "all-complete" })], next: 8 },
};

it("has the rules of each project by event, and says why one does nothing", async () => {
  serve(answers);
  show(<ReactionsPage />);
  const fold = (await screen.findByText("app", { selector: "summary strong" })).closest("details")!;
  expect(screen.getByText("web", { selector: "summary strong" })).toBeTruthy();
  fold.open = true;
  fireEvent(fold, new Event("toggle"));
  const row = (name: string) => within(document.querySelector<HTMLElement>(`[data-event=${name}]`)!);
  await waitFor(() => expect(row("ci-failed").getByText("default")).toBeTruthy());
  expect(row("ci-failed").getByText(/^Does nothing/).textContent).toBe("Does nothing: set trust: unsandboxed");
  expect(row("ci-failed").getByText("at most 2 times, then a person decides")).toBeTruthy();
  expect(row("comment").getByText("coppice.yaml")).toBeTruthy();
  for (const text of ['text contains "/fix"', "./fix.sh", "Fix it", "a person decides after 30m · priority urgent", "nothing"]) expect(row("comment").getByText(text)).toBeTruthy();
  expect(row("comment").queryByText(/^Does nothing/)).toBeNull();
});

it("has the history with links to tasks, page by page and by project", async () => {
  serve(answers);
  const asked: string[] = [];
  const answer = fetch;
  globalThis.fetch = ((r: Request) => (asked.push(new URL(r.url).pathname + new URL(r.url).search), answer(r))) as typeof fetch;
  show(<ReactionsPage />);
  const link = await screen.findByRole("link", { name: "app-1 Greet" });
  expect(link.getAttribute("href")).toBe("/tasks/app-1?tab=pull");
  expect(within(document.querySelector<HTMLElement>("[data-reaction=all-complete]")!).getByText("web")).toBeTruthy();
  fireEvent.click(screen.getByText("Older reactions"));
  await waitFor(() => expect(asked).toContain("/api/v1/reactions?before=8"));
  fireEvent.change(screen.getByLabelText("Project"), { target: { value: "app" } });
  await waitFor(() => expect(asked).toContain("/api/v1/reactions?project=app"));
  expect(screen.queryByText("web", { selector: "summary strong" })).toBeNull();
});

it("says what to do while nothing has happened, and shows a problem", async () => {
  serve({ ...answers, "GET /api/v1/reactions": { reactions: [] } });
  const { unmount } = show(<ReactionsPage />);
  expect(await screen.findByText("No reactions yet")).toBeTruthy();
  expect(screen.getByText("docs/forges.md")).toBeTruthy();
  unmount();
  const { cache } = await import("../api/cache");
  cache.clear();
  serve({ ...answers, "GET /api/v1/reactions": { code: "internal", title: "", status: 500, detail: "the disk is full" } });
  show(<ReactionsPage />);
  expect(await screen.findByText("the disk is full")).toBeTruthy();
});

it("describes the limits of a rule", () => {
  expect(limits({ do: "send-to-agent", threshold: "10m", retries: 1, escalate_after: "0s" })).toBe("after 10m · at most 1 time, then a person decides");
  expect(limits({ do: "nothing", priority: "info" })).toBe("");
});

it("is read again after a reaction, and after a push, which is the result of one", () => {
  const key = ["/api/v1/reactions", {}];
  expect(["task.reaction", "pull.changed", "session.started"].map((kind) => stale(event(kind, "app-1"), key))).toEqual([true, true, false]);
  expect(stale(event("project.changed", "app"), ["/api/v1/projects/{project}/reactions", { path: { project: "app" } }])).toBe(true);
});
