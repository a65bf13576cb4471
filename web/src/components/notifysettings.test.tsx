// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { serve, show } from "../test/render";
import { NotifyDialog, type Part } from "./notifysettings";

const route = "PATCH /api/v1/notifiers/settings";
const shapes: Record<string, string> = { "list of texts": "lines" };
const key = (key: string, type: string, more = {}) => ({ key, type, shape: "one_of" in more ? "choice" : (shapes[type] ?? "text"), text: "", default: "(none)", doc: `What ${key} is.`, ...more });
const value = { phone: { kind: "ntfy", to: ["a", "b"], token: "NTFY" }, desktop: {} };
const settings = {
  path: "/config/config.yaml", exists: true, revision: "r1", secrets: ["SLACK"], missing: { phone: ["NTFY"] },
  kinds: [
    { name: "desktop", needs: [[]], fields: ["timeout"] }, { name: "slack", needs: [["url"], ["token", "to"]], fields: ["url", "token", "to", "timeout"], secret: true },
    { name: "ntfy", needs: [["to"]], allows: ["url", "token"], fields: ["to", "url", "token"] },
  ],
  keys: [
    key("notify.notifiers", "mapping", { value }),
    key("notify.notifiers.*.kind", "text", { one_of: ["desktop", "slack", "ntfy"] }), key("notify.notifiers.*.url", "text"), key("notify.notifiers.*.token", "text", { secret: true }),
    key("notify.notifiers.*.to", "list of texts"), key("notify.notifiers.*.run", "text"), key("notify.notifiers.*.timeout", "duration"),
    key("notify.routes", "list", { default: "(nobody gets anything)", value: [{ to: ["phone", "desktop"], priority: ["urgent"], hours: "08:00-18:00" }, { to: ["desktop"] }] }),
    key("notify.routes[].to", "list of texts"), key("notify.routes[].priority", "list of texts"), key("notify.routes[].hours", "text"),
    key("notify.address", "text"), key("notify.pause", "duration", { value: "2m", text: "2m", line: 5 }),
  ],
};
const diff = "--- config.yaml\n+++ config.yaml\n@@\n+  the change\n";

function open(part: Part, answer: unknown = { ...settings, diff }) {
  const sent = serve({ "GET /api/v1/notifiers/settings": settings, [route]: answer, "POST /api/v1/notifiers/test": { notifications: [] } });
  const done = vi.fn();
  show(<NotifyDialog part={part} onClose={done} />);
  return { bodies: () => sent.filter((s) => s.method === "PATCH").map((s) => s.body), sent, done };
}

const dialog = () => within(screen.getByRole("dialog", { hidden: true }));
const labels = () => [...document.querySelectorAll(".field label")].map((l) => l.textContent);
const field = (label: string) => dialog().getByLabelText<HTMLInputElement>(label);
const fill = (label: string, to: string) => fireEvent.change(field(label), { target: { value: to } });
const press = (name: string) => fireEvent.click(dialog().getByText(name, { selector: "button" }));

it("has the fields of the kind, and tests what it saved", async () => {
  const { bodies, sent } = open("new", { ...settings, diff, missing: { team: ["SLACK_TOKEN"] } });
  await screen.findByLabelText("Name");
  expect(labels()).toEqual(["Name", "Kind", "Timeout"]);
  fill("Kind", "slack");
  expect(labels()).toEqual(["Name", "Kind", "Url", "Token", "To", "Timeout"]);
  expect(dialog().getByText("Needs url, or token and to.")).toBeTruthy();
  expect(dialog().getByText(/Stored: SLACK/).textContent).toContain("coppice secret set NAME");
  expect([...document.querySelectorAll("datalist option")].map((o) => o.getAttribute("value"))).toEqual(["SLACK"]);
  expect([...document.querySelectorAll("input[list]")]).toEqual([field("Token")]);
  fill("Name", "team");
  fill("Token", "SLACK_TOKEN");
  fill("To", "#builds\n#more\n");
  press("Show the change");
  expect((await screen.findByLabelText("The change")).textContent).toContain("the change");
  press("Save");
  expect(await screen.findByText("The notifier team was saved.")).toBeTruthy();
  const body = { key: "notify.notifiers.team", revision: "r1", value: { kind: "slack", token: "SLACK_TOKEN", to: ["#builds", "#more"] } };
  expect(bodies()).toEqual([{ ...body, dry_run: true }, { ...body, dry_run: false }]);
  expect(dialog().getByText(/The secret SLACK_TOKEN does not exist/).textContent).toContain("coppice secret set SLACK_TOKEN");
  press("Test");
  await waitFor(() => expect(sent).toContainEqual({ method: "POST", path: "/api/v1/notifiers/test", body: { notifiers: ["team"] } }));
});

