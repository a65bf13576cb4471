// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { serve, show } from "../test/render";
import { Dialogs } from "./dialogs";
import { Trash } from "./trash";

const item = { project: "app", branch: "coppice/app-1", removed_at: "2026-01-01T10:00:00Z", expires_at: "2026-01-15T10:00:00Z" };
const list = [{ ...item, task: "app-1", title: "One", restores: true }, { ...item, task: "app-2", title: "Two", restores: false, uses: "it is being restored" }];

it("restores and removes what can be restored and removed", async () => {
  const sent = serve({ "GET /api/v1/trash": { trash: list }, "POST /api/v1/tasks/app-1/undo": {}, "POST /api/v1/trash/empty": {} });
  show(<><Trash /><Dialogs /></>);
  const [, first, second] = await screen.findAllByRole("row");
  expect(second!.textContent).toContain("in use: it is being restored");
  expect(within(second!).queryByRole("button")).toBeNull();
  fireEvent.click(within(first!).getByText("Restore"));
  await waitFor(() => expect(sent).toContainEqual({ method: "POST", path: "/api/v1/tasks/app-1/undo", body: { kind: "removal" } }));
  fireEvent.click(within(first!).getByText("Remove"));
  expect(sent.some((s) => s.path === "/api/v1/trash/empty")).toBe(false); // it asks first
  fireEvent.click(await screen.findByText("Remove permanently"));
  await waitFor(() => expect(sent).toContainEqual({ method: "POST", path: "/api/v1/trash/empty", body: { tasks: ["app-1"] } }));
});
