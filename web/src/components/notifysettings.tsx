// The notifiers, routes and other keys below notify of the user's config.yaml, as forms.
// The server says which fields a kind has, checks them, and shows what it would write.
import { useId, useMemo, useState, type FormEvent } from "react";
import { change as act, useAnswer } from "../api/cache";
import { api, dataOf } from "../api/client";
import { queries } from "../api/queries";
import type { ConfigChange, ConfigKey, NotifySettings, Problem } from "../api/schema";
import { choices } from "../lib/config";
import { plural } from "../lib/format";
import { addRoute, kindKey, nameOf, needsText, notifierKeys, notifierTexts, routeKeys, routesOf, routeValues, singleKeys, valuesOf, withoutRoutes, type Texts } from "../lib/notify";
import { wrongRow } from "../lib/tracks";
import { Dialog } from "../ui/dialog";
import { FormProblem, Loading, Mono, ProblemBox } from "../ui/parts";
import { say } from "../ui/toast";
import { KeyView } from "./config";
import { Preview, useDryRun } from "./dryrun";

// What of the settings is edited: a notifier with a name, a new one, or the rest.
export type Part = { notifier: string } | "new" | "routes" | "other";

const patch = (body: ConfigChange) => dataOf(api.PATCH("/api/v1/notifiers/settings", { body }));

