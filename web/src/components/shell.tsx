// The frame of every page: navigation, the state of the connection, and what
// needs a person.
import { useEffect, useState, type ReactNode } from "react";
import { useLine } from "../api/live";
import { problemOf } from "../api/client";
import { useStatus } from "../api/cache";
import { endedStatuses, statuses } from "../api/tables";
import { plural, span, usd, useNow } from "../lib/format";
import { Link, to, usePath } from "../router";
import { usePrefs } from "../state/prefs";
import { Toasts } from "../ui/toast";
import { commands, pageList, themeName } from "./commands";

function ThemeSwitch() {
  const { theme } = usePrefs();
  return (
    <button className="button small ghost" onClick={commands.theme.run} title="Switch between dark, light and the system's choice">
      Theme: {themeName(theme)}
    </button>
  );
}

// Banner shows that the connection is lost. It ignores a short break.
function Banner() {
  const { connection, since, error } = useLine();
  const now = useNow();
  if (connection === "signed-out") {
    return (
      <div className="banner bad" role="alert">
        <strong>Signed out.</strong> Run <code>coppice login --open</code> in a terminal.
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
  const { connection } = useLine();
  const words = { live: "Live", connecting: "Connecting", lost: "No connection", "signed-out": "Signed out" };
  return <span className={"line line-" + connection} role="status">{words[connection]}</span>;
}

// The inbox has a separate mark.
const open = statuses.filter((s) => !endedStatuses.includes(s) && s !== "needs you");

// Counts shows how many tasks are open, by status.
function Counts() {
  const counts = useStatus((s) => s.counts) ?? {};
  const some = open.filter((s) => counts[s]);
  if (some.length === 0) return null;
  return <span className="counts" aria-label="Open tasks">{some.map((s) => <Link key={s} href={to("/", { status: s })}>{counts[s]} {s}</Link>)}</span>;
}

// Spend shows what was spent today, with the budget if there is one.
function Spend() {
  const spent = useStatus((s) => ({ today: s.today_usd, day: s.day_usd, near: s.near_day, projects: (s.projects ?? []).map(({ prefix, today_usd, day_usd }) => ({ prefix, today_usd, day_usd })) }));
  if (!spent) return null;
  const { today, day, near } = spent;
  const each = spent.projects.map((p) => `${p.prefix}: ${usd(p.today_usd)}${p.day_usd ? ` of ${usd(p.day_usd)}` : ""}`);
  return (
    <Link href="/usage" className={"spend" + (near ? " warn-text" : "")} title={["Spent since 00:00 UTC", ...each].join("\n")}>
      {usd(today)}{day ? ` of ${usd(day)}` : ""} <small>today</small>
    </Link>
  );
}

export function Shell({ needs, children }: { needs: number; children: ReactNode }) {
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
        {needs > 0 && <Link href="/inbox" className="needs-pill">{needs} need{needs === 1 ? "s" : ""} you</Link>}
        <Counts />
        <span className="grow" />
        <Spend />
        <ConnectionState />
        <button className="button palette-button" onClick={commands.palette.run}>Search or run… <kbd>Ctrl K</kbd></button>
        <Link href="/help" className="help-link" aria-label="Help" title="Help">?</Link>
        <button className="button primary" onClick={commands.create.run}>New task</button>
      </header>
      <nav className={"side" + (open ? " open" : "")} aria-label="Pages">
        {pageList.map((p) => (
          <Link key={p.path} href={p.path} aria-current={p.path === path ? "page" : undefined}>
            <svg viewBox="0 0 24 24" aria-hidden="true"><path d={p.icon} /></svg>
            {p.name}
            {p.path === "/inbox" && needs > 0 && <span className="nav-count" aria-label={plural(needs, "entry", "entries")}>{needs}</span>}
          </Link>
        ))}
        <span className="grow" />
        <Spend />
        <ThemeSwitch />
        <button className="button small ghost" onClick={commands.help.run}>Keys <kbd>?</kbd></button>
      </nav>
      <main id="main" tabIndex={-1}>
        <Banner />
        {children}
      </main>
      <Toasts />
    </div>
  );
}
