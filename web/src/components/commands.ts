// Everything that can be run from any page, besides the actions of tasks. The palette,
// the keys and the buttons run the same commands. A button that changes something on
// the server gets its command from here, or opens one of the forms (forms.tsx).
import { change } from "../api/cache";
import { api, dataOf } from "../api/client";
import type { InboxAction, InboxEntry, Issue, Lock, NewSnooze, Note, Project, Rule, Schedule, TrashItem } from "../api/schema";
import { roles } from "../api/tables";
import { navigate, type Page } from "../router";
import { closeDialog, openDialog, type OpenForm } from "../state/dialog";
import { prefs, setPrefs, type Theme } from "../state/prefs";
import { say } from "../ui/toast";
import { actions } from "./actions";

export interface Command {
  id: string;
  name: string;
  hint: string;
  key?: string; // runs it from the keyboard
  run: () => void;
}

export const pageList: { path: Page; name: string; key: string; icon: string }[] = [
  { path: "/inbox", name: "Inbox", key: "i", icon: "M4 13h5l1.5 3h3L15 13h5M4 13l3-8h10l3 8v6H4z" },
  { path: "/", name: "Board", key: "b", icon: "M4 4h5v16H4zM10.5 4h4v10h-4zM16 4h4v13h-4z" },
  { path: "/groups", name: "Groups", key: "g", icon: "M4 5h7v6H4zM13 5h7v6h-7zM4 13h7v6H4zM13 13h7v6h-7z" },
  { path: "/flows", name: "Flows", key: "w", icon: "M4 6h6v4H4zM14 6h6v4h-6zM14 15h6v4h-6zM10 8h4M17 10v5" },
  { path: "/schedules", name: "Schedules", key: "c", icon: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 7v5l3.5 2" },
  { path: "/templates", name: "Templates", key: "m", icon: "M4 4h16v5H4zM4 13h9v7H4zM17 13h3v7h-3z" },
  { path: "/landing", name: "Landing", key: "l", icon: "M12 3v12m-5-5 5 5 5-5M4 20h16" },
  { path: "/reactions", name: "Reactions", key: "o", icon: "M4 7h11a4 4 0 0 1 4 4v1M16 9l3 3 3-3M20 17H9a4 4 0 0 1-4-4v-1M8 15l-3-3-3 3" },
  { path: "/issues", name: "Issues", key: "x", icon: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z" },
  { path: "/notifications", name: "Notifications", key: "p", icon: "M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4" },
  { path: "/locks", name: "Locks", key: "k", icon: "M6 11h12v9H6zM8 11V8a4 4 0 0 1 8 0v3" },
  { path: "/graph", name: "Graph", key: "r", icon: "M6 4h4v4H6zM14 10h4v4h-4zM6 16h4v4H6zM10 6h4v6M10 18h4v-6" },
  { path: "/features", name: "Features", key: "f", icon: "M9 6h11M9 12h11M9 18h11M4 6h1M4 12h1M4 18h1" },
  { path: "/notes", name: "Notes", key: "n", icon: "M6 3h9l4 4v14H6zM9 11h7M9 15h7" },
  { path: "/timeline", name: "Timeline", key: "t", icon: "M4 6h9M8 12h10M6 18h6" },
  { path: "/usage", name: "Usage", key: "u", icon: "M5 20V10M12 20V4M19 20v-7" },
  { path: "/search", name: "Search", key: "s", icon: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM15.5 15.5 20 20" },
  { path: "/agents", name: "Agents", key: "a", icon: "M5 9h14v10H5zM12 5v4M9 13v2M15 13v2" },
  { path: "/settings", name: "Settings", key: "e", icon: "M4 7h10M18 7h2M4 17h2M10 17h10M14 5v4M6 15v4" },
  { path: "/health", name: "Health", key: "h", icon: "M3 12h4l3-7 4 14 3-7h4" },
  { path: "/help", name: "Help", key: "d", icon: "M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.5v.5M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z" },
];

const themes: Theme[] = ["system", "dark", "light"];

export const themeName = (t: Theme) => t[0]!.toUpperCase() + t.slice(1);

async function backup(): Promise<void> {
  const b = await change("", () => dataOf(api.POST("/api/v1/backup")));
  if (b) say(`A copy of the database is in ${b.path}`);
}

// opens is a command that opens a form.
const opens = (name: string, hint: string, form: OpenForm): Command => ({ id: JSON.stringify(form), name, hint, run: () => openDialog(form) });

// refreshAgents looks for installed agents again, for a project if it is named.
export const refreshAgents = (project = "") => void change("Refreshed", () => dataOf(api.GET("/api/v1/agents", { params: { query: { project: project || undefined, refresh: true } } })));

export const commands = {
  palette: { id: "palette", name: "Search or run", hint: "Ctrl K", run: () => openDialog("palette") },
  create: { id: "new", name: "New task", hint: "n", key: "n", run: () => openDialog("new") },
  newFlow: opens("New flow…", "flow", { form: "new flow" }),
  newSchedule: opens("New schedule…", "schedule", { form: "new schedule" }),
  help: { id: "help", name: "Keys", hint: "?", key: "?", run: () => openDialog("help") },
  theme: { id: "theme", name: "Switch the theme", hint: "dark, light, system", run: () => setPrefs({ theme: themes[(themes.indexOf(prefs().theme) + 1) % themes.length]! }) },
  addProject: opens("Add a project…", "project", { form: "add project" }),
  agents: { id: "agents", name: "Refresh the agents", hint: "agents", run: () => refreshAgents() },
  trash: opens("Empty the trash…", "server", { form: "trash" }),
  backup: { id: "backup", name: "Back up the database", hint: "server", run: () => void backup() },
} satisfies Record<string, Command>;

// goTo are the commands that open pages: g and a letter.
export const goTo: Command[] = pageList.map((p) => ({
  id: p.path, name: p.name, hint: "page", key: "g " + p.key,
  run: () => {
    closeDialog();
    navigate(p.path);
  },
}));

// clearLimit lets tasks use an agent, or a model of it, again.
export const clearLimit = (agent: string): Command => ({
  id: "clear " + agent, name: `Clear the limit of ${agent}`, hint: "agents",
  run: () => void change(`${agent} can be used again`, () => dataOf(api.POST("/api/v1/agents/{agent}/clear", { params: { path: { agent } } }))),
});

// releaseLock releases a lock of a session, so that others can have it.
export const releaseLock = (project: string, l: Lock): Command => ({
  id: `release ${project} ${l.name}`, name: `Release ${l.name}, which ${l.session} holds`, hint: "locks",
  run: () => void change(`Released ${l.name}`, () => dataOf(api.DELETE("/api/v1/projects/{project}/locks", { params: { path: { project }, query: { name: l.name } } }))),
});

export const newTracker = (project: string) => opens(`Add a tracker to ${project}…`, "project", { form: "new tracker", project });
export const editTrackers = (project: string) => opens(`Change the trackers of ${project}…`, "project", { form: "trackers", project });

// readIssues reads the trackers of a project now.
export const readIssues = (project: string): Command => ({
  id: "read issues " + project, name: `Read the issues of ${project} now`, hint: "issues",
  run: () => void change(`The issues of ${project} will be read`, () => dataOf(api.POST("/api/v1/projects/{project}/issues/read", { params: { path: { project } } }))),
});

// importIssue creates the task of an issue. Without a tracker, the server chooses it.
export async function importIssue(project: string, issue: string, tracker = ""): Promise<boolean> {
  const made = await change("", () => dataOf(api.POST("/api/v1/projects/{project}/issues/import", { params: { path: { project } }, body: { issues: [issue], ...(tracker ? { tracker } : {}) } })));
  for (const t of made?.tasks ?? []) say(`${t.key} is the task of ${issue}`);
  return made !== undefined;
}

// issueCommands are what a person can do with an issue.
export function issueCommands(project: string, i: Issue): { import?: Command; accept?: Command } {
  const command = (verb: string, name: string, run: () => void): Command => ({ id: `${verb} issue ${project} ${i.tracker} ${i.issue}`, name, hint: "issues", run });
  const accept = () => change(`The text of ${i.name} is accepted`, () => dataOf(api.POST("/api/v1/projects/{project}/issues/accept", { params: { path: { project } }, body: { tracker: i.tracker, issue: i.issue } })));
  return {
    ...(i.can?.includes("import") ? { import: command("import", `Import ${i.name} ${i.title}`, () => void importIssue(project, i.name, i.tracker)) } : {}),
    ...(i.can?.includes("accept") ? { accept: command("accept", `Accept the text of ${i.name} ${i.title}`, () => void accept()) } : {}),
  };
}

// trackCommands resume the tracks of a project that were paused because of a problem.
export function trackCommands(p: Project): Command[] {
  const resume = (track: string) => change(`${track} was resumed`, () => dataOf(api.POST("/api/v1/projects/{project}/resume", { params: { path: { project: p.prefix } }, body: { track } })));
  return Object.keys(p.paused_tracks ?? {}).map((t) => ({ id: `resume ${p.prefix} ${t}`, name: `Resume track ${t} of ${p.prefix}`, hint: "project", run: () => void resume(t) }));
}

// projectCommands are what a person can do with a project as a whole.
export function projectCommands(p: Project): Command[] {
  const params = { path: { project: p.prefix } };
  const command = (verb: string, name: string, done: string, send: () => Promise<{ data?: unknown }>): Command => ({ id: `${verb} ${p.prefix}`, name, hint: "project", run: () => void change(done, () => dataOf(send())) });
  return offered(p, {
    reload: command("reload", "Reload coppice.yaml", `Reloaded the configuration of ${p.prefix}`, () => api.POST("/api/v1/projects", { body: { path: p.path, edits: true } })),
    resume: command("resume", "Resume", `${p.prefix} was resumed`, () => api.POST("/api/v1/projects/{project}/resume", { params, body: {} })),
    pause: command("pause", "Pause", `${p.prefix} was paused`, () => api.POST("/api/v1/projects/{project}/pause", { params, body: {} })),
  });
}

// offered returns the commands for what can be requested of a project, in the server's order.
const offered = (p: Project, by: Partial<Record<NonNullable<Project["can"]>[number], Command>>) => (p.can ?? []).flatMap((c) => by[c] ?? []);

export const removeProject = (p: Project) => opens(`Remove project ${p.prefix}…`, "project", { form: "remove project", project: p.prefix });
export const renameProject = (p: Project) => opens(`Rename project ${p.prefix}…`, "project", { form: "rename project", project: p.prefix });
export const addFeature = (project: string) => opens(`Add a feature to ${project}…`, "feature", { form: "feature", project });

export const newNote = (project: string) => opens(`Write a note in ${project}…`, "note", { form: "note", project });
export const editNote = (n: Note) => opens(`Open the note ${n.key}${n.task ? ` of ${n.task}` : ""}…`, "note", { form: "note", project: n.project, task: n.task, note: n.key });

// newFlow and newSchedule open their forms for a project, or for any one.
export const newFlow = (project: string) => (project ? opens(`New flow in ${project}…`, "flow", { form: "new flow", project }) : commands.newFlow);
export const newSchedule = (project: string) => (project ? opens(`New schedule in ${project}…`, "schedule", { form: "new schedule", project }) : commands.newSchedule);

// editDocument opens a document of a flow.
export const editDocument = (task: string, name: string) => opens(`Edit the document ${name} of ${task}…`, "flow", { form: "document", task, name });

export const newTemplate = (project: string) => opens(`Write a template in ${project}…`, "template", { form: "template", project });
export const editTemplate = (project: string, name: string) => opens(`Edit the template ${name} of ${project}…`, "template", { form: "template", project, name });

// scheduleCommands are what a person can do with a schedule.
export function scheduleCommands(s: Schedule): { run: Command; pause: Command; remove: Command } {
  const { project, name } = s;
  const params = { params: { path: { project, name } } };
  const command = (verb: string, done: string, send: () => Promise<{ data?: unknown }>): Command => ({
    id: `${verb} schedule ${project} ${name}`, name: `${verb} the schedule ${name} of ${project}`, hint: "schedule", run: () => void change(`${name} ${done}`, () => dataOf(send())),
  });
  return {
    run: command("Run", "runs now", () => api.POST("/api/v1/projects/{project}/schedules/{name}/run", params)),
    pause: s.can?.includes("resume")
      ? command("Resume", "is resumed", () => api.POST("/api/v1/projects/{project}/schedules/{name}/resume", params))
      : command("Pause", "is paused", () => api.POST("/api/v1/projects/{project}/schedules/{name}/pause", params)),
    remove: opens(`Remove the schedule ${name} of ${project}…`, "schedule", { form: "remove schedule", project, name }),
  };
}

// projectForms open the forms of a project.
export function projectForms(p: Project): Command[] {
  const project = p.prefix;
  return [
    opens(`Add a track to ${project}…`, "project", { form: "new track", project }),
    opens(`Change the tracks of ${project}…`, "project", { form: "tracks", project }),
    newTracker(project), editTrackers(project),
    opens(`Change the settings of ${project}…`, "project", { form: "settings", project }),
    ...roles.map((role) => opens(`Edit the prompt of ${role} in ${project}…`, "project", { form: "prompt", project, role })),
    newNote(project),
    newTemplate(project),
    ...offered(p, { "add-feature": addFeature(project), rename: renameProject(p), remove: removeProject(p) }),
  ];
}

const ruleText = (r: Rule) => `${r.do} ${r.tool || "every tool"}${r.match ? ` on ${r.match}` : ""}`;

// ruleCommands remove the remembered permission answers of a project, in its order.
export function ruleCommands(p: Project): Command[] {
  const forget = (n: number) => change("Removed", () => dataOf(api.POST("/api/v1/projects/{project}/rules/{n}/forget", { params: { path: { project: p.prefix, n } } })));
  return (p.rules ?? []).map((r, i) => ({ id: `forget ${p.prefix} ${i}`, name: `Remove the remembered answer “${ruleText(r)}” of ${p.prefix}`, hint: "project", run: () => void forget(i + 1) }));
}

// reopenFeature retries a feature that failed and has no task.
export const reopenFeature = (project: string, id: string): Command => ({
  id: `reopen ${project} ${id}`, name: `Retry feature ${id}`, hint: "feature",
  run: () => void change(`Feature ${id} is open again`, () => dataOf(api.PATCH("/api/v1/projects/{project}/features/{id}", { params: { path: { project, id } }, body: { status: "open" } }))),
});

export const editFeature = (project: string, id: string) => opens(`Edit feature ${id}…`, "feature", { form: "feature", project, id });

// trashCommands are what a person can do with a removed workspace.
export function trashCommands(x: TrashItem): { restore?: Command; remove?: Command } {
  const restore = () => change(`The workspace of ${x.task} comes back; its page shows the folder`, () => dataOf(api.POST("/api/v1/tasks/{key}/undo", { params: { path: { key: x.task } }, body: { kind: "removal" } })));
  return {
    ...(x.restores ? { restore: { id: "restore " + x.task, name: `Restore the workspace of ${x.task}`, hint: "trash", run: () => void restore() } } : {}),
    ...(x.uses ? {} : { remove: opens(`Remove the trash of ${x.task}…`, "trash", { form: "trash", task: x.task }) }),
  };
}

// isSnoozed reports whether an entry of the inbox is hidden.
export const isSnoozed = (e: InboxEntry) => e.snoozed ?? false;

// entryName names what an entry is about.
export const entryName = (e: InboxEntry) => e.task ?? e.title;

const entryParams = (e: InboxEntry) => ({ params: { path: { id: e.id } } });

export const snooze = (e: InboxEntry, body: NewSnooze) => change(`${entryName(e)} is snoozed`, () => dataOf(api.POST("/api/v1/inbox/{id}/snooze", { ...entryParams(e), body })));

// nineTomorrow returns 9:00 of the next day, in the browser's time zone.
export function nineTomorrow(now: number): string {
  const d = new Date(now);
  d.setDate(d.getDate() + 1);
  d.setHours(9, 0, 0, 0);
  return d.toISOString();
}

// snoozeCommands hide an entry of the inbox, or show it again.
export function snoozeCommands(e: InboxEntry): Command[] {
  const hint = entryName(e);
  if (isSnoozed(e)) return [{ id: "wake", name: "Wake", hint, run: () => void change(`${hint} is back`, () => dataOf(api.DELETE("/api/v1/inbox/{id}/snooze", entryParams(e)))) }];
  if (!e.can_snooze) return [];
  return [
    { id: "hour", name: "For 1 hour", hint, run: () => void snooze(e, { for: "1h" }) },
    { id: "tomorrow", name: "Until tomorrow 9:00", hint, run: () => void snooze(e, { until: nineTomorrow(Date.now()) }) },
    { ...opens("Until an event…", hint, { form: "snooze", entry: e }), id: "event" },
  ];
}

// request sends the request of an action of an entry. Its route is not known before.
const request = (a: InboxAction, body: object) =>
  (api[a.method] as unknown as (path: string, init: object) => Promise<{ data?: unknown }>)("/api/v1" + a.route, { body });

// help runs an action of an entry.
export async function help(e: InboxEntry, a: InboxAction, text = ""): Promise<boolean> {
  const verb = actions.find((x) => x.id === a.verb);
  const body = { ...(a.body as object | undefined), ...(a.text && text ? { [a.text]: text } : {}) };
  return (await change(verb?.done ? `${entryName(e)} ${verb.done}` : `${a.label}: ${entryName(e)}`, () => dataOf(request(a, body)))) !== undefined;
}

// entryCommands are the actions of an entry. The server says which of them need a form.
export function entryCommands(e: InboxEntry): Command[] {
  const run = (a: InboxAction) => () => (a.form ? openDialog({ form: "entry", entry: e, action: a }) : void help(e, a));
  return (e.actions ?? []).map((a) => ({ id: `${e.id} ${a.label}`, name: a.label, hint: a.command, run: run(a) }));
}
