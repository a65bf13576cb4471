// @vitest-environment happy-dom
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { LiveRun } from "../api/run";
import type { Preview as Data } from "../api/schema";
import { detail } from "../test/make";
import { serve, show } from "../test/render";
import { hasPreview, Preview } from "./preview";

const preview = (change: Partial<Data>): Data => ({ id: 1, project_id: 1, task_id: 1, state: "starting", by: "ada", created_at: "2026-01-01T10:00:00Z", ...change });
const noRun = () => new LiveRun("/api/v1/tasks/{key}/preview/log", "app-1");

it("is offered if the server offers it, or if there was one", () => {
  expect(hasPreview(detail({ id: 1, can: ["stop"] }))).toBe(false);
  expect(hasPreview(detail({ id: 1, can: ["preview"] }))).toBe(true);
  expect(hasPreview(detail({ id: 1, preview: preview({ state: "stopped" }) }))).toBe(true);
});

it("starts", async () => {
  const sent = serve({ "POST /api/v1/tasks/app-1/preview": preview({}) });
  show(<Preview t={detail({ id: 1, can: ["preview"] })} run={noRun()} />);
  fireEvent.click(screen.getByText("Start preview"));
  await waitFor(() => expect(location.search).toBe("?tab=preview"));
  expect(sent).toMatchObject([{ method: "POST", path: "/api/v1/tasks/app-1/preview" }]);
});

it("has its address, its log, and stops", async () => {
  const sent = serve({ "DELETE /api/v1/tasks/app-1/preview": preview({ state: "ready" }) });
  const run = noRun();
  show(<Preview t={detail({ id: 1, can: ["stop-preview"], app: "ready", preview: preview({ state: "ready", address: "http://127.0.0.1:4711/" }) })} run={run} />);
  const link = screen.getByText("http://127.0.0.1:4711/");
  expect([link.getAttribute("href"), link.getAttribute("target"), link.getAttribute("rel")]).toEqual(["http://127.0.0.1:4711/", "_blank", "noreferrer"]);
  await act(async () => {
    run.take({ id: "", event: "state", data: JSON.stringify({ run: "1", commands: [{ command: "serve", state: "running", exit: 0, size: 0 }] }) });
    run.take({ id: "", event: "output", data: JSON.stringify({ command: 0, offset: 0, data: btoa("listening\n") }) });
    await new Promise((r) => requestAnimationFrame(r));
  });
  expect(screen.getByText("listening")).toBeTruthy();
  expect(screen.getByText("Following")).toBeTruthy();
  fireEvent.click(screen.getByText("Stop preview"));
  await waitFor(() => expect(sent).toMatchObject([{ method: "DELETE", path: "/api/v1/tasks/app-1/preview" }]));
});

it("keeps its log after its end, and says why it ended", async () => {
  const run = noRun();
  const state = { run: "1", commands: [{ command: "serve", state: "running", exit: 0, size: 0 }] };
  show(<Preview t={detail({ id: 1, can: ["preview"], preview: preview({ state: "failed", ended_at: "2026-01-01T10:01:00Z", reason: "the app ended\nbye", fix: "see `serve`" }) })} run={run} />);
  await act(async () => {
    run.take({ id: "", event: "state", data: JSON.stringify(state) });
    run.take({ id: "", event: "output", data: JSON.stringify({ command: 0, offset: 0, data: btoa("last line\n") }) });
    run.take({ id: "", event: "end", data: JSON.stringify({ run: "9", commands: [] }) });
    await new Promise((r) => requestAnimationFrame(r));
  });
  expect(screen.getByText("last line")).toBeTruthy();
  expect(screen.getByText(/the app ended/).tagName).toBe("PRE");
  expect(screen.getByText("Start preview")).toBeTruthy();
  expect(screen.getByText("failed")).toBeTruthy();
});

it("runs and stops as the server says it", () => {
  show(<Preview t={detail({ id: 1, app: "stopping", preview: preview({ state: "ready", address: "http://127.0.0.1:4711/" }) })} run={noRun()} />);
  expect(screen.getByText("stopping")).toBeTruthy();
  expect(screen.getByText("http://127.0.0.1:4711/")).toBeTruthy();
  show(<Preview t={detail({ id: 2, preview: preview({ state: "stopped", address: "http://127.0.0.1:4712/" }) })} run={noRun()} />);
  expect(screen.getByText("stopped")).toBeTruthy();
  expect(screen.queryByText("http://127.0.0.1:4712/")).toBeNull();
});
