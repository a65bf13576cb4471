// @vitest-environment happy-dom
import { fireEvent, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { entry } from "../test/make";
import { serve, show } from "../test/render";
import InboxPage from "./inbox";

const projects = { projects: [{ prefix: "app" }] };

it("groups entries by what they block, in the server's order", async () => {
  const entries = [entry({ id: "question/app-1/1", blocks: "agent" }), entry({ id: "stalled/app-3" }), entry({ id: "limit/ann", task: undefined, title: "ann" }), entry({ id: "failed/app-2", blocks: "nothing" })];
  serve({ "GET /api/v1/inbox": { entries, snoozed: 0 }, "GET /api/v1/projects": projects });
  show(<InboxPage />);
  expect((await screen.findAllByRole("heading", { level: 2 })).map((h) => h.textContent)).toEqual(["An agent waits for you 1", "Work is blocked 2", "Results 1"]);
  expect([...document.querySelectorAll("[data-entry]")].map((e) => e.getAttribute("data-entry"))).toEqual(entries.map((e) => e.id));
  expect(screen.getByText("4 entries")).toBeTruthy();
});

it("lists snoozed entries in their own view", async () => {
  const entries = [entry({ id: "failed/app-2" }), entry({ id: "failed/app-3", snoozed: true, snoozed_by: "person", snoozed_until: "2999-01-01T00:00:00Z" })];
  serve({ "GET /api/v1/inbox": { entries, snoozed: 1 }, "GET /api/v1/projects": projects });
  show(<InboxPage />);
  expect(await screen.findByText("1 entry")).toBeTruthy();
  expect(screen.queryByText(/title of app-3/)).toBeNull();
  fireEvent.click(screen.getByText("snoozed 1"));
  expect(screen.getByText(/title of app-3/)).toBeTruthy();
  expect(screen.queryByText(/title of app-2/)).toBeNull();
});

it("says that nothing needs the person", async () => {
  serve({ "GET /api/v1/inbox": { entries: [], snoozed: 0 }, "GET /api/v1/projects": projects });
  show(<InboxPage />);
  expect(await screen.findByRole("heading", { name: "Nothing needs you" })).toBeTruthy();
});
