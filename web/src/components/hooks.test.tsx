// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { serve, show } from "../test/render";
import { Hooks } from "./hooks";

const at = "2026-01-01T10:00:00Z";
const run = { id: "h7-1", event: "landed", run: "./announce.sh", from: "project", project: "app", task: "app-1", state: "failed", text: "the hook failed", on_failure: "warn", exit: 3, at, ended_at: at, took_ms: 20 };
const hook = { event: "landed", run: "./announce.sh", timeout: "30s", on_failure: "warn", from: "project", project: "app", last: run };
const own = { event: "paused", run: "say paused", timeout: "30s", on_failure: "ignore", from: "user" };

it("lists hooks with their last run, and tests them", async () => {
  const sent = serve({ "GET /api/v1/hooks": { hooks: [hook, own], events: [] }, "GET /api/v1/hooks/runs": { runs: [{ ...run, output: "no network\n" }] }, "POST /api/v1/hooks/test": { runs: [] } });
  show(<Hooks />);
  const [, first, second] = await screen.findAllByRole("row");
  expect(first!.textContent).toContain("failed (3)");
  expect(second!.textContent).toContain("never ran");
  fireEvent.click(screen.getByLabelText("Test the hooks of landed in app"));
  await waitFor(() => expect(sent).toContainEqual({ method: "POST", path: "/api/v1/hooks/test", body: { event: "landed", project: "app" } }));
  fireEvent.click(screen.getByLabelText("Test the hooks of paused"));
  await waitFor(() => expect(sent).toContainEqual({ method: "POST", path: "/api/v1/hooks/test", body: { event: "paused" } }));
  const details = screen.getByText("Last runs").closest("details")!;
  details.open = true;
  fireEvent(details, new Event("toggle"));
  expect(await screen.findByText("no network")).toBeTruthy();
});

it("says that there are none", async () => {
  serve({ "GET /api/v1/hooks": { hooks: [], events: [] } });
  show(<Hooks />);
  expect(await screen.findByText("No hooks are configured.")).toBeTruthy();
});
