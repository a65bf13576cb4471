// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { stale } from "../api/stale";
import type { Event, Locks } from "../api/schema";
import { serve, show } from "../test/render";
import LocksPage from "./locks";

const locks: Locks = {
  project: "app", seq: 3,
  held: [
    { name: "src/main.go", session: "app-1.1", task: "app-1", state: "working", reason: "a refactoring", acquired_at: "2026-01-01T10:00:00Z", expires_at: "2026-01-01T10:10:00Z" },
    { name: "checkout::docs", session: "app-2.1", task: "app-2", state: "waiting", parked: true, acquired_at: "2026-01-01T10:00:00Z", expires_at: "2026-01-01T10:10:00Z" },
  ],
  waiting: [{ session: "app-3.1", task: "app-3", names: ["docs/a.md"], since: "2026-01-01T10:00:00Z", until: "2026-01-01T10:11:00Z", blocked: [{ name: "docs/a.md", session: "app-2.1" }] }],
  cycles: [{ sessions: ["app-2.1", "app-1.1"], names: ["src/main.go"], hint: "app-2.1 should release checkout::docs", found_at: "2026-01-01T10:00:00Z" }],
};

const projects = { "GET /api/v1/projects": { projects: [{ prefix: "app" }] } };

it("shows who holds what, who waits, and cycles", async () => {
  serve({ ...projects, "GET /api/v1/projects/app/locks": locks });
  show(<LocksPage />);
  expect(await screen.findByText("a refactoring")).toBeTruthy();
  expect(screen.getByText("app-1.1").getAttribute("href")).toBe("/tasks/app-1");
  expect(screen.getByText("parked")).toBeTruthy();
  expect(screen.getByText("app-2.1 holds docs/a.md")).toBeTruthy();
  expect(screen.getByText(/app-2\.1 → app-1\.1 → app-2\.1.*should release checkout::docs/)).toBeTruthy();
});

it("releases a lock", async () => {
  const sent = serve({ ...projects, "GET /api/v1/projects/app/locks": locks, "DELETE /api/v1/projects/app/locks": { released: [] } });
  show(<LocksPage />);
  fireEvent.click(await screen.findByLabelText("Release src/main.go, which app-1.1 holds"));
  await waitFor(() => expect(sent.some((s) => s.method === "DELETE" && s.path === "/api/v1/projects/app/locks")).toBe(true));
});

it("says that nothing is locked", async () => {
  serve({ ...projects, "GET /api/v1/projects/app/locks": { ...locks, held: [], waiting: [], cycles: [] } });
  show(<LocksPage />);
  expect(await screen.findByText("No session has locked a file")).toBeTruthy();
});

it("follows the events of locks, which do not change other pages", () => {
  const event = { seq: 1, at: "", kind: "locks.changed", by: "locks" } as Event;
  expect(stale(event, ["/api/v1/projects/{project}/locks", { path: { project: "app" } }])).toBe(true);
  expect(stale({ ...event, kind: "session.ended" }, ["/api/v1/projects/{project}/locks", { path: { project: "app" } }])).toBe(true);
  expect(stale({ ...event, kind: "task.created" }, ["/api/v1/projects/{project}/locks", { path: { project: "app" } }])).toBe(false);
  expect(stale(event, ["/api/v1/board", {}])).toBe(false);
});
