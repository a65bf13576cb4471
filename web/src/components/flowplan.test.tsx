// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { FlowDocument } from "../api/schema";
import { folded, lineDiff } from "../lib/diff";
import { comment, flow, task } from "../test/make";
import { serve, show } from "../test/render";
import { FlowDocuments } from "./flowdocuments";
import { FlowPlan } from "./flowplan";
import { NewTaskDialog } from "./newtask";
import { scheduleFrom } from "./newschedule";
import { templateFrom } from "./templatefields";
import { project } from "../test/make";

const doc = (change: Partial<FlowDocument> = {}): FlowDocument => ({ name: "plan", version: 1, size: 20, by: "engine:flow", at: "2026-01-01T10:03:00Z", ...change });
const plan = "# Plan\n\n- [ ] one: Do it\n- [x] two: Done\n";

it("comments on lines of a plan, and sends them as one message", async () => {
  const sent = serve({
    "GET /api/v1/flows/app-1/documents/plan": doc({ text: plan }), "POST /api/v1/tasks/app-1/comments": comment({ id: 4 }),
    "POST /api/v1/tasks/app-1/comments/send": {}, "POST /api/v1/tasks/app-1/resume": task({ id: 1 }),
  });
  const drafts = [comment({ id: 1, path: "plan", side: "document", first: 3, last: 3, at: { path: "plan", first: 3, last: 3 }, text: "Split it" }), comment({ id: 2, path: "plan", side: "document", at: undefined, outdated: true, code: "- [ ] gone\n", text: "Why?" }), comment({ id: 3, path: "plan", side: "document", state: "resolved", text: "old news" }), comment({ id: 5, path: "plan", side: "document", state: "sent", at: undefined, outdated: true, text: "sent before" })];
  show(<FlowPlan f={flow({ kind: "goal", steps: [], approves: "plan", drafts: 2, comments: drafts })} name="plan" />);
  expect(await screen.findByText("Split it")).toBeTruthy();
  expect(within(screen.getByLabelText("Comment 2, draft")).getByText("- [ ] gone")).toBeTruthy();
  expect(screen.queryByText("old news")).toBeNull();
  expect(screen.getByText("sent before").closest("details")!.querySelector("summary")!.textContent).toBe("1 comment on lines that have changed");
  expect(screen.getByText("Split it").closest(".ln-box")!.textContent).toContain("- [ ] one: Do it");
  fireEvent.click(screen.getByLabelText("Comment on line 4"), { detail: 0 });
  fireEvent.change(await screen.findByLabelText("Comment on line 4", { selector: "textarea" }), { target: { value: "Not done" } });
  fireEvent.click(screen.getByText("Add the comment"));
  await waitFor(() => expect(sent).toContainEqual({ method: "POST", path: "/api/v1/tasks/app-1/comments", body: { path: "plan", side: "document", first: 4, last: 4, text: "Not done" } }));
  fireEvent.click(screen.getByText("Send 2 comments"));
  await waitFor(() => expect(sent).toContainEqual({ method: "POST", path: "/api/v1/tasks/app-1/comments/send", body: {} }));
  fireEvent.click(screen.getByText("Approve and run"));
  await waitFor(() => expect(sent).toContainEqual({ method: "POST", path: "/api/v1/tasks/app-1/resume", body: {} }));
  fireEvent.click(screen.getByText("text", { selector: "button" }));
  expect(screen.getByLabelText("done")).toBeTruthy();
});

it("offers no approval of a plan that runs", async () => {
  serve({ "GET /api/v1/flows/app-1/documents/plan": doc({ text: plan }) });
  show(<FlowPlan f={flow({ kind: "goal", steps: [] })} name="plan" />);
  expect(await screen.findByLabelText("open")).toBeTruthy();
  expect(screen.queryByText("Approve and run")).toBeNull();
  expect(screen.queryByText(/Send/)).toBeNull();
});

it("compares a version with the one before it, or with any other", async () => {
  const texts = ["", "one\n", "one\ntwo\n", "one\nthree\n"];
  serve({ "GET /api/v1/flows/app-1/documents/plan/versions": { versions: [3, 2, 1].map((version) => doc({ version })) } });
  const answer = fetch;
  globalThis.fetch = (async (r: Request) => {
    const version = Number(new URL(r.url).searchParams.get("version"));
    return version ? Response.json(doc({ version, text: texts[version]! })) : answer(r);
  }) as typeof fetch;
  show(<FlowDocuments f={flow({ steps: [], documents: [doc({ version: 3 })] })} />);
  fireEvent.click(screen.getByText("plan", { selector: "button" }));
  fireEvent.click(await screen.findByText("changes"));
  expect((await screen.findByLabelText("Changes from version 2 to 3")).textContent).toBe(" one\n-two\n+three\n");
  fireEvent.change(screen.getByLabelText("Compared with"), { target: { value: "1" } });
  expect((await screen.findByLabelText("Changes from version 1 to 3")).textContent).toBe(" one\n+three\n");
  expect(location.search).toBe("?doc=plan&show=changes&with=1");
});

it("folds lines that are far from a change", () => {
  const before = Array.from({ length: 12 }, (_, i) => `line ${i}`).join("\n");
  const lines = folded(lineDiff(before, before + "\nmore"));
  expect(lines.map((l) => l.text)).toEqual(["… 9 unchanged lines …", "line 9", "line 10", "line 11", "more"]);
});

it("creates a task from a template, with its variables as fields", async () => {
  const sent = serve({
    "GET /api/v1/projects": { projects: [project({ prefix: "app" })] }, "GET /api/v1/agents": { agents: [] },
    "GET /api/v1/projects/app/templates": { templates: [{ name: "broken", problem: "it has no title", path: "", revision: "" }, { name: "update", title: "Update {{package}}", path: "x", revision: "r", variables: [{ name: "package", about: "What to update", required: true }, { name: "to", default: "newest" }] }] },
    "POST /api/v1/projects/app/tasks": { tasks: [task({ id: 7 })] },
  });
  show(<NewTaskDialog onClose={() => {}} />);
  const choice = await screen.findByLabelText<HTMLSelectElement>("Template");
  expect([...choice.options].map((o) => o.value)).toEqual(["", "update"]);
  fireEvent.change(choice, { target: { value: "update" } });
  expect(screen.getByLabelText<HTMLInputElement>("package").required).toBe(true);
  expect(screen.getByText("newest if empty")).toBeTruthy();
  fireEvent.change(screen.getByLabelText("package"), { target: { value: "cobra" } });
  fireEvent.click(screen.getByText("Create"));
  await waitFor(() => expect(sent).toContainEqual({ method: "POST", path: "/api/v1/projects/app/tasks", body: { tasks: [{ template: "update", variables: { package: "cobra" } }] } }));
});

it("reads a template of a schedule", () => {
  const form = new FormData();
  for (const [name, value] of Object.entries({ name: "nightly", every: "6h", template: "update", "variable package": " cobra ", "variable to": "" })) form.set(name, value);
  expect(scheduleFrom(form, "")).toEqual({ name: "nightly", every: "6h", task: { template: "update", variables: { package: "cobra" } } });
  expect(templateFrom(new FormData())).toEqual({});
});
