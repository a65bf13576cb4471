// Every key of a project's coppice.yaml with its value, its source and its
// meaning. Each key can be changed, or set back to its default.
import { useId, useState, type FormEvent } from "react";
import { changed, useAnswer } from "../api/cache";
import { api, dataOf, problemOf } from "../api/client";
import { queries } from "../api/queries";
import type { ConfigChange, ConfigKey, Problem } from "../api/schema";
import { bounds, bySection, choices, read, written } from "../lib/config";
import { Loading, Mono, ProblemBox } from "../ui/parts";
import { say } from "../ui/toast";

export function Config({ project }: { project: string }) {
  const config = useAnswer(queries.config(project));
  const [filter, setFilter] = useState("");
  const [only, setOnly] = useState(false);
  if (!config.data) return config.problem ? <ProblemBox problem={config.problem} again={config.again} /> : <Loading what="the keys" />;
  const c = config.data;
  const words = filter.trim().toLowerCase();
  const keys = (c.keys ?? []).filter((k) => (!only || (k.line ?? 0) > 0) && (words === "" ? !k.form : `${k.key} ${k.text} ${k.doc}`.toLowerCase().includes(words)));
  return (
    <div className="config">
      <p className="muted">{c.exists ? <>In <code>{c.path}</code>. A change is checked, then written there; commit it with your code.</> : <><code>{c.path}</code> does not exist yet; all keys have their defaults. The first change creates it.</>}</p>
      <div className="toolbar">
        <input type="search" placeholder="Find a key" aria-label={`Find a key of ${project}`} value={filter} onChange={(e) => setFilter(e.target.value)} />
        <label className="check"><input type="checkbox" checked={only} onChange={(e) => setOnly(e.target.checked)} /> only keys in the file</label>
        <span className="muted">{keys.length} of {(c.keys ?? []).length}</span>
      </div>
      {config.problem && <ProblemBox problem={config.problem} again={config.again} />}
      {bySection(keys).map(([name, list]) => (
        <section key={name} aria-label={name}>
          <h4>{name}</h4>
          <ul className="keys-list">{list.map((k) => <KeyView key={k.key} k={k} send={(change) => dataOf(api.PATCH("/api/v1/projects/{project}/config", { params: { path: { project } }, body: { ...change, revision: c.revision } }))} />)}</ul>
        </section>
      ))}
      {keys.length === 0 && <p className="muted">No matching keys.</p>}
      {(c.server?.length ?? 0) > 0 && words === "" && !only && (
        <section aria-label="The server">
          <h4>the server</h4>
          <p className="muted">The flags of <code>coppice serve</code>. To change them, restart it with other flags.</p>
          <ul className="keys-list">
            {c.server!.map((s) => <li key={s.name}><div className="key-head"><code>--{s.name}</code> <span className="tag">{s.source}</span></div><code className="value">{s.value || "(none)"}</code><p className="muted">{s.doc}</p></li>)}
          </ul>
        </section>
      )}
    </div>
  );
}

// KeyView shows a key, which can be changed. send asks the server to change it.
export function KeyView({ k, send }: { k: ConfigKey; send: (change: ConfigChange) => Promise<unknown> }) {
  const [open, setOpen] = useState(false);
  const set = (k.line ?? 0) > 0;
  return (
    <li data-key={k.key}>
      <div className="key-head">
        <code>{k.key}</code>
        {!k.form && <span className={"tag" + (set ? " good" : "")}>{set ? `line ${k.line}` : "default"}</span>}
        <small className="muted">{k.type}{bounds(k) && `, ${bounds(k)}`}</small>
        <span className="grow" />
        {!k.form && <button className="button small" aria-expanded={open} aria-label={`${open ? "Cancel" : "Change"} ${k.key}`} onClick={() => setOpen(!open)}>{open ? "Cancel" : "Change"}</button>}
      </div>
      {!k.form && !open && <code className="value">{k.text}</code>}
      {open && <Edit k={k} change={send} onDone={() => setOpen(false)} />}
      <p className="muted"><Mono text={k.doc} />{set && k.default && <> Without it: <code>{k.default}</code>.</>}{k.example && !set && <> Example: <code>{k.example}</code>.</>}</p>
    </li>
  );
}

function Edit({ k, change, onDone }: { k: ConfigKey; change: (c: ConfigChange) => Promise<unknown>; onDone: () => void }) {
  const id = useId();
  const [text, setText] = useState(() => written(k) || (choices(k)[0] ?? ""));
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const send = async (to: Pick<ConfigChange, "value" | "unset">, done: string) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await change({ key: k.key, ...to });
      changed();
      say(done);
      onDone();
    } catch (err) {
      setProblem(problemOf(err));
    } finally {
      setBusy(false);
    }
  };
  const submit = (e: FormEvent) => {
    e.preventDefault();
    let value: unknown;
    try {
      value = read(k, text);
    } catch (err) {
      setProblem({ code: "invalid", title: "", status: 0, detail: err instanceof Error ? err.message : String(err) });
      return;
    }
    void send({ value }, `${k.key} is changed`);
  };
  const field = { id, value: text, "aria-invalid": problem ? true : undefined, "aria-describedby": problem ? id + "-problem" : undefined };
  const { shape } = k;
  return (
    <form className="key-edit" onSubmit={submit} aria-label={`Change ${k.key}`}>
      <label htmlFor={id} className="sr-only">{k.key}</label>
      {shape === "choice" || shape === "switch" ? <select {...field} onChange={(e) => setText(e.target.value)}>{choices(k).map((o) => <option key={o}>{o}</option>)}</select>
        : shape === "lines" || shape === "json" ? <textarea {...field} rows={Math.min(12, text.split("\n").length + 1)} autoFocus spellCheck={false} placeholder={shape === "lines" ? "one on each line" : "JSON"} onChange={(e) => setText(e.target.value)} />
        : <input {...field} autoFocus inputMode={shape === "number" ? "numeric" : undefined} autoComplete="off" spellCheck={false} onChange={(e) => setText(e.target.value)} />}
      {problem && <div id={id + "-problem"}><ProblemBox problem={{ ...problem, field: undefined }} /></div>}
      <span className="options">
        <button className="button primary small" disabled={busy}>Save</button>
        {(k.line ?? 0) > 0 && <button type="button" className="button small" disabled={busy} onClick={() => void send({ unset: true }, `${k.key} has its default again`)}>Use the default</button>}
      </span>
    </form>
  );
}
