// @vitest-environment happy-dom
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { useDialog } from "../state/dialog";
import { task } from "../test/make";
import { serve, show } from "../test/render";
import { Toasts } from "../ui/toast";
import { ActionBar } from "./actionbar";
import { ActionDialog } from "./actiondialog";
import { actions, request } from "./actions";

const working = task({ id: 1, status: "working", stage: "session", can: ["interrupt", "requeue", "stop", "take", "model", "fork"] });

function Page() {
  const open = useDialog();
  return <>{typeof open === "object" && "task" in open && "action" in open && <ActionDialog t={open.task} action={open.action} onClose={() => {}} />}<Toasts /></>;
}

it("shows what the server offers, in its order, the rarer ones behind More", () => {
  show(<ActionBar t={working} />);
  expect(screen.getAllByRole("button").map((b) => b.textContent)).toEqual(["Interrupt", "Requeue", "Stop", "More ▾"]);
  fireEvent.click(screen.getByRole("button", { name: "More" }));
  expect(screen.getAllByRole("menuitem").map((b) => b.textContent)).toEqual(["Take over", "Change the model", "Fork"]);
});

it("shows an action of the menu if the page names it, and the page's own button after the one that lands", () => {
  show(<ActionBar t={{ ...working, can: ["land", "stop", "take", "fork"] }} names={{ land: "Approve", take: "Take over" }}><button>Own</button></ActionBar>);
  expect(screen.getAllByRole("button").map((b) => b.textContent)).toEqual(["Approve", "Own", "Stop", "Take over", "More ▾"]);
});

it("moves through the menu by keys, and returns the focus", () => {
  show(<ActionBar t={working} />);
  const more = screen.getByRole("button", { name: "More" });
  fireEvent.keyDown(more, { key: "ArrowDown" });
  const focused = () => document.activeElement?.textContent;
  const press = (key: string) => fireEvent.keyDown(document.activeElement!, { key });
  expect(focused()).toBe("Take over");
  press("ArrowUp");
  expect(focused()).toBe("Fork");
  press("ArrowDown");
  expect(focused()).toBe("Take over");
  press("c");
  expect(focused()).toBe("Change the model");
  press("Escape");
  expect(document.activeElement).toBe(more);
  expect(screen.queryByRole("menu")).toBeNull();
});

it("runs an action without a text immediately", async () => {
  const sent = serve({ "POST /api/v1/tasks/app-1/take": working });
  show(<><ActionBar t={working} /><Toasts /></>);
  fireEvent.click(screen.getByRole("button", { name: "More" }));
  fireEvent.click(screen.getByText("Take over"));
  expect(await screen.findByText(/app-1 is yours/)).toBeTruthy();
  expect(sent).toMatchObject([{ method: "POST", path: "/api/v1/tasks/app-1/take" }]);
});

it("names the commit that the page shows in the request to land, and in no other", async () => {
  const sent = serve({ "POST /api/v1/tasks/app-1/land": working, "POST /api/v1/tasks/app-1/take": working });
  show(<ActionBar t={{ ...working, can: ["land", "take"] }} names={{ take: "Take over" }} head="3f2a91c" />);
  fireEvent.click(screen.getByText("Land"));
  fireEvent.click(screen.getByText("Take over"));
  await waitFor(() => expect(sent.map((s) => [s.path, s.body])).toEqual([["/api/v1/tasks/app-1/land", { head: "3f2a91c" }], ["/api/v1/tasks/app-1/take", {}]]));
});

it("asks before a dangerous one, and shows why the server refuses", async () => {
  const sent = serve({ "POST /api/v1/tasks/app-1/stop": { code: "conflict", title: "", status: 409, detail: "app-1 has ended already", fix: "reload" } });
  show(<><ActionBar t={working} /><Page /></>);
  fireEvent.click(screen.getByText("Stop"));
  expect(sent).toEqual([]);
  fireEvent.submit(document.querySelector("form")!);
  expect((await screen.findByRole("alert", { hidden: true })).textContent).toContain("app-1 has ended already");
});

it("sends the text of a dialog under the name that the route has", async () => {
  const sent = serve({ "POST /api/v1/tasks/app-1/requeue": working, "GET /api/v1/agents": { agents: [], at: "" } });
  show(<><ActionBar t={working} /><Page /></>);
  fireEvent.click(screen.getByText("Requeue"));
  fireEvent.change(screen.getByLabelText(/What should it do differently/), { target: { value: "be brief" } });
  fireEvent.submit(document.querySelector("form")!);
  await waitFor(() => expect(sent.find((s) => s.method === "POST")?.body).toEqual({ note: "be brief" }));
});

it.each([["stop", "unstop"], ["archive", "unarchive"], ["unarchive", "archive"], ["land", "revert"]] as const)("offers to undo %s by %s", async (id, undo) => {
  const sent = serve({ [`POST /api/v1/tasks/app-1/${id}`]: {}, [`POST /api/v1/tasks/app-1/${undo}`]: {} });
  show(<Toasts />);
  await act(() => request(actions.find((a) => a.id === id)!, "app-1"));
  fireEvent.click(screen.getAllByRole("button", { name: "Undo" }).at(-1)!);
  await waitFor(() => expect(sent.map((s) => s.path)).toEqual([`/api/v1/tasks/app-1/${id}`, `/api/v1/tasks/app-1/${undo}`]));
});
