// The frame of every page: navigation, the state of the connection, and what
// needs a person.
import { useEffect, useState, type ReactNode } from "react";
import { useFeed } from "../api/live";
import { problemOf } from "../api/client";
import { span, useNow } from "../lib/format";
import { Link, usePath } from "../router";
import { setPrefs, usePrefs, type Theme } from "../state/prefs";
import { Toasts } from "../ui/toast";

export const pages: { path: string; name: string; key: string; icon: string }[] = [
  { path: "/", name: "Board", key: "b", icon: "M4 4h5v16H4zM10.5 4h4v10h-4zM16 4h4v13h-4z" },
  { path: "/landing", name: "Landing", key: "l", icon: "M12 3v12m-5-5 5 5 5-5M4 20h16" },
  { path: "/graph", name: "Graph", key: "r", icon: "M6 4h4v4H6zM14 10h4v4h-4zM6 16h4v4H6zM10 6h4v6M10 18h4v-6" },
  { path: "/timeline", name: "Timeline", key: "t", icon: "M4 6h9M8 12h10M6 18h6" },
  { path: "/usage", name: "Usage", key: "u", icon: "M5 20V10M12 20V4M19 20v-7" },
  { path: "/search", name: "Search", key: "s", icon: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM15.5 15.5 20 20" },
  { path: "/agents", name: "Agents", key: "a", icon: "M5 9h14v10H5zM12 5v4M9 13v2M15 13v2" },
  { path: "/settings", name: "Settings", key: "e", icon: "M4 7h10M18 7h2M4 17h2M10 17h10M14 5v4M6 15v4" },
  { path: "/health", name: "Health", key: "h", icon: "M3 12h4l3-7 4 14 3-7h4" },
];

const themes: { id: Theme; name: string }[] = [
  { id: "system", name: "System" },
  { id: "dark", name: "Dark" },
  { id: "light", name: "Light" },
];

export function nextTheme(now: Theme): Theme {
  return themes[(themes.findIndex((t) => t.id === now) + 1) % themes.length]!.id;
}

function ThemeSwitch() {
  const { theme } = usePrefs();
  return (
    <button className="button small ghost" onClick={() => setPrefs({ theme: nextTheme(theme) })} title="Switch between dark, light and the system's choice">
      Theme: {themes.find((t) => t.id === theme)?.name}
    </button>
  );
}

// Banner shows that the connection is lost. It ignores a short break.
function Banner() {
  const { connection, since, error } = useFeed();
  const now = useNow();
  if (connection === "signed-out") {
    return (
      <div className="banner bad" role="alert">
        <strong>Signed out.</strong> Run <code>coppice login</code> in a terminal and open the link it prints.
      </div>
    );
  }
  if (connection !== "lost") return null;
  const p = problemOf(error);
  return (
    <div className="banner bad" role="alert" data-connection="lost">
      <strong>Connection lost</strong> {span(now - since)} ago. This page might be out of date. {p.status > 0 ? p.detail + ". " : ""}
      Reconnecting; no event will be missed.
    </div>
  );
}

function ConnectionState() {
  const { connection } = useFeed();
  const words = { live: "Live", connecting: "Connecting", lost: "No connection", "signed-out": "Signed out" };
  return <span className={"line line-" + connection} role="status">{words[connection]}</span>;
}

export function Shell({ needs, onPalette, onNew, onHelp, children }: { needs: number; onPalette: () => void; onNew: () => void; onHelp: () => void; children: ReactNode }) {
  const path = usePath();
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  return (
    <div className="shell">
      <a className="skip" href="#main">Skip to content</a>
      <header className="top">
        <button className="button icon menu" aria-label="Menu" aria-expanded={open} onClick={() => setOpen(!open)}>☰</button>
        <Link href="/" className="brand">
          <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M12 21v-9M12 16c-4 0-6-2-6-6 4 0 6 2 6 6Zm0-3c0-4 2-7 6-8 0 5-2 8-6 8Z" /></svg>
          Coppice
        </Link>
        {needs > 0 && <Link href="/?status=needs+you" className="needs-pill">{needs} need{needs === 1 ? "s" : ""} you</Link>}
        <span className="grow" />
        <ConnectionState />
        <button className="button palette-button" onClick={onPalette}>Search or run… <kbd>Ctrl K</kbd></button>
        <button className="button primary" onClick={onNew}>New task</button>
      </header>
      <nav className={"side" + (open ? " open" : "")} aria-label="Pages">
        {pages.map((p) => (
          <Link key={p.path} href={p.path} aria-current={p.path === path ? "page" : undefined}>
            <svg viewBox="0 0 24 24" aria-hidden="true"><path d={p.icon} /></svg>
            {p.name}
          </Link>
        ))}
        <span className="grow" />
        <ThemeSwitch />
        <button className="button small ghost" onClick={onHelp}>Keys <kbd>?</kbd></button>
      </nav>
      <main id="main" tabIndex={-1}>
        <Banner />
        {children}
      </main>
      <Toasts />
    </div>
  );
}
