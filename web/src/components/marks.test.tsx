// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { useDialog } from "../state/dialog";
import { task } from "../test/make";
import { serve, show } from "../test/render";
import { Card, Row } from "./card";
import { MarksDialog, useSeen } from "./marks";

const marked = task({ id: 3, labels: ["ui"], flagged: true, unread: true, group: "mine", group_id: 9, can: ["retry"], status: "failed", stage: "ended" });

function Seen({ t }: { t: typeof marked }) {
  useSeen(t);
  return null;
}

function Open() {
  return <output>{String(useDialog() ?? "")}</output>;
}

it("shows labels, the flag and that a task is unread, on cards and rows", () => {
  for (const part of [<Card t={marked} now={0} column="Failed" />, <Row t={marked} now={0} selected={false} onSelect={() => {}} />]) {
    const { unmount } = show(part);
    expect(screen.getByText("ui")).toBeTruthy();
    expect(screen.getByLabelText("flagged")).toBeTruthy();
    expect(screen.getByLabelText("unread")).toBeTruthy();
    unmount();
  }
});

it("marks a task whose session is silent", () => {
  show(<Card t={task({ id: 1, status: "working", stage: "session", need: "stalled", line: "stalled: no output for 10m" })} now={0} column="Needs you" />);
  expect(screen.getByRole("link").className).toContain("stalled");
  expect(screen.getByText("stalled: no output for 10m")).toBeTruthy();
  expect(screen.getByText("working")).toBeTruthy();
});

it("says in review where the server does", () => {
  show(<Card t={task({ id: 1, status: "needs you", stage: "review", status_text: "in review" })} now={0} column="Needs you" />);
  expect(screen.getByText("in review")).toBeTruthy();
});

it("offers the actions of a task and its marks in the menu of a card", async () => {
  const sent = serve({ "PATCH /api/v1/tasks/app-3": marked });
  show(<><Card t={marked} now={0} column="Failed" /><Open /></>);
  const menu = screen.getByRole("button", { name: "Actions of app-3" });
  fireEvent.click(menu);
  expect(screen.getAllByRole("menuitem").map((m) => m.textContent)).toEqual(["Retry", "Remove the flag", "Labels and group…", "Mark as read", "Open its group"]);
  fireEvent.click(screen.getByText("Remove the flag"));
  await waitFor(() => expect(sent).toEqual([{ method: "PATCH", path: "/api/v1/tasks/app-3", body: { flagged: false } }]));
  fireEvent.click(menu);
  fireEvent.click(screen.getByText("Labels and group…"));
  expect(screen.getByRole("status").textContent).toBe("marks app-3");
});

it("changes labels and group, and shows in the window why the server refuses", async () => {
  const refused = { code: "invalid", title: "", status: 422, detail: "UI is not a valid label", field: "labels" };
  const sent = serve({ "GET /api/v1/tasks/app-3": marked, "GET /api/v1/groups": { groups: [] }, "PATCH /api/v1/tasks/app-3": refused });
  let closed = false;
  show(<MarksDialog task="app-3" onClose={() => (closed = true)} />);
  const labels = await screen.findByLabelText("Labels");
  expect((labels as HTMLInputElement).value).toBe("ui");
  fireEvent.change(labels, { target: { value: "UI, later" } });
  fireEvent.submit(document.querySelector("form")!);
  expect((await screen.findByRole("alert", { hidden: true })).textContent).toContain("UI is not a valid label");
  expect(sent.at(-1)).toEqual({ method: "PATCH", path: "/api/v1/tasks/app-3", body: { labels: ["UI", "later"], group: "mine", flagged: true } });
  expect(closed).toBe(false);
});

it("says one time that an unread task was seen, in the foreground", async () => {
  const sent = serve({ "PUT /api/v1/tasks/app-3/seen": marked });
  const { rerender } = show(<Seen t={{ ...marked, unread: false }} />);
  expect(sent).toEqual([]);
  rerender(<></>);
  show(<Seen t={marked} />);
  await waitFor(() => expect(sent).toEqual([{ method: "PUT", path: "/api/v1/tasks/app-3/seen", body: {} }]));
});
