// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import type { ProjectConfig } from "../api/schema";
import { changeOf, rowsOf, wrongField } from "../lib/trackers";
import { serve, show } from "../test/render";
import { Trackers, TrackersForm } from "./trackers";

const route = "PATCH /api/v1/projects/app/config";
const tracker = { import: { labels: ["agent", "a, b"] }, active: 7, every: "5m", write: { close: false, labels: { working: "in progress" } } };
const config = {
  path: "coppice.yaml", exists: true, revision: "r1",
  keys: [
    { key: "tracker", value: [tracker] },
    { key: "tracker[].kind", one_of: ["auto", "github", "linear"], default: "", doc: "The kind of tracker." },
    { key: "tracker[].active", shape: "number", default: "(5)", doc: "The most tasks." },
    { key: "tracker[].every", shape: "text", default: "(1m)" },
    { key: "tracker[].import.labels", shape: "lines", default: "" },
    { key: "tracker[].authors", shape: "lines", default: "" },
    { key: "tracker[].write.comment", shape: "switch", default: "(true)" },
    { key: "tracker[].write.close", shape: "switch", default: "(true)" },
    { key: "tracker[].write.text", shape: "switch", default: "(false)" },
    { key: "tracker[].write.labels", names: ["waiting", "working"], default: "", doc: "The label by status." },
  ],
} as unknown as ProjectConfig;
const field = (label: string, n = 0) => screen.getAllByLabelText<HTMLInputElement>(label)[n]!;

it("shows what it would write, then writes it", async () => {
  const sent = serve({ [route]: { ...config, diff: "--- coppice.yaml\n+++ coppice.yaml\n@@\n-tracker: {}\n+tracker: []\n" } });
  const done = vi.fn();
  show(<TrackersForm project="app" c={config} add onDone={done} />);
  expect(field("Labels").value).toBe("agent\na, b");
  expect(field("Close the issue when its task is done").checked).toBe(false);
  expect(field("Write a comment with the status").checked).toBe(true);
  expect(field("Write the title and the description if they change in Coppice").checked).toBe(false); // its default here
  expect(field("working").value).toBe("in progress");
  expect(field("Most active tasks", 1).placeholder).toBe("5");
  fireEvent.click(field("Close the issue when its task is done"));
  fireEvent.click(field("Write a comment with the status"));
  fireEvent.change(field("working"), { target: { value: " " } });
  fireEvent.change(field("Kind", 1), { target: { value: "linear" } });
  fireEvent.change(field("Team", 1), { target: { value: " ENG " } });
  fireEvent.click(screen.getByText("Show the change"));
  expect((await screen.findByLabelText("The change")).textContent).toContain("+tracker: []");
  fireEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(done).toHaveBeenCalled());
  const body = { key: "tracker", revision: "r1", value: [{ import: tracker.import, active: 7, every: "5m", write: { comment: false } }, { kind: "linear", team: "ENG" }] };
  expect(sent.map((s) => s.body)).toEqual([{ ...body, dry_run: true }, { ...body, dry_run: false }]);
});

it("shows after a save what was saved, although the cache has the list before it", async () => {
  const after = { ...config, revision: "r2", diff: "--- coppice.yaml\n+++ coppice.yaml\n@@\n-tracker: {}\n+tracker: []\n", keys: config.keys!.map((k) => (k.key === "tracker" ? { ...k, value: [{ ...tracker, active: 9 }] } : k)) };
  const sent = serve({ "GET /api/v1/projects/app/config": config, [route]: after });
  show(<Trackers project="app" />);
  await screen.findByText("Show the change");
  fireEvent.change(field("Most active tasks"), { target: { value: "9" } });
  for (const n of [0, 1]) { // the second change continues with the revision of the first one
    fireEvent.click(screen.getByText("Show the change"));
    fireEvent.click(await screen.findByRole("button", { name: "Save" }));
    await waitFor(() => expect(screen.queryByLabelText("The change")).toBeNull());
    expect(field("Most active tasks").value).toBe("9");
    expect((sent.filter((s) => s.body).at(-1)!.body as { revision: string }).revision).toBe(n === 0 ? "r1" : "r2");
  }
});

it("shows a refusal at its field", async () => {
  serve({ [route]: { code: "invalid", title: "", status: 422, detail: "this is text", fix: "use 2", field: "tracker.active" } });
  show(<TrackersForm project="app" c={config} onDone={() => {}} />);
  fireEvent.change(field("Most active tasks"), { target: { value: "two" } });
  fireEvent.click(screen.getByText("Show the change"));
  await screen.findByText("this is text");
  const wrong = field("Most active tasks");
  expect(wrong.getAttribute("aria-invalid")).toBe("true");
  expect(document.getElementById(wrong.getAttribute("aria-describedby")!)?.textContent).toContain("use 2");
});

it("keeps everything that the file says", () => {
  expect(changeOf(config, rowsOf([tracker]))).toEqual({ value: tracker });
  expect(changeOf(config, rowsOf([tracker, { kind: "linear", team: "ENG", authors: ["ada"] }]))).toEqual({ value: [tracker, { kind: "linear", team: "ENG", authors: ["ada"] }] });
  expect(changeOf(config, [])).toEqual({ unset: true });
  expect(changeOf(config, [{ id: 0, values: { active: "two" } }])).toEqual({ value: { active: "two" } });
});

it("finds the field of a problem", () => {
  const at = (f: string) => wrongField({ code: "invalid", title: "", status: 422, detail: "", field: f });
  expect(at("tracker[1].import.labels[0]")).toEqual({ row: 1, field: "import.labels" });
  expect(at("tracker.repo")).toEqual({ row: 0, field: "repo" });
  expect(at("tracker[2]")).toEqual({ row: 2, field: "" });
  expect(at("base")).toBeUndefined();
});