it("shows a notifier with its missing secrets, and an error beside its field", async () => {
  open({ notifier: "phone" }, { code: "invalid", title: "", status: 422, detail: "the topic is wrong", fix: "use another one", field: "notify.notifiers.phone.to[1]" });
  await screen.findByLabelText("To");
  expect([field("Kind").value, field("To").value, field("Token").value]).toEqual(["ntfy", "a\nb", "NTFY"]);
  expect(labels()).toEqual(["Kind", "Url", "Token", "To"]); // the fields of this kind, in the order of the keys
  expect(dialog().getByText(/The secret NTFY does not exist/)).toBeTruthy();
  press("Show the change");
  await screen.findByText("the topic is wrong");
  expect(field("To").getAttribute("aria-invalid")).toBe("true");
  expect(document.getElementById(field("To").getAttribute("aria-describedby")!)?.textContent).toContain("the topic is wrong");
  expect(screen.getAllByText("the topic is wrong")).toHaveLength(1);
  fill("To", "c");
  expect(screen.queryByText("the topic is wrong")).toBeNull();
});

it("keeps the kind of a notifier that is named after it", async () => {
  const { bodies } = open({ notifier: "desktop" });
  await screen.findByLabelText("Timeout");
  fill("Timeout", "10s");
  press("Show the change");
  await screen.findByLabelText("The change");
  expect(bodies()).toEqual([{ key: "notify.notifiers.desktop", revision: "r1", dry_run: true, value: { kind: "desktop", timeout: "10s" } }]);
});

it("says why a notifier cannot be removed", async () => {
  const { bodies, done } = open({ notifier: "phone" }, { code: "conflict", title: "", status: 409, detail: "notify.routes names it, in route 1", fix: "remove it from these routes first" });
  await screen.findByLabelText("To");
  press("Remove…");
  expect(await screen.findByText("notify.routes names it, in route 1")).toBeTruthy();
  expect(bodies()).toEqual([{ key: "notify.notifiers.phone", revision: "r1", dry_run: true, unset: true }]);
  expect(done).not.toHaveBeenCalled();
});

it("removes a notifier after it showed the change", async () => {
  const { done } = open({ notifier: "phone" });
  await screen.findByLabelText("To");
  press("Remove…");
  await screen.findByLabelText("The change");
  press("Remove the notifier");
  await waitFor(() => expect(done).toHaveBeenCalled());
});

it("edits routes", async () => {
  const { bodies, done } = open("routes");
  await screen.findByLabelText("Route 1");
  expect(screen.getByText(/Without routes: nobody gets anything\./)).toBeTruthy();
  const in_ = (n: number, label: string) => within(screen.getByLabelText(`Route ${n}`)).getByLabelText<HTMLInputElement>(label);
  expect([in_(1, "To").value, in_(1, "Priority").value, in_(1, "Hours").value, in_(2, "Priority").value]).toEqual(["phone, desktop", "urgent", "08:00-18:00", ""]);
  press("Add a route");
  fireEvent.change(in_(3, "To"), { target: { value: "phone" } });
  fireEvent.change(in_(3, "Priority"), { target: { value: "info,warning" } });
  fireEvent.click(screen.getByLabelText("Remove route 2"));
  press("Show the change");
  await screen.findByLabelText("The change");
  press("Save");
  await waitFor(() => expect(done).toHaveBeenCalled());
  expect(bodies()[1]).toEqual({ key: "notify.routes", revision: "r1", dry_run: false, value: [{ to: ["phone", "desktop"], priority: ["urgent"], hours: "08:00-18:00" }, { to: ["phone"], priority: ["info", "warning"] }] });
});

it("shows the error of a route at its field, and removes the last route", async () => {
  const { bodies } = open("routes", { code: "invalid", title: "", status: 422, detail: "not valid hours", fix: "write 08:00-18:00", field: "notify.routes[1].hours" });
  await screen.findByLabelText("Route 2");
  press("Show the change");
  await screen.findByText("not valid hours");
  const hours = () => screen.getAllByLabelText("Hours").map((h) => h.getAttribute("aria-invalid"));
  expect(hours()).toEqual([null, "true"]);
  fireEvent.click(screen.getByLabelText("Remove route 2"));
  fireEvent.click(screen.getByLabelText("Remove route 1"));
  press("Show the change");
  await waitFor(() => expect(bodies()[1]).toEqual({ key: "notify.routes", revision: "r1", dry_run: true, unset: true }));
});

it("changes the pause", async () => {
  const { bodies } = open("other");
  fireEvent.click(await screen.findByLabelText("Change notify.pause"));
  expect(screen.getByLabelText("Change notify.address")).toBeTruthy();
  fill("notify.pause", "5m");
  press("Save");
  await waitFor(() => expect(bodies()).toEqual([{ key: "notify.pause", revision: "r1", value: "5m" }]));
});

it("says why a file cannot be edited", async () => {
  serve({ "GET /api/v1/notifiers/settings": { code: "invalid", title: "", status: 422, detail: "config.yaml:2:10: this is not a duration", fix: "use 5m" } });
  show(<NotifyDialog part="routes" onClose={() => {}} />);
  expect(await screen.findByText("config.yaml:2:10: this is not a duration")).toBeTruthy();
});
