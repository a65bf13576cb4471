// Everything that can be run from any page. The palette, the keys and the
// buttons of the frame and of Settings run the same commands.
import { change } from "../api/cache";
import { api, dataOf } from "../api/client";
import type { Project } from "../api/schema";
import { navigate, type Page } from "../router";
import { closeDialog, openDialog } from "../state/dialog";
import { prefs, setPrefs, type Theme } from "../state/prefs";
import { say } from "../ui/toast";

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
  { path: "/landing", name: "Landing", key: "l", icon: "M12 3v12m-5-5 5 5 5-5M4 20h16" },
  { path: "/graph", name: "Graph", key: "r", icon: "M6 4h4v4H6zM14 10h4v4h-4zM6 16h4v4H6zM10 6h4v6M10 18h4v-6" },
  { path: "/features", name: "Features", key: "f", icon: "M9 6h11M9 12h11M9 18h11M4 6h1M4 12h1M4 18h1" },
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

export const commands = {
  palette: { id: "palette", name: "Search or run", hint: "Ctrl K", run: () => openDialog("palette") },
  create: { id: "new", name: "New task", hint: "n", key: "n", run: () => openDialog("new") },
  help: { id: "help", name: "Keys", hint: "?", key: "?", run: () => openDialog("help") },
  theme: { id: "theme", name: "Switch the theme", hint: "dark, light, system", run: () => setPrefs({ theme: themes[(themes.indexOf(prefs().theme) + 1) % themes.length]! }) },
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

// trackCommands resume the tracks of a project that were paused because of a problem.
export function trackCommands(p: Project): Command[] {
  const resume = (track: string) => change(`${track} was resumed`, () => dataOf(api.POST("/api/v1/projects/{project}/resume", { params: { path: { project: p.prefix } }, body: { track } })));
  return Object.keys(p.paused_tracks ?? {}).map((t) => ({ id: `resume ${p.prefix} ${t}`, name: `Resume track ${t}`, hint: "project", run: () => void resume(t) }));
}

// projectCommands are what a person can do with a project as a whole.
export function projectCommands(p: Project): Command[] {
  const params = { path: { project: p.prefix } };
  const pause: Command = p.paused_at
    ? { id: "resume " + p.prefix, name: "Resume", hint: "project", run: () => void change(`${p.prefix} was resumed`, () => dataOf(api.POST("/api/v1/projects/{project}/resume", { params, body: {} }))) }
    : { id: "pause " + p.prefix, name: "Pause", hint: "project", run: () => void change(`${p.prefix} was paused`, () => dataOf(api.POST("/api/v1/projects/{project}/pause", { params, body: {} }))) };
  return [
    { id: "reload " + p.prefix, name: "Reload coppice.yaml", hint: "project", run: () => void change(`Reloaded the configuration of ${p.prefix}`, () => dataOf(api.POST("/api/v1/projects", { body: { path: p.path, edits: true } }))) },
    pause,
  ];
}
