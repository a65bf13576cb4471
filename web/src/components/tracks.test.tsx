// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import type { ProjectConfig } from "../api/schema";
import { serve, show } from "../test/render";
import { TracksForm } from "./tracks";

const value = [{ name: "main", default: true }, { name: "docs", limit: 2, categories: ["docs", "site"], completion: ["none"] }];
const config = { path: "/src/app/coppice.yaml", exists: true, revision: "r1", keys: [{ key: "tracks", value }], server: [] } as unknown as ProjectConfig;
const route = "PATCH /api/v1/projects/app/config";
const field = (label: string, n: number) => screen.getAllByLabelText<HTMLInputElement>(label)[n]!;

it("shows the change as the server would write it, and saves it then", async () => {
  const sent = serve({ [route]: { ...config, diff: "--- coppice.yaml\n+++ coppice.yaml\n@@\n base: main\n-tracks: []\n+tracks: [new]\n" } });
  const done = vi.fn();
  show(<TracksForm project="app" c={config} onDone={done} />);
  expect(field("Categories", 1).value).toBe("docs, site");
  expect(screen.queryByRole("button", { name: "Save" })).toBeNull();
  fireEvent.change(field("Limit", 1), { target: { value: "3" } });
  fireEvent.click(screen.getByText("Add a track"));
  fireEvent.change(field("Name", 2), { target: { value: "core" } });
  fireEvent.click(screen.getAllByLabelText("default track")[2]!);
  fireEvent.click(screen.getByLabelText("Move core up"));
  fireEvent.click(screen.getByLabelText("Remove main"));
  fireEvent.click(screen.getByText("Show the change"));
  expect((await screen.findByLabelText("The change")).textContent).toContain("+tracks: [new]");
  fireEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(done).toHaveBeenCalled());
  const body = { key: "tracks", revision: "r1", value: [{ name: "core", default: true }, { name: "docs", limit: 3, categories: ["docs", "site"], completion: ["none"] }] };
  expect(sent.map((s) => s.body)).toEqual([{ ...body, dry_run: true }, { ...body, dry_run: false }]);
});

it("must show an edited change again before it is saved", async () => {
  serve({ [route]: { ...config, diff: "@@\n+a\n" } });
  show(<TracksForm project="app" c={config} onDone={() => {}} />);
  fireEvent.click(screen.getByText("Show the change"));
  await screen.findByRole("button", { name: "Save" });
  fireEvent.change(field("Name", 0), { target: { value: "other" } });
  expect(screen.queryByRole("button", { name: "Save" })).toBeNull();
});

it("lets the server refuse a list without tracks", async () => {
  const sent = serve({ [route]: { code: "invalid", title: "", status: 422, detail: "there are no tracks in this list", fix: "name at least one", field: "tracks" } });
  show(<TracksForm project="app" c={config} onDone={() => {}} />);
  fireEvent.click(screen.getByLabelText("Remove docs"));
  fireEvent.click(screen.getByLabelText("Remove main"));
  fireEvent.click(screen.getByText("Show the change"));
  expect(await screen.findByText("there are no tracks in this list")).toBeTruthy();
  expect(sent.map((s) => s.body)).toEqual([{ key: "tracks", revision: "r1", value: [], dry_run: true }]);
});

it("shows a refusal at its field", async () => {
  serve({ [route]: { code: "invalid", title: "", status: 422, detail: "this is not a number", fix: "use 2", field: "tracks[1].limit" } });
  show(<TracksForm project="app" c={config} onDone={() => {}} />);
  fireEvent.change(field("Limit", 1), { target: { value: "two" } });
  fireEvent.click(screen.getByText("Show the change"));
  await screen.findByText("this is not a number");
  const wrong = field("Limit", 1);
  expect(wrong.getAttribute("aria-invalid")).toBe("true");
  expect(document.getElementById(wrong.getAttribute("aria-describedby")!)?.textContent).toContain("this is not a number");
  expect(field("Limit", 0).getAttribute("aria-invalid")).toBeNull();
});