export function NotifyDialog({ part, onClose }: { part: Part; onClose: () => void }) {
  const { data, problem, again } = useAnswer({ ...queries.notifySettings(), gcTime: 0 });
  const title = part === "routes" ? "Routes" : part === "other" ? "Pause and address" : part === "new" ? "New notifier" : `Notifier ${part.notifier}`;
  return (
    <Dialog title={title} onClose={onClose} className="wide">
      {!data ? (problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the settings" />)
        : part === "routes" ? <RoutesForm s={data} onClose={onClose} />
        : part === "other" ? <ul className="keys-list">{singleKeys(data).map((k) => <KeyView key={k.key} k={k} send={(c) => patch({ ...c, revision: data.revision })} />)}</ul>
        : <NotifierForm s={data} name={part === "new" ? "" : part.notifier} onClose={onClose} />}
    </Dialog>
  );
}

interface FieldProps {
  k: ConfigKey;
  text: string;
  set: (to: string) => void;
  label?: string;
  problem?: Problem; // of this field
  secrets?: string[]; // the names that it can have
  inline?: boolean; // a list is written with commas
}

function Field({ k, text, set, label, problem, secrets, inline }: FieldProps) {
  const id = useId();
  const { shape } = k;
  const about = { id, value: text, "aria-invalid": problem ? true : undefined, "aria-describedby": id + "about", title: k.doc };
  const rows = Math.min(6, text.split("\n").length + 1);
  const name = label ?? nameOf(k);
  return (
    <div className="field">
      <label htmlFor={id}>{name.charAt(0).toUpperCase() + name.slice(1)}</label>
      {shape === "choice" || shape === "switch" ? <select {...about} onChange={(e) => set(e.target.value)}>{choices(k).map((o) => <option key={o}>{o}</option>)}</select>
        : shape === "lines" && !inline ? <textarea {...about} rows={rows} spellCheck={false} placeholder="one on each line" onChange={(e) => set(e.target.value)} />
        : <input {...about} autoComplete="off" spellCheck={false} placeholder={inline ? k.default.replace(/^\(|\)$/g, "") : undefined} list={secrets && id + "names"} onChange={(e) => set(e.target.value)} />}
      {secrets && <datalist id={id + "names"}>{secrets.map((n) => <option key={n} value={n} />)}</datalist>}
      <div id={id + "about"}>{problem ? <FormProblem problem={{ ...problem, field: undefined }} /> : !inline && <small><Mono text={k.doc} /></small>}</div>
    </div>
  );
}

function NotifierForm({ s, name: known, onClose }: { s: NotifySettings; name: string; onClose: () => void }) {
  const id = useId();
  const [revision] = useState(s.revision);
  const [name, setName] = useState(known);
  const [texts, setTexts] = useState<Texts>(() => (known ? notifierTexts(s, known) : { kind: s.kinds?.[0]?.name ?? "" }));
  const [saved, setSaved] = useState<NotifySettings>();
  const kind = s.kinds?.find((k) => k.name === texts.kind);
  const keys = notifierKeys(s, kind);
  const { preview, problem, busy, run, reset } = useDryRun(async (c: Pick<ConfigChange, "value" | "unset">, dry) => {
    const answer = await patch({ key: `notify.notifiers.${name.trim()}`, revision, dry_run: dry, ...c });
    if (!dry && !c.unset) setSaved(answer);
    return answer;
  }, (c) => {
    say(`The notifier ${name} was ${c.unset ? "removed" : "saved"}`);
    if (c.unset) onClose();
  });
  const edit = (to: Texts) => {
    setTexts({ ...texts, ...to });
    reset();
  };
  const submit = (e: FormEvent) => {
    e.preventDefault();
    void run({ value: { kind: texts.kind, ...valuesOf(keys, texts) } }, true);
  };
  if (saved) return <Saved s={saved} name={name.trim()} onClose={onClose} />;
  const wrong = /^notify\.notifiers\.[^.]+\.(\w+)/.exec(problem?.field ?? "")?.[1];
  const of = (k: ConfigKey) => ({ k, text: texts[nameOf(k)] ?? "", set: (to: string) => edit({ [nameOf(k)]: to }), problem: wrong === nameOf(k) ? problem : undefined });
  const shown = wrong === "kind" || keys.some((k) => nameOf(k) === wrong);
  const all = kindKey(s);
  const removes = preview?.change.unset;
  return (
    <form className="form" aria-label={known ? `Notifier ${known}` : "New notifier"} onSubmit={submit} noValidate>
      {!known && (
        <div className="field">
          <label htmlFor={id}>Name</label>
          <input id={id} value={name} required autoComplete="off" spellCheck={false} placeholder="phone" onChange={(e) => { setName(e.target.value); reset(); }} />
          <small>Routes and <code>notify</code> in coppice.yaml name it</small>
        </div>
      )}
      {all && <Field {...of(all)} />}
      {kind && needsText(kind) && <p className="muted">Needs {needsText(kind)}.</p>}
      {keys.map((k) => <Field key={texts.kind + k.key} {...of(k)} secrets={k.secret ? (s.secrets ?? []) : undefined} />)}
      <p className="muted">
        Store tokens and passwords with <code>coppice secret set NAME</code>, and write <code>{"${secret:NAME}"}</code>, or only the name where the field says so.
        {kind?.secret && <> The address of a {kind.name} notifier is a secret, too.</>} {(s.secrets?.length ?? 0) > 0 && <>Stored: {s.secrets!.join(", ")}.</>}
      </p>
      <Missing s={s} name={known} />
      {preview && <Preview diff={preview.diff} what="file" />}
      <footer className="form-end">
        {problem && !shown && <FormProblem problem={{ ...problem, field: undefined }} />}
        {preview?.diff
          ? <button type="button" className={"button " + (removes ? "danger" : "primary")} disabled={busy} onClick={() => void run(preview.change, false)}>{removes ? "Remove the notifier" : "Save"}</button>
          : <button className="button primary" disabled={busy || !name.trim()}>Show the change</button>}
        <button type="button" className="button" onClick={onClose}>Cancel</button>
        {known && !removes && <button type="button" className="button danger" disabled={busy} onClick={() => void run({ unset: true }, true)}>Remove…</button>}
      </footer>
    </form>
  );
}

function Missing({ s, name }: { s: NotifySettings; name: string }) {
  return (s.missing?.[name] ?? []).map((m) => <p key={m} className="bad-text">The secret {m} does not exist. Run <code>coppice secret set {m}</code>.</p>);
}

function Saved({ s, name, onClose }: { s: NotifySettings; name: string; onClose: () => void }) {
  const test = useMemo(() => testOf([name], `Test the notifier ${name}`), [name]);
  return (
    <div className="form">
      <p role="status">The notifier {name} was saved.</p>
      <Missing s={s} name={name} />
      <footer className="form-end">
        <button className="button primary" onClick={test.run}>Test</button>
        <button className="button" onClick={onClose}>Done</button>
      </footer>
    </div>
  );
}

// testOf returns a command that tests notifiers, or all of them.
export function testOf(names: string[], name: string, count = names.length) {
  return {
    id: `test notifier ${names.join(" ")}`, name, hint: "notifications",
    run: () => void act(`${plural(count, "test message")} in progress`, () => dataOf(api.POST("/api/v1/notifiers/test", { body: names.length > 0 ? { notifiers: names } : {} }))),
  };
}

function RoutesForm({ s, onClose }: { s: NotifySettings; onClose: () => void }) {
  const [revision] = useState(s.revision);
  const [rows, setRows] = useState(() => routesOf(s));
  const keys = routeKeys(s);
  const { preview, problem, busy, run, reset } = useDryRun((list: typeof rows, dry) =>
    patch({ key: "notify.routes", revision, dry_run: dry, ...(list.length > 0 ? { value: routeValues(s, list) } : { unset: true }) }), () => {
    say("The routes were saved");
    onClose();
  });
  const edit = (next: typeof rows) => {
    setRows(next);
    reset();
  };
  const wrong = wrongRow(problem, "notify.routes");
  return (
    <form className="form" aria-label="Routes" noValidate onSubmit={(e) => { e.preventDefault(); void run(rows, true); }}>
      <p className="muted">Each route that matches a notice sends it to its notifiers. Separate several names by commas. Without routes: {withoutRoutes(s)}.</p>
      <ol className="keys-list">
        {rows.map((r, i) => (
          <li key={r.id} aria-label={`Route ${i + 1}`}>
            <div className="form-row">
              {keys.map((k) => (
                <Field key={k.key} k={k} inline text={r.texts[nameOf(k)] ?? ""} problem={wrong?.row === i && wrong.field === nameOf(k) ? problem : undefined}
                  set={(to) => edit(rows.map((x) => (x.id === r.id ? { ...x, texts: { ...x.texts, [nameOf(k)]: to } } : x)))} />
              ))}
            </div>
            {problem && wrong?.row === i && !keys.some((k) => nameOf(k) === wrong.field) && <FormProblem problem={{ ...problem, field: undefined }} />}
            <div className="key-head"><span className="grow" /><button type="button" className="button small danger" aria-label={`Remove route ${i + 1}`} onClick={() => edit(rows.filter((x) => x.id !== r.id))}>Remove</button></div>
          </li>
        ))}
      </ol>
      <button type="button" className="button small" onClick={() => edit(addRoute(rows))}>Add a route</button>
      <dl>{keys.map((k) => <div key={k.key}><dt><code>{nameOf(k)}</code></dt><dd className="muted"><Mono text={k.doc} /></dd></div>)}</dl>
      {preview && <Preview diff={preview.diff} what="file" />}
      <footer className="form-end">
        {problem && !wrong && <FormProblem problem={{ ...problem, field: undefined }} />}
        {preview?.diff ? <button type="button" className="button primary" disabled={busy} onClick={() => void run(rows, false)}>Save</button> : <button className="button primary" disabled={busy}>Show the change</button>}
        <button type="button" className="button" onClick={onClose}>Cancel</button>
      </footer>
    </form>
  );
}
