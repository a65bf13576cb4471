// The application: the page for each address, and the parts above every page.
import { Component, lazy, Suspense, type ReactNode } from "react";
import { usePresence } from "./components/presence";
import { useBadge } from "./components/badge";
import { Dialogs } from "./components/dialogs";
import { useKeys } from "./components/keys";
import { pageList } from "./components/commands";
import { Shell } from "./components/shell";
import { problemOf } from "./api/client";
import { Link, usePath } from "./router";
import { Board } from "./routes/board";
import { TaskPage } from "./routes/task";
import { Empty, Loading, ProblemBox } from "./ui/parts";

const routes: Record<string, React.LazyExoticComponent<() => ReactNode>> = {
  "/inbox": lazy(() => import("./routes/inbox")),
  "/groups": lazy(() => import("./routes/groups")),
  "/flows": lazy(() => import("./routes/flows")),
  "/schedules": lazy(() => import("./routes/schedules")),
  "/templates": lazy(() => import("./routes/templates")),
  "/landing": lazy(() => import("./routes/landing")),
  "/issues": lazy(() => import("./routes/issues")),
  "/notifications": lazy(() => import("./routes/notifications")),
  "/reactions": lazy(() => import("./routes/reactions")),
  "/locks": lazy(() => import("./routes/locks")),
  "/features": lazy(() => import("./routes/features")),
  "/notes": lazy(() => import("./routes/notes")),
  "/agents": lazy(() => import("./routes/agents")),
  "/usage": lazy(() => import("./routes/usage")),
  "/graph": lazy(() => import("./routes/graph")),
  "/timeline": lazy(() => import("./routes/timeline")),
  "/search": lazy(() => import("./routes/search")),
  "/settings": lazy(() => import("./routes/settings")),
  "/health": lazy(() => import("./routes/health")),
  "/help": lazy(() => import("./routes/help")),
};

const ReviewPage = lazy(() => import("./routes/review"));
const FlowPage = lazy(() => import("./routes/flow"));
const GroupPage = lazy(() => import("./routes/group"));

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
  const review = /^\/tasks\/([^/]+)\/review$/.exec(path);
  if (review) return <Suspense fallback={<Loading what="the review" />}><ReviewPage key={review[1]} taskKey={decodeURIComponent(review[1]!)} /></Suspense>;
  const group = /^\/groups\/([^/]+)$/.exec(path);
  if (group) return <Suspense fallback={<Loading what="the page" />}><GroupPage key={group[1]} id={decodeURIComponent(group[1]!)} /></Suspense>;
  const flow = /^\/flows\/([^/]+)$/.exec(path);
  if (flow) return <Suspense fallback={<Loading what="the page" />}><FlowPage key={flow[1]} flowKey={decodeURIComponent(flow[1]!)} /></Suspense>;
  const Route = routes[path];
  if (!Route) return <Empty title="Page not found"><p><Link href="/">Go to the board</Link>.</p></Empty>;
  return <Suspense fallback={<Loading what="the page" />}><Route /></Suspense>;
}

export function App() {
  const path = usePath();
  const name = pageList.find((p) => p.path === path)?.name ?? path.replace(/^\/tasks\//, "").replace(/^\/groups\//, "Group ").replace(/^\/flows\//, "Flow ");
  const needs = useBadge(name);
  useKeys();
  usePresence();
  return (
    <Shell needs={needs}>
      <Boundary path={path}><Page path={path} /></Boundary>
      <Dialogs />
    </Shell>
  );
}
