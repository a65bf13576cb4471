// @vitest-environment happy-dom
import { act, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { cache } from "../api/cache";
import { takeLine } from "../api/says";
import { pull, task } from "../test/make";
import { show } from "../test/render";
import { Card, cardHeight, Row } from "./card";

const now = Date.parse("2026-01-01T10:01:12Z");

it("shows key, title, time and reason, and leaves out a status that its column says", () => {
  const t = task({ id: 1, status: "needs you", line: "Use **tabs**?" });
  const { rerender } = show(<Card t={t} now={now} column="Needs you" />);
  expect(screen.getByRole("link").textContent).toContain("app-1");
  expect(screen.getByText("1 m 12 s")).toBeTruthy();
  expect(screen.getByText("Use tabs?")).toBeTruthy();
  expect(screen.queryByText(/needs you/)).toBeNull();
  rerender(<></>);
  show(<Card t={t} now={now} column="app" />);
  expect(screen.getByText(/needs you/)).toBeTruthy();
});

it("shows a new line of its session, and no other card is drawn", async () => {
  let drawn = 0;
  const other = task({ id: 2, status: "working", says: "waits" });
  const counted = new Proxy(other, { get: (o, name) => (name === "title" && drawn++, Reflect.get(o, name)) });
  show(<><Card t={task({ id: 1, status: "working", session: "app-1.1", says: "reads" })} now={now} column="Working" /><Card t={counted} now={now} column="Working" /></>);
  expect(screen.getByText("reads")).toBeTruthy();
  const before = drawn;
  act(() => takeLine(cache, { task: "app-1", session: "app-1.1", says: "writes `main.go`" }));
  expect(await screen.findByText("writes main.go")).toBeTruthy();
  act(() => takeLine(cache, { task: "app-1", session: "app-1.0", says: "of an older session" }));
  expect(await screen.findByText("reads")).toBeTruthy();
  expect(drawn).toBe(before);
});

it("opens the review of a task that waits for one", () => {
  show(<><Card t={task({ id: 1 })} now={now} column="" /><Card t={task({ id: 2, review: "wanted" })} now={now} column="" /></>);
  expect(screen.getAllByRole("link").map((a) => a.getAttribute("href"))).toEqual(["/tasks/app-1", "/tasks/app-2/review"]);
});

it("says where a flow is, opens its page, and names the flow of a step", () => {
  show(<><Card t={task({ id: 1, flow: { kind: "goal" }, line: "lead works" })} now={now} column="" /><Card t={task({ id: 2, parent: "app-1", step: { flow: "app-1", key: "lead" } })} now={now} column="" /></>);
  expect(screen.getAllByRole("link").map((a) => a.getAttribute("href"))).toEqual(["/flows/app-1", "/tasks/app-2"]);
  expect(screen.getByText("lead works")).toBeTruthy();
  expect(screen.getByText("step lead of app-1")).toBeTruthy();
  expect(screen.queryByText("for app-1")).toBeNull();
});

it("shows the badges of its pull request, and what the request needs", () => {
  const t = task({ id: 1, status: "landing", status_text: "in review", line: "conflicts with main", pr: pull({ ci: "pending", conflicts: true }) });
  const { unmount } = show(<Card t={t} now={now} column="Landing" />);
  for (const text of ["in review", "… CI", "– review", "conflicts with main"]) expect(screen.getByText(text)).toBeTruthy();
  expect(screen.getByRole("link", { name: "#12" }).closest("a.card"), "a link inside of a link").toBeNull();
  unmount();
  show(<Row t={t} now={now} selected={false} onSelect={() => {}} />);
  for (const text of ["in review", "… CI", "– review", "conflicts with main"]) expect(screen.getByText(text)).toBeTruthy();
});

it("is higher in a column with a pull request", () => {
  expect(cardHeight([task({ id: 1 }), task({ id: 2, pr: pull({}) })])).toBeGreaterThan(cardHeight([task({ id: 1 })]));
});

it("is selected in a table by its key", () => {
  const chosen: boolean[] = [];
  show(<Row t={task({ id: 7 })} now={now} selected={false} onSelect={(on) => chosen.push(on)} />);
  screen.getByLabelText("Select app-7").click();
  expect(chosen).toEqual([true]);
});
