// @vitest-environment happy-dom
// The parts of lists: columns, the table, filters, groups, the disk and the frame.
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Disk, Group } from "../api/schema";
import { board, entry, task } from "../test/make";
import { serve, show } from "../test/render";
import { Columns } from "./columns";
import { DiskTable, DiskUse } from "./disk";
import { GroupBar } from "./groupbar";
import { pageCommands } from "./keys";
import { MarkFilters, useMarks } from "./markfilters";
import { Shell } from "./shell";
import { Table } from "./table";

const disk: Disk = { at: "2026-01-01T10:00:00Z", free: 1 << 30, total: 3 << 20, state: "/state", kept: [{ what: "events", most: 100, by: "history.events" }], projects: [{ prefix: "app", parts: [{ what: "workspaces", bytes: 2 << 20, files: 3, path: "/w" }] }], server: [{ what: "database", bytes: 1 << 20, files: 1, path: "/db", partial: true }] } as never;

it("shows columns with their tasks and what needs a person, and hides empty ones", () => {
  const list = board({ "Needs you": [], Working: [task({ id: 1 })], Landing: [] }).columns!;
  show(<Columns list={list} filter={{}} entries={[entry({ id: "change/app", task: undefined, title: "checks changed" })]} />);
  expect(screen.getByText("checks changed")).toBeTruthy();
  expect(screen.getByText("task 1")).toBeTruthy();
  expect(screen.queryByText("Landing")).toBeNull();
});

it("lets a person move a card only in a column that is ordered by priority", async () => {
  const list = board({ Waiting: [task({ id: 1, priority: 5 }), task({ id: 2 }), task({ id: 3 })] }).columns!;
  const sent = serve({ "PATCH /api/v1/tasks/app-3": {} });
  const { rerender } = show(<Columns list={list} filter={{}} entries={[]} />);
  const card = (key: string) => document.querySelector<HTMLElement>(`a[data-key=${key}]`)!;
  const dataTransfer = { setData: () => {}, effectAllowed: "" };
  expect(card("app-3").getAttribute("draggable")).toBe("true");
  fireEvent.dragStart(card("app-3"), { dataTransfer });
  card("app-1").getBoundingClientRect = () => new DOMRect(0, -100, 200, 50);
  fireEvent.drop(card("app-1"), { dataTransfer }); // below the middle of the card
  await waitFor(() => expect(sent).toContainEqual({ method: "PATCH", path: "/api/v1/tasks/app-3", body: { between: { above: "app-1", below: "app-2" } } }));
  rerender(<></>);
  show(<Columns list={list.map((c) => ({ ...c, ordered: false }))} filter={{}} entries={[]} />);
  expect(card("app-3").getAttribute("draggable")).toBeNull();
});

it("runs an action on the selected tasks that can do it, from its button and from the palette", async () => {
  const tasks = [task({ id: 1, can: ["retry", "archive"] }), task({ id: 2, can: ["archive"] })];
  const sent = serve({ "POST /api/v1/tasks/app-1/archive": {}, "POST /api/v1/tasks/app-2/archive": {}, "POST /api/v1/tasks/app-1/retry": {} });
  show(<Table list={board({ Failed: tasks }).columns!} entries={[]} />);
  fireEvent.click(screen.getByLabelText("Select all of Failed"));
  expect(screen.getByText("Retry 1")).toBeTruthy();
  expect((screen.getByText("Stop 0") as HTMLButtonElement).disabled).toBe(true);
  const command = pageCommands().find((c) => c.name === "Retry 1 selected task")!;
  act(() => command.run());
  await waitFor(() => expect(sent.map((s) => s.path)).toEqual(["/api/v1/tasks/app-1/retry"]));
  await waitFor(() => expect(screen.queryByRole("toolbar")).toBeNull());
  fireEvent.click(screen.getByLabelText("Select all of Failed"));
  fireEvent.click(screen.getByText("Archive 2"));
  await waitFor(() => expect(sent.slice(1).map((s) => s.path)).toEqual(["/api/v1/tasks/app-1/archive", "/api/v1/tasks/app-2/archive"]));
});

it("filters by marks in the address, and offers only what exists", () => {
  const Page = () => {
    const marks = useMarks("/search");
    return <><MarkFilters marks={marks} choices={{ groups: [{ id: 3, project: "app", name: "batch-1" }], labels: [] }} /><output>{JSON.stringify(marks.filter)}</output></>;
  };
  show(<Page />);
  expect(screen.queryByText("Label")).toBeNull();
  fireEvent.change(screen.getByLabelText("Group"), { target: { value: "3" } });
  fireEvent.click(screen.getByLabelText("Flagged"));
  expect(JSON.parse(screen.getByRole("status").textContent!)).toEqual({ group_id: 3, flagged: true });
  expect(location.search).toBe("?in=3&flagged=yes");
});

it("counts the tasks of a group in the order of statuses", () => {
  show(<GroupBar g={{ counts: { done: 2, "needs you": 1, failed: 0 } } as unknown as Group} />);
  expect(screen.getByText("1 needs you, 2 done")).toBeTruthy();
});

it("lists what uses disk, the largest first, and counts again", async () => {
  show(<DiskTable d={disk} />);
  expect(screen.getAllByRole("row").slice(1, 3).map((r) => r.textContent)).toEqual(["appworkspaces2 MiB3/w", "database≥ 1 MiB1/db"]);
  const sent = serve({ "GET /api/v1/disk": disk });
  show(<DiskUse />);
  await waitFor(() => expect(sent).toHaveLength(1));
  fireEvent.click(await screen.findByText("Count again"));
  await waitFor(() => expect(sent).toHaveLength(2));
});

it("has every page, open tasks by status, today's spend, and what needs a person", async () => {
  serve({ "GET /api/v1/status": { counts: { working: 2, done: 9 }, today_usd: 1.5, day_usd: 5, projects: [], inbox: 3 } });
  show(<Shell needs={3}><p>the page</p></Shell>);
  expect(await screen.findByText("2 working")).toBeTruthy();
  expect(screen.getAllByText(/\$1\.50 of \$5\.00/).length).toBeGreaterThan(0);
  expect(screen.getByText("3 need you").getAttribute("href")).toBe("/inbox");
  expect(screen.getByRole("navigation", { name: "Pages" }).querySelectorAll("a[href]").length).toBeGreaterThan(12);
  expect(screen.queryByText("9 done")).toBeNull();
});
