// @vitest-environment happy-dom
// Compares the palette with the buttons of all pages. Every request by which the page
// changes something on the server is in the source as api.POST("…") and so on. It must
// be sent by a command of the palette, or by a form that a command opens. A new button
// with a new request fails here until it has a command.
import { act, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { actions } from "../api/actions";
import type { InboxEntry, Project, Question } from "../api/schema";
import { roles } from "../api/tables";
import { useDialog, type OpenDialog } from "../state/dialog";
import { comment, entry, issue, schedule, task } from "../test/make";
import { serve, show } from "../test/render";
import { commentCommands } from "./comment";
import { clearLimit, commands, editDocument, editFeature, editTemplate, issueCommands, newFlow, newSchedule, readIssues, releaseLock, reopenFeature, scheduleCommands, trashCommands, type Command } from "./commands";
import { planCommands } from "./flowplan";
import { forms } from "./forms";
import { tests } from "./hooks";
import { everything } from "./palette";
import { tests as testNotifiers } from "../routes/notifications";

const sources = import.meta.glob<string>(["../**/*.ts", "../**/*.tsx", "!../**/*.test.*", "!../api/schema.ts"], { query: "?raw", import: "default", eager: true });
const nameOf = (path: string) => path.split("/").at(-1)!.replace(/\.tsx?$/, "");

interface Request {
  module: string;
  route: string; // METHOD /path
}

const requests = Object.entries(sources).flatMap(([path, text]): Request[] =>
  [...text.matchAll(/\bapi\.(POST|PUT|PATCH|DELETE)\(\s*"([^"]+)"/g)].map((m) => ({ module: nameOf(path), route: `${m[1]} ${m[2]}` })),
);

// importsOf are the components that a module imports.
const importsOf = (module: string) => [...sources[`./${module}.tsx`]!.matchAll(/from "\.\/(\w+)"/g)].map((m) => m[1]!);

// partsOfPages are modules whose requests a person sends inside a page: the page has a
// command that starts each. Images are parts of forms.
const partsOfPages: Record<string, string> = { comment: "Comment on the line", reviewfile: "Mark the file as viewed, or not", notifysettings: "New notifier" };
const partsOfForms = ["images"];

// automatic are modules whose requests no person sends.
const automatic = ["presence"];

const everyAction = { label: "Help", method: "POST", route: "/projects/app/confirm", command: "" } as const;
const failed: InboxEntry = entry({ id: "failed/app-4", actions: [everyAction, { ...everyAction, label: "Danger", form: "confirm" }] });
const project = { prefix: "app", path: "/app", policy: {}, can: ["reload", "pause", "rename", "remove", "add-feature"], rules: [{ do: "allow", tool: "Bash", match: "ls" }], paused_tracks: { docs: "it fails" } } as unknown as Project;
const question: Question = { id: 7, kind: "permission", text: "Run it?", options: ["allow", "allow always", "deny", "deny always"], rule: { tool: "Bash", do: "allow" }, asked_at: "2026-01-01T10:00:00Z", open: true };

const everyTask = task({ id: 1, can: actions.map((a) => a.id), question, unread: true, group_id: 3, review: "possible" });

// all are the commands for a state in which everything can be done.
function all(): Command[] {
  const trash = trashCommands({ task: "app-1", title: "One", project: "app", what: "workspace", branch: "b", removed_at: "", expires_at: "", restores: true });
  return [
    ...everything({ here: everyTask, projects: [project, { ...project, can: ["resume"] }], entries: [failed, { ...failed, snoozed: true }] }),
    ...(["draft", "sent", "resolved"] as const).flatMap((state) => commentCommands("app-1", comment({ id: 1, state }))),
    ...tests([{ event: "landed", run: "x", timeout: "30s", on_failure: "warn", from: "project", project: "app" }]),
    ...testNotifiers([{ name: "phone", kind: "ntfy", routes: [] }]),
    readIssues("app"), ...Object.values(issueCommands("app", issue({ issue: "12", can: ["import", "accept"] }))),
    clearLimit("robot"), releaseLock("app", { name: "a.go", session: "app-1.1", task: "app-1", state: "working", acquired_at: "", expires_at: "" }), editFeature("app", "F1"), editDocument("app-1", "plan"), ...planCommands({ task: { key: "app-1" }, approves: "plan", drafts: 2 }), editTemplate("app", "update"), newFlow("app"), newSchedule("app"),
    ...Object.values(scheduleCommands(schedule({ name: "nightly" }))), scheduleCommands(schedule({ name: "nightly", state: "paused", can: ["resume"] })).pause, reopenFeature("app", "F1"), ...Object.values(trash),
  ];
}

describe("the palette", () => {
  const opened: OpenDialog[] = [];
  const Probe = () => {
    opened.push(useDialog());
    return null;
  };

  it("has a command for every request of the page", async () => {
    const log = serve({});
    show(<Probe />);
    for (const c of all()) act(() => c.run());
    const fits = (r: Request) => {
      const [method, path] = r.route.split(" ") as [string, string];
      const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`);
      return log.some((s) => s.method === method && pattern.test(s.path));
    };
    const inForm = new Set([...importsOf("forms"), ...importsOf("dialogs"), ...partsOfForms, ...automatic]);
    const missing = () => requests.filter((r) => !inForm.has(r.module) && !(r.module in partsOfPages) && !fits(r));
    await waitFor(() => expect(missing()).toEqual([]));
    for (const a of actions) expect(fits({ module: "actions", route: `${"method" in a ? a.method : "POST"} ${a.path}` }) || "prompt" in a, a.id).toBe(true);
  });

  it("opens every form", () => {
    const names = new Set(opened.flatMap((o) => (typeof o === "object" && "form" in o ? [o.form] : [])));
    expect([...names].sort()).toEqual(Object.keys(forms).sort());
    for (const name of ["new", "help", "marks app-1"]) expect(opened).toContain(name);
    const asked = opened.flatMap((o) => (typeof o === "object" && "action" in o && "task" in o ? [o.action.id] : []));
    for (const a of actions) if ("prompt" in a && !("bare" in a)) expect(asked).toContain(a.id);
  });

  it("has the commands of pages that its comparison relies on", () => {
    for (const name of Object.values(partsOfPages)) expect(sources["../routes/review.tsx"]! + sources["../routes/notifications.tsx"]!).toContain(name);
    for (const role of roles) expect(all().map((c) => c.name)).toContain(`Edit the prompt of ${role} in app…`);
    for (const c of Object.values<Command>(commands)) if (c !== commands.palette) expect(all()).toContainEqual(c);
  });

  it("names each command one time", () => {
    const ids = everything({ here: everyTask, projects: [project], entries: [failed] }).map((c) => c.id);
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  });

  it("finds requests in the source", () => {
    expect(requests.length).toBeGreaterThan(20);
    expect(requests).toContainEqual({ module: "commands", route: "POST /api/v1/backup" });
  });
});
