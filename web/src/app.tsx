// The application: the page for each address, and the parts above every page.
import { Component, lazy, Suspense, useCallback, useMemo, useState, type ReactNode } from "react";
import { useBadge } from "./components/badge";
import { Help, useKeys } from "./components/keys";
import { NewTaskDialog } from "./components/newtask";
import { Palette } from "./components/palette";
import { nextTheme, pages, Shell } from "./components/shell";
import { problemOf } from "./api/client";
import { Link, usePath } from "./router";
import { Board } from "./routes/board";
import { TaskPage } from "./routes/task";
import { prefs, setPrefs } from "./state/prefs";
import { Empty, Loading, ProblemBox } from "./ui/parts";

const routes: Record<string, React.LazyExoticComponent<() => ReactNode>> = {
  "/landing": lazy(() => import("./routes/landing")),
  "/agents": lazy(() => import("./routes/agents")),
  "/usage": lazy(() => import("./routes/usage")),
  "/graph": lazy(() => import("./routes/graph")),
  "/timeline": lazy(() => import("./routes/timeline")),
  "/search": lazy(() => import("./routes/search")),
  "/settings": lazy(() => import("./routes/settings")),
  "/health": lazy(() => import("./routes/health")),
};

// Boundary shows an error of a page as a problem. The frame stays usable.
class Boundary extends Component<{ path: string; children: ReactNode }, { err?: unknown; path: string }> {
  override state: { err?: unknown; path: string } = { path: this.props.path };

  static getDerivedStateFromError(err: unknown) {
    return { err };
  }

  static getDerivedStateFromProps(props: { path: string }, state: { path: string }) {
    return props.path === state.path ? null : { err: undefined, path: props.path };
  }

  override render() {
    if (this.state.err === undefined) return this.props.children;
    const p = problemOf(this.state.err);
    return <ProblemBox problem={{ ...p, fix: "reload the page; if it happens again, please report it with the text above" }} again={() => location.reload()} />;
  }
}

function Page({ path }: { path: string }) {
  if (path === "/") return <Board />;
  const task = /^\/tasks\/([^/]+)$/.exec(path);
  if (task) return <TaskPage key={task[1]} taskKey={decodeURIComponent(task[1]!)} />;
  const Route = routes[path];
  if (!Route) return <Empty title="Page not found"><p><Link href="/">Go to the board</Link>.</p></Empty>;
  return <Suspense fallback={<Loading what="the page" />}><Route /></Suspense>;
}

export function App() {
  const path = usePath();
  const name = pages.find((p) => p.path === path)?.name ?? path.replace(/^\/tasks\//, "");
  const needs = useBadge(name);
  const [open, setOpen] = useState<"" | "palette" | "help" | "new">("");
  const close = useCallback(() => setOpen(""), []);
  const show = useMemo(() => ({ palette: () => setOpen("palette"), help: () => setOpen("help"), create: () => setOpen("new") }), []);
  useKeys(show);
  const extra = useMemo(() => [
    { id: "new", name: "New task", hint: "n", run: show.create },
    { id: "theme", name: "Switch the theme", hint: "dark, light, system", run: () => setPrefs({ theme: nextTheme(prefs().theme) }) },
    { id: "help", name: "Keys", hint: "?", run: show.help },
  ], [show]);
  return (
    <Shell needs={needs} onPalette={show.palette} onNew={show.create} onHelp={show.help}>
      <Boundary path={path}><Page path={path} /></Boundary>
      {open === "palette" && <Palette onClose={close} extra={extra} />}
      {open === "help" && <Help onClose={close} />}
      {open === "new" && <NewTaskDialog onClose={close} />}
    </Shell>
  );
}
