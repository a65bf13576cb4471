// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Event as Happened } from "../api/schema";
import { stale } from "../api/stale";
import { pageCommands } from "../components/keys";
import { issue } from "../test/make";
import { serve, show } from "../test/render";
import IssuesPage from "./issues";

const projects = { projects: [{ prefix: "app", path: "/app", policy: {} }] };
const path = "/api/v1/projects/app/issues";
const source = { name: "gitea", kind: "gitea", active: 5, most: 5, waiting: 12, matching: 17, text: "12 issues wait: 5 of 5 tasks are active", read_at: "2026-01-01T10:00:00Z" };
const broken = { name: "eng", kind: "linear", active: 0, most: 5, waiting: 0, matching: 0, manual: true, failure: { class: "auth", text: "the secret LINEAR_API_KEY is not set", fix: "run `coppice secret set LINEAR_API_KEY`" }, problem: "no agent was named" };
const page = {
  sources: [source, broken],
  issues: [
    issue({ id: 9, issue: "9", title: "It waits", author: "ada", url: "https://gitea.example.org/app/issues/9", why: "5 of 5 tasks are active", can: ["import"] }),
    issue({ id: 8, issue: "8", why: "coppice.yaml no longer has its source" }),
    issue({ id: 7, issue: "7", title: "New title", url: "javascript:alert(1)", status: "working", task: "app-1", held: true, why: "its text changed, and a person has to accept it", can: ["accept"] }),
    issue({ id: 6, issue: "6", status: "done", reopened: true, problem: "the token cannot write", can: ["import"] }),
  ],
  next: 6,
};

it("shows trackers with their failure, what waits, and the tasks of issues", async () => {
  serve({ "GET /api/v1/projects": projects, [`GET ${path}`]: page });
  show(<IssuesPage />);
  const trackers = await screen.findByRole("region", { name: "Trackers" });
  expect(trackers.textContent).toContain("12 issues wait: 5 of 5 tasks are active");
  expect(trackers.textContent).toContain("It cannot be read: the secret LINEAR_API_KEY is not setFix: run coppice secret set LINEAR_API_KEY");
  expect(trackers.textContent).toContain("Its issues do not become tasks: no agent was named");
  const waiting = within(screen.getByRole("region", { name: "Waiting" })).getAllByRole("row");
  expect(waiting[1]!.textContent).toContain("5 of 5 tasks are active");
  expect(within(waiting[1]!).getByRole("link", { name: "#9" }).getAttribute("href")).toBe("https://gitea.example.org/app/issues/9");
  expect(within(waiting[2]!).queryByRole("button")).toBeNull();
  const tasks = within(screen.getByRole("region", { name: "Tasks of issues" })).getAllByRole("row");
  expect(within(tasks[1]!).getByRole("link", { name: "app-1" }).getAttribute("href")).toBe("/tasks/app-1");
  expect(within(tasks[1]!).getByText("#7").tagName).toBe("SPAN");
  expect(tasks[2]!.textContent).toContain("removed");
  expect(tasks[2]!.textContent).toContain("the token cannot write");
  expect(pageCommands().map((c) => c.name)).toEqual(["Read the issues of app now", "Import #9 It waits", "Accept the text of #7 New title", "Import #6 issue 6"]);
});

it("imports, reads and accepts", async () => {
  const sent = serve({
    "GET /api/v1/projects": projects, [`GET ${path}`]: page, [`POST ${path}/import`]: { tasks: [{ key: "app-3" }] }, [`POST ${path}/read`]: page, [`POST ${path}/accept`]: page,
    [`GET ${path}/held`]: { task: { title: "Old title", text: "same\nold\n" }, tracker: { title: "New title", text: "same\nnew" } },
  });
  show(<IssuesPage />);
  fireEvent.click(await screen.findByLabelText("Import #9 It waits"));
  await waitFor(() => expect(sent).toContainEqual({ method: "POST", path: `${path}/import`, body: { issues: ["#9"], tracker: "gitea" } }));
  const field = screen.getByLabelText<HTMLInputElement>("Number or address of an issue");
  fireEvent.submit(field.form!);
  fireEvent.change(field, { target: { value: " ENG-4 " } });
  fireEvent.submit(field.form!);
  await waitFor(() => expect(field.value).toBe(""));
  fireEvent.click(screen.getByText("Read now"));
  await waitFor(() => expect(sent).toContainEqual({ method: "POST", path: `${path}/read`, body: {} }));
  const held = document.querySelector<HTMLDetailsElement>("[data-held='7']")!;
  held.open = true;
  fireEvent(held, new Event("toggle"));
  const change = await screen.findByLabelText("The change of #7");
  for (const line of ["-Old title", "+New title", "-old", "+new"]) expect(change.textContent).toContain(line);
  fireEvent.click(screen.getByLabelText("Accept the text of #7 New title"));
  await waitFor(() => expect(sent).toContainEqual({ method: "POST", path: `${path}/accept`, body: { tracker: "gitea", issue: "7" } }));
  expect(sent.filter((s) => s.path === `${path}/import`).map((s) => s.body)).toEqual([{ issues: ["#9"], tracker: "gitea" }, { issues: ["ENG-4"] }]);
});

it("keeps the number that the server refuses", async () => {
  serve({ "GET /api/v1/projects": projects, [`GET ${path}`]: { ...page, issues: [] }, [`POST ${path}/import`]: { code: "not_found", title: "", status: 404, detail: "the tracker gitea has no issue #99" } });
  show(<IssuesPage />);
  const field = await screen.findByLabelText<HTMLInputElement>("Number or address of an issue");
  fireEvent.change(field, { target: { value: "99" } });
  fireEvent.submit(field.form!);
  await waitFor(() => expect(screen.getByRole<HTMLButtonElement>("button", { name: "Import" }).disabled).toBe(false));
  expect(field.value).toBe("99");
});

it("says how to start", async () => {
  serve({ "GET /api/v1/projects": projects, [`GET ${path}`]: { sources: [], issues: [] } });
  show(<IssuesPage />);
  expect(await screen.findByText("app has no tracker")).toBeTruthy();
});

it("follows the events of trackers, which change no other page", () => {
  const event = { seq: 1, at: "2026-01-01T10:00:00Z", kind: "tracker.read", by: "engine" } as Happened;
  const key = [path.replace("app", "{project}"), { path: { project: "app" } }];
  expect(stale(event, key)).toBe(true);
  expect(stale({ ...event, kind: "task.ended" }, key)).toBe(true);
  expect(stale(event, ["/api/v1/board", {}])).toBe(false);
});
