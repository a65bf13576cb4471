// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { keepTyped, useTyped } from "../state/typed";
import { comment } from "../test/make";
import { serve, show } from "../test/render";
import { Comment, lineForms, NewComment, openLineForm, type LineForm } from "./comment";

const names = () => screen.queryAllByRole("button").map((b) => b.textContent);
const form: LineForm = { task: "app-1", path: "a.go", side: "new", first: 2, last: 4 };

function Forms() {
  const open = useTyped();
  return <>{lineForms(open, "app-1", "a.go").map((f) => <NewComment key={f.first} f={f} />)}<button onClick={() => openLineForm(form, open)}>open</button></>;
}

let opened: string[] = [];
function Watch() {
  opened = [...useTyped().keys()];
  return null;
}

afterEach(() => {
  show(<Watch />);
  opened.forEach((name) => keepTyped(name));
});

it("offers what its state allows", () => {
  const { rerender } = show(<Comment task="app-1" c={comment({ id: 1, state: "draft" })} />);
  expect(names()).toEqual(["Edit", "Delete"]);
  rerender(<></>);
  const sent = show(<Comment task="app-1" c={comment({ id: 1, state: "sent" })} />);
  expect(names()).toEqual(["Resolve", "Edit"]);
  sent.rerender(<></>);
  show(<Comment task="app-1" c={comment({ id: 1, state: "resolved" })} />);
  expect(names()).toEqual(["Reopen"]);
});

it("shows the code of an outdated comment, and Markdown as text", () => {
  show(<Comment task="app-1" c={comment({ id: 1, state: "sent", at: undefined, outdated: true, code: "old code\n", text: "see **this** <b>tag</b>" })} />);
  expect(screen.getByText("outdated")).toBeTruthy();
  expect(screen.getByText("old code")).toBeTruthy();
  expect(screen.getByText("this").tagName).toBe("STRONG");
  expect(document.querySelector("b")).toBeNull();
  expect(document.body.textContent).toContain("<b>tag</b>");
});

it("resolves, reopens and deletes", async () => {
  const sent = serve({ "PATCH /api/v1/tasks/app-1/comments/1": {}, "PATCH /api/v1/tasks/app-1/comments/2": {}, "DELETE /api/v1/tasks/app-1/comments/3": {} });
  show(<>{(["sent", "resolved", "draft"] as const).map((state, i) => <Comment key={state} task="app-1" c={comment({ id: i + 1, state })} />)}</>);
  for (const name of ["Resolve", "Reopen", "Delete"]) fireEvent.click(screen.getByText(name));
  await waitFor(() => expect(sent).toHaveLength(3));
  expect(sent.map((s) => [s.method, s.path.slice(-1), s.body])).toEqual([["PATCH", "1", { resolved: true }], ["PATCH", "2", { resolved: false }], ["DELETE", "3", {}]]);
});

it("stores a text that is being typed, and drops it when the server has it", async () => {
  const sent = serve({ "POST /api/v1/tasks/app-1/comments": comment({ id: 1 }) });
  const first = show(<Forms />);
  fireEvent.click(screen.getByText("open"));
  fireEvent.change(screen.getByRole("textbox", { name: "Comment on lines 2–4" }), { target: { value: "why?" } });
  fireEvent.click(screen.getByText("open")); // it is open already
  expect(Object.values({ ...localStorage })).toEqual(["why?"]);
  first.rerender(<></>);
  show(<Forms />);
  expect((screen.getByRole("textbox") as HTMLTextAreaElement).value).toBe("why?");
  fireEvent.click(screen.getByText("Add the comment"));
  await waitFor(() => expect(screen.queryByRole("textbox")).toBeNull());
  expect(sent).toMatchObject([{ method: "POST", body: { path: "a.go", side: "new", first: 2, last: 4, text: "why?" } }]);
  expect(localStorage.length).toBe(0);
});

it("returns the focus to its line", () => {
  show(<div className="ln-box"><button data-n="4">4</button><Forms /></div>);
  fireEvent.click(screen.getByText("open"));
  expect(document.activeElement).toBe(screen.getByRole("textbox"));
  fireEvent.keyDown(screen.getByRole("textbox"), { key: "Escape" });
  expect(document.activeElement?.textContent).toBe("4");
});

it("keeps the text if the server refuses it", async () => {
  serve({ "PATCH /api/v1/tasks/app-1/comments/1": { code: "invalid", title: "", status: 422, detail: "too long", fix: "shorten it" } });
  show(<Comment task="app-1" c={comment({ id: 1 })} />);
  fireEvent.click(screen.getByText("Edit"));
  fireEvent.change(screen.getByRole("textbox"), { target: { value: "changed" } });
  fireEvent.click(screen.getByText("Save"));
  expect((await screen.findByRole("alert")).textContent).toContain("too long");
  expect((screen.getByRole("textbox") as HTMLTextAreaElement).value).toBe("changed");
});
