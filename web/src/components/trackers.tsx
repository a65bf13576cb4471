// The trackers of a project as a form. The server checks the list, and shows what it
// would write into coppice.yaml before it does.
import { useId, useState, type FormEvent } from "react";
import { useAnswer } from "../api/cache";
import { api, dataOf } from "../api/client";
import { queries } from "../api/queries";
import type { Problem, ProjectConfig, TrackerPolicy } from "../api/schema";
import { addRow, changeOf, keyOf, rowsOf, unset, wrongField, type Row } from "../lib/trackers";
import { FormProblem, Loading, ProblemBox } from "../ui/parts";
import { say } from "../ui/toast";
import { Preview, useDryRun } from "./dryrun";

// With add, the list starts with a new tracker at its end.
export function Trackers({ project, add, onDone }: { project: string; add?: boolean; onDone?: () => void }) {
  const config = useAnswer(queries.config(project));
  const [saved, setSaved] = useState<{ n: number; c?: ProjectConfig }>({ n: 0 }); // what the cache has can be older than the answer
  if (!config.data) return config.problem ? <ProblemBox problem={config.problem} again={config.again} /> : <Loading what="the trackers" />;
  return <TrackersForm key={saved.n} project={project} c={saved.c ?? config.data} add={add} onDone={(c) => (onDone ? onDone() : setSaved({ n: saved.n + 1, c }))} />;
}

export function TrackersForm({ project, c, add, onDone }: { project: string; c: ProjectConfig; add?: boolean; onDone: (saved?: ProjectConfig) => void }) {
  const [revision] = useState(c.revision); // of the list that is edited
  const [rows, setRows] = useState(() => {
    const now = rowsOf((c.keys?.find((k) => k.key === "tracker")?.value as TrackerPolicy[] | undefined) ?? []);
    return add ? addRow(now) : now;
  });
  const { preview, problem, busy, run, reset } = useDryRun((rows: Row[], dry) => {
    const body = { key: "tracker", ...changeOf(c, rows), revision, dry_run: dry };
    return dataOf(api.PATCH("/api/v1/projects/{project}/config", { params: { path: { project } }, body }));
  }, (_, answer) => {
    say(`The trackers of ${project} are changed`);
    onDone(answer);
  });
  const edit = (next: Row[]) => {
    setRows(next);
    reset();
  };
  const submit = (e: FormEvent) => {
    e.preventDefault();
    void run(rows, true);
  };
  const wrong = wrongField(problem);
  const shown = wrong !== undefined && wrong.row < rows.length;
  return (
    <form className="form" aria-label={`Trackers of ${project}`} onSubmit={submit} noValidate>
      <p className="muted">Issues of a tracker become tasks: see <code>docs/trackers.md</code>. An empty field has its default. Store a token with <code>coppice secret set NAME</code>.</p>
      {rows.length > 0 && (
        <ol className="keys-list">
          {rows.map((r, i) => (
            <TrackerRow key={r.id} r={r} n={i + 1} c={c} problem={wrong?.row === i ? problem : undefined} field={wrong?.row === i ? wrong.field : ""}
              set={(path, value) => edit(rows.map((x) => (x.id === r.id ? { ...x, values: { ...x.values, [path]: value } } : x)))}
              remove={() => edit(rows.filter((x) => x.id !== r.id))} />
          ))}
        </ol>
      )}
      <button type="button" className="button small" onClick={() => edit(addRow(rows))}>Add a tracker</button>
      {problem && !shown && <FormProblem problem={{ ...problem, field: undefined }} />}
      {preview && <Preview diff={preview.diff} what="file" />}
      <footer className="form-end">
        {preview?.diff ? <button type="button" className="button primary" disabled={busy} onClick={() => void run(rows, false)}>Save</button> : <button className="button primary" disabled={busy}>Show the change</button>}
        <button type="button" className="button" onClick={() => onDone()}>Cancel</button>
      </footer>
    </form>
  );
}

interface RowProps {
  r: Row;
  n: number; // its position, from 1
  c: ProjectConfig;
  problem?: Problem; // of this tracker
  field: string; // that the problem is about; "" for the whole tracker
  set: (path: string, value: string) => void;
  remove: () => void;
}

// The fields by heading, with the names of their keys.
const parts: [string, [string, string][]][] = [
  ["Where the issues are", [["kind", "Kind"], ["repo", "Repository"], ["team", "Team"], ["url", "Address of the API"], ["token", "Secret with the token"], ["name", "Name"]]],
  ["Which issues become tasks", [["import.labels", "Labels"], ["import.assignee", "Assignee"], ["import.query", "Query"], ["active", "Most active tasks"], ["template", "Template"], ["authors", "Authors"], ["every", "Time between reads"]]],
];
const writes: [string, string][] = [["write.comment", "Write a comment with the status"], ["write.close", "Close the issue when its task is done"], ["write.text", "Write the title and the description if they change in Coppice"]];
const STATUS = "write.labels";

function TrackerRow({ r, n, c, problem, field, set, remove }: RowProps) {
  const id = useId();
  const key = (path: string) => keyOf(c, path);
  const input = (path: string, label: string, doc = key(path)?.doc) => {
    const name = path.startsWith(STATUS + ".") ? STATUS : path;
    const usual = unset(c, name);
    const all = {
      id: id + path, value: r.values[path] ?? "", title: doc, "aria-invalid": field === path ? (true as const) : undefined, "aria-describedby": problem ? id + "problem" : undefined,
      onChange: (e: { target: { value: string } }) => set(path, e.target.value),
    };
    const kinds = key(path)?.one_of ?? [];
    return (
      <div key={path} className="field">
        <label htmlFor={id + path}>{label}</label>
        {kinds.length > 0 ? <select {...all} value={r.values[path] ?? kinds[0]}>{kinds.map((o) => <option key={o}>{o}</option>)}</select>
          : key(path)?.shape === "lines" ? <textarea {...all} rows={Math.min(6, all.value.split("\n").length)} spellCheck={false} placeholder="one on each line" />
          : <input {...all} placeholder={path === name && usual && usual.length < 30 ? usual : undefined} autoComplete="off" spellCheck={false} inputMode={key(path)?.shape === "number" ? "numeric" : undefined} />}
      </div>
    );
  };
  const title = r.values.name?.trim() || `tracker ${n}`;
  return (
    <li>
      {parts.map(([head, fields]) => (
        <fieldset key={head} className="form-part">
          <legend>{head}</legend>
          <div className="form-row">{fields.map(([path, label]) => input(path, label))}</div>
        </fieldset>
      ))}
      <fieldset className="form-part">
        <legend>What Coppice writes</legend>
        {writes.map(([path, label]) => (
          <label key={path} className="check"><input type="checkbox" checked={(r.values[path] || unset(c, path)) === "true"} onChange={(e) => set(path, String(e.target.checked) === unset(c, path) ? "" : String(e.target.checked))} /> {label}</label>
        ))}
        <details>
          <summary>Labels by status</summary>
          <div className="form-row">{(key(STATUS)?.names ?? []).map((s) => input(`${STATUS}.${s}`, s, key(STATUS)?.doc))}</div>
        </details>
      </fieldset>
      {problem && <div id={id + "problem"}><FormProblem problem={{ ...problem, field: undefined }} /></div>}
      <div className="key-head"><span className="grow" /><button type="button" className="button small" aria-label={`Remove ${title}`} onClick={remove}>Remove</button></div>
    </li>
  );
}
