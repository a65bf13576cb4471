// Small components that every page uses.
import { useEffect, useRef, useState, type ReactNode } from "react";
import type { Problem } from "../api/schema";

// Mono shows `words between backquotes` as code.
export function Mono({ text }: { text: string }) {
  return <>{text.split("`").map((part, i) => (i % 2 ? <code key={i}>{part}</code> : part))}</>;
}

export function ProblemBox({ problem, again }: { problem: Problem; again?: () => void }) {
  return (
    <div className="problem" role="alert">
      <div>
        <span className="problem-code">{problem.code}</span>
        <strong><Mono text={problem.field ? `${problem.field}: ${problem.detail}` : problem.detail} /></strong>
      </div>
      {problem.fix && <p><Mono text={problem.fix} /></p>}
      {again && <button className="button small" onClick={again}>Retry</button>}
    </div>
  );
}

// FormProblem is the problem of a form. It gets the focus, so that the browser
// scrolls to it and a screen reader reads it.
export function FormProblem({ problem }: { problem: Problem }) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => ref.current?.focus(), [problem]);
  return <div ref={ref} tabIndex={-1} className="form-problem"><ProblemBox problem={problem} /></div>;
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

// Loading does not wait silently: after 8 seconds it says what to do.
export function Loading({ what }: { what: string }) {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 8000);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="loading" role="status" aria-busy="true">
      <span className="dots" aria-hidden="true" />
      {slow ? `Still waiting for ${what}. If this takes longer, check that the server is running: coppice status.` : `Reading ${what}`}
    </div>
  );
}

const marks: Record<string, string> = {
  "needs you": "!", working: "▸", verifying: "▸", fixing: "▸", checking: "≡", landing: "↓", ready: "·", waiting: "·", failed: "✗", done: "✓", cancelled: "–",
};


// StatusBadge shows a status, in the server's words if they are more exact.
export function StatusBadge({ status, text }: { status: string; text?: string }) {
  return (
    <span className={`status s-${status.replace(" ", "-")}`}>
      <span aria-hidden="true">{marks[status] ?? "·"}</span> <span className="status-word">{text ?? status}</span>
    </span>
  );
}

// Filters are the filters of a list. On a phone they would fill the screen, so there
// they are closed until a person opens them. The first one is always visible.
export function Filters({ first, on, children }: { first?: ReactNode; on: boolean; children: ReactNode }) {
  const [open, setOpen] = useState(on);
  return (
    <div className="filters">
      {first}
      <button className="button small filters-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>Filters{on && " (on)"}</button>
      <div className={"filters-all" + (open ? " open" : "")}>{children}</div>
    </div>
  );
}

// Choice is a labelled select. With a text for all, nothing can be chosen too.
export function Choice<T extends string>({ label, value, set, options, all }: { label: string; value: T; set: (v: T) => void; options: readonly (string | { value: string; name: string })[]; all?: string }) {
  return (
    <label className="choice">
      <span>{label}</span>
      <select value={value} onChange={(e) => set(e.target.value as T)}>
        {all !== undefined && <option value="">{all}</option>}
        {options.map((o) => (typeof o === "string" ? { value: o, name: o } : o)).map((o) => <option key={o.value} value={o.value}>{o.name}</option>)}
      </select>
    </label>
  );
}

// Copy shows a text with a button that copies it. A hidden text can be a function,
// which is called when it is copied.
export function Copy({ text, label, hidden }: { label: string } & ({ text: string; hidden?: boolean } | { text: string | (() => string); hidden: true })) {
  const [done, setDone] = useState<"" | "copied" | "select and copy it yourself">("");
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(""), 2500);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = () => navigator.clipboard.writeText(typeof text === "string" ? text : text()).then(() => setDone("copied"), () => setDone("select and copy it yourself"));
  return (
    <span className="copy">
      {!hidden && typeof text === "string" && <code title={text}>{text}</code>}
      <button className="button small" onClick={() => void copy()} aria-label={label}>{done || "Copy"}</button>
    </span>
  );
}

// Outside is a link to another site. An address that is not one of the web is text:
// it could run code in the page.
export function Outside({ href = "", title, children }: { href?: string; title?: string; children: ReactNode }) {
  if (!/^https?:\/\//i.test(href)) return <span title={title}>{children}</span>;
  return <a href={href} title={title} target="_blank" rel="noreferrer">{children}</a>;
}

export function Tabs<T extends string>({ tabs, value, onChange, label }: { tabs: { id: T; name: ReactNode }[]; value: T; onChange: (id: T) => void; label: string }) {
  const move = (by: number) => {
    const i = tabs.findIndex((t) => t.id === value);
    const next = tabs[(i + by + tabs.length) % tabs.length];
    if (!next) return;
    onChange(next.id);
    document.getElementById("tab-" + label + next.id)?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label={label} onKeyDown={(e) => {
      if (e.key === "ArrowRight") move(1);
      else if (e.key === "ArrowLeft") move(-1);
    }}>
      {tabs.map((t) => (
        <button key={t.id} id={"tab-" + label + t.id} role="tab" aria-selected={t.id === value} tabIndex={t.id === value ? 0 : -1} onClick={() => onChange(t.id)}>
          {t.name}
        </button>
      ))}
    </div>
  );
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
