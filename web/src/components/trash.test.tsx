// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { TrashTable } from "./trash";

afterEach(cleanup);

const item = { project: "app", branch: "coppice/app-1", removed_at: "2026-01-01T10:00:00Z", expires_at: "2026-01-15T10:00:00Z" };

test("only what can be restored or removed has a button", () => {
  const restore = vi.fn();
  const remove = vi.fn();
  render(<TrashTable now={Date.parse("2026-01-01T11:00:00Z")} onRestore={restore} onRemove={remove} list={[
    { ...item, task: "app-1", title: "One", restores: true },
    { ...item, task: "app-2", title: "Two", restores: false, uses: "it is being restored" },
  ]} />);
  const [first, second] = screen.getAllByRole("row").slice(1);
  expect(first!.textContent).toContain("Restore");
  expect(second!.textContent).toContain("in use: it is being restored");
  expect(second!.querySelector("button")).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: "Restore" }));
  fireEvent.click(screen.getByRole("button", { name: "Remove" }));
  expect(restore).toHaveBeenCalledWith("app-1");
  expect(remove).toHaveBeenCalledWith("app-1");
});
