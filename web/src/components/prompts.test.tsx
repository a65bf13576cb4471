// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import type { Prompts } from "../api/schema";
import { insertAt, lineRange } from "../lib/prompts";
import { serve, show } from "../test/render";
import { PromptForm, PromptRows } from "./prompts";

const own = { role: "verify", about: "judge work", path: ".coppice/prompts/verify.md", own: true, text: "one\ntwo {{.Titel}}\nthree\n", built_in: "Verify.\n", revision: "r1" };
const list: Prompts = {
  prompts: [{ role: "implement", about: "do the task", path: ".coppice/prompts/implement.md", text: "Do it.\n", built_in: "Do it.\n", revision: "r0" }, own],
  fields: [{ name: "Title", doc: "its title" }, { name: "Steps", doc: "a list" }],
  functions: ["and", "inc"],
};
const route = "PATCH /api/v1/projects/app/prompts/verify";
const area = () => screen.getByLabelText<HTMLTextAreaElement>("The text of verify");

it("lists each role with its file or the built-in text", () => {
  show(<PromptRows project="app" list={{ ...list, prompts: [list.prompts![0]!, { ...own, problem: "fix.md:2: no field Titel" }] }} />);
  const rows = screen.getAllByRole("listitem");
  expect(rows[0]!.textContent).toContain("built-in");
  expect(rows[1]!.textContent).toContain(".coppice/prompts/verify.md");
  expect(rows[1]!.textContent).toContain("no field Titel");
  fireEvent.click(within(rows[0]!).getByLabelText("Edit the prompt of implement"));
  expect(screen.getByLabelText<HTMLTextAreaElement>("The text of implement").value).toBe("Do it.\n");
  expect(screen.queryByText("Use the built-in prompt…")).toBeNull();
});

it("shows the change as the server would write it, and saves it then", async () => {
  const sent = serve({ [route]: { ...own, diff: "--- a\n+++ b\n@@\n-one\n+new\n" } });
  const done = vi.fn();
  show(<PromptForm project="app" p={own} list={list} onDone={done} />);
  fireEvent.change(area(), { target: { value: "new\n" } });
  expect(screen.queryByRole("button", { name: "Save" })).toBeNull();
  fireEvent.click(screen.getByText("Show the change"));
  expect((await screen.findByLabelText("The change")).textContent).toContain("+new");
  fireEvent.change(area(), { target: { value: "newer\n" } });
  expect(screen.queryByRole("button", { name: "Save" })).toBeNull();
  fireEvent.click(screen.getByText("Show the change"));
  fireEvent.click(await screen.findByRole("button", { name: "Save" }));
  await waitFor(() => expect(done).toHaveBeenCalled());
  expect(sent.map((s) => s.body)).toEqual([
    { text: "new\n", revision: "r1", dry_run: true },
    { text: "newer\n", revision: "r1", dry_run: true },
    { text: "newer\n", revision: "r1", dry_run: false },
  ]);
});

it("shows a mistake below the text and goes to its line", async () => {
  serve({ [route]: { code: "invalid", title: "", status: 422, detail: "verify.md:2: no field Titel", fix: "fix it", field: "text:2" } });
  show(<PromptForm project="app" p={own} list={list} onDone={() => {}} />);
  fireEvent.click(screen.getByText("Show the change"));
  await screen.findByText("verify.md:2: no field Titel");
  expect(area().getAttribute("aria-invalid")).toBe("true");
  expect(document.getElementById(area().getAttribute("aria-describedby")!)?.textContent).toContain("no field Titel");
  fireEvent.click(screen.getByText("Go to line 2"));
  expect(document.activeElement).toBe(area());
  expect([area().selectionStart, area().selectionEnd]).toEqual([4, 18]);
});

it("inserts a field at the cursor", () => {
  show(<PromptForm project="app" p={own} list={list} onDone={() => {}} />);
  area().setSelectionRange(3, 3);
  fireEvent.click(screen.getByLabelText("Insert Steps"));
  expect(area().value).toBe("one{{.Steps}}\ntwo {{.Titel}}\nthree\n");
});

it("removes the file only after a confirmation", async () => {
  const sent = serve({ [route]: { ...own, diff: "--- file\n+++ built-in\n@@\n-one\n+Verify.\n" } });
  const done = vi.fn();
  show(<PromptForm project="app" p={own} list={list} onDone={done} />);
  fireEvent.click(screen.getByText("Use the built-in prompt…"));
  const dialog = screen.getByRole("dialog", { hidden: true });
  expect((await within(dialog).findByLabelText("The change")).textContent).toContain("+Verify.");
  fireEvent.click(within(dialog).getByText("Cancel"));
  expect(sent.every((s) => (s.body as { dry_run?: boolean }).dry_run)).toBe(true);
  fireEvent.click(screen.getByText("Use the built-in prompt…"));
  const again = screen.getByRole("dialog", { hidden: true });
  await within(again).findByLabelText("The change");
  fireEvent.click(within(again).getByText("Remove the file"));
  await waitFor(() => expect(done).toHaveBeenCalled());
  expect(sent.at(-1)!.body).toEqual({ unset: true, revision: "r1" });
});

it("finds lines and inserts pieces", () => {
  expect(lineRange("a\nbc\n", 2)).toEqual([2, 4]);
  expect(lineRange("a\nbc\n", 9)).toEqual([5, 5]);
  expect(insertAt("abcd", 1, 3, "X")).toEqual({ text: "aXd", cursor: 2 });
});

it("lists the fields of a prompt of flows", () => {
  show(<PromptForm project="app" p={{ ...own, role: "flow-goal-rules", fields: ["Key"] }} list={list} onDone={() => {}} />);
  expect(screen.getByLabelText("Insert Key")).toBeTruthy();
  expect(screen.queryByLabelText("Insert Title")).toBeNull();
});
