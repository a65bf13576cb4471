// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { stale } from "../api/stale";
import type { Event } from "../api/schema";
import { serve, show } from "../test/render";
import NotificationsPage, { routeText } from "./notifications";

const at = "2026-01-01T10:00:00Z";
const message = { id: "m1", notifier: "phone", kind: "ntfy", state: "sent", priority: "action", title: "app-1 asks: Add a flag", text: "Which one?", path: "/tasks/app-1", count: 1, at, ended_at: at };
const failed = { ...message, id: "m2", notifier: "team", kind: "slack", state: "failed", title: "app: 3 questions", failure: "the address was refused", fix: "create it again", tries: 9 };
const retried = { ...message, id: "m3", state: "retrying", title: "Test message", test: true, tries: 2, path: undefined };
const list = {
  notifiers: [
    { name: "phone", kind: "ntfy", routes: [{ priority: ["urgent", "action"] }], last: message },
    { name: "team", kind: "slack", routes: [{ priority: ["info"], projects: ["app"], kinds: ["landed"], hours: "08:00-18:00" }], last: failed },
    { name: "desktop", kind: "desktop", routes: [] },
  ],
  pause: "1m", waiting: true,
};

it("lists notifiers with their routes and results, and the messages", async () => {
  serve({ "GET /api/v1/notifiers": list, "GET /api/v1/notifications": { notifications: [retried, failed, message], next: 7 } });
  show(<NotificationsPage />);
  const [, phone, team, desktop] = await screen.findAllByRole("row");
  expect(phone!.textContent).toContain("urgent, action");
  expect(team!.textContent).toContain("info · only landed · of app · at 08:00-18:00");
  expect(team!.textContent).toContain("the address was refusedFix: create it again");
  expect(desktop!.textContent).toContain("only testsnothing sent");
  expect(await screen.findByText("failed 2 times, tried again")).toBeTruthy();
  expect(screen.getByLabelText("Text of m1").textContent).toBe("Which one?");
  expect(screen.getAllByText("Open the page").map((l) => l.getAttribute("href"))).toEqual(["/tasks/app-1", "/tasks/app-1"]);
  expect(screen.getByText("Older").getAttribute("href")).toBe("/notifications?before=7");
  expect(screen.getByText("Some notices wait to be sent.")).toBeTruthy();
});

it("tests one notifier, or all", async () => {
  const sent = serve({ "GET /api/v1/notifiers": list, "GET /api/v1/notifications": { notifications: [] }, "POST /api/v1/notifiers/test": { notifications: [] } });
  show(<NotificationsPage />);
  fireEvent.click(await screen.findByLabelText("Test the notifier team"));
  await waitFor(() => expect(sent).toContainEqual({ method: "POST", path: "/api/v1/notifiers/test", body: { notifiers: ["team"] } }));
  fireEvent.click(screen.getByText("Test all"));
  await waitFor(() => expect(sent).toContainEqual({ method: "POST", path: "/api/v1/notifiers/test", body: {} }));
});

it("opens the forms of the settings", async () => {
  const empty = { path: "", exists: false, revision: "r1", keys: [], kinds: [], secrets: [] };
  serve({ "GET /api/v1/notifiers": list, "GET /api/v1/notifications": { notifications: [] }, "GET /api/v1/notifiers/settings": empty });
  show(<NotificationsPage />);
  for (const [button, title] of [["Change the notifier team", "Notifier team"], ["New notifier", "New notifier"], ["Routes", "Routes"], ["Pause and address", "Pause and address"]] as const) {
    fireEvent.click(await screen.findByRole("button", { name: button }));
    const dialog = await screen.findByRole("dialog", { hidden: true });
    expect(dialog.getAttribute("aria-label")).toBe(title);
    fireEvent.click(within(dialog).getByLabelText("Close"));
    await waitFor(() => expect(screen.queryByRole("dialog", { hidden: true })).toBeNull());
  }
});

it("says how to start", async () => {
  serve({ "GET /api/v1/notifiers": { notifiers: [], pause: "1m" }, "GET /api/v1/notifications": { notifications: [] } });
  show(<NotificationsPage />);
  expect(await screen.findByText("No notifier yet")).toBeTruthy();
  expect(await screen.findByText("No message was sent.")).toBeTruthy();
});

it("follows the events of messages, which change no other page", () => {
  const event = { seq: 1, at, kind: "notification.sent", by: "notify" } as Event;
  expect(stale(event, ["/api/v1/notifications", {}])).toBe(true);
  expect(stale({ ...event, kind: "notices.decided" }, ["/api/v1/notifiers", {}])).toBe(true);
  expect(stale({ ...event, kind: "notices.decided" }, ["/api/v1/board", {}])).toBe(false);
  expect(stale({ ...event, kind: "task.ended" }, ["/api/v1/notifications", {}])).toBe(false);
});

it("describes a route", () => {
  expect(routeText({ priority: ["urgent"] })).toBe("urgent");
});
