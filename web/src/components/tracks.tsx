// The tracks of a project as a form. The server checks the list, and shows what
// it would write into coppice.yaml before it does.
import { useId, useState, type FormEvent } from "react";
import { useAnswer } from "../api/cache";
import { api, dataOf } from "../api/client";
import { queries } from "../api/queries";
import type { Problem, ProjectConfig, Track } from "../api/schema";
import { addRow, moved, rowsOf, tracksOf, wrongRow, type Row } from "../lib/tracks";
import { FormProblem, Loading, ProblemBox } from "../ui/parts";
import { say } from "../ui/toast";
import { Preview, useDryRun } from "./dryrun";

// With add, the list starts with an empty track at its end.
export function Tracks({ project, add, onDone }: { project: string; add?: boolean; onDone?: () => void }) {
  const config = useAnswer(queries.config(project));
  const [saved, setSaved] = useState<{ n: number; c?: ProjectConfig }>({ n: 0 }); // what the cache has can be older than the answer
  if (!config.data) return config.problem ? <ProblemBox problem={config.problem} again={config.again} /> : <Loading what="the tracks" />;
  return <TracksForm key={saved.n} project={project} c={saved.c ?? config.data} add={add} onDone={(c) => (onDone ? onDone() : setSaved({ n: saved.n + 1, c }))} />;
}

const docOf = (c: ProjectConfig, field: string) => c.keys?.find((k) => k.key === `tracks[].${field}`)?.doc ?? "";

export function TracksForm({ project, c, add, onDone }: { project: string; c: ProjectConfig; add?: boolean; onDone: (saved?: ProjectConfig) => void }) {
  const [revision] = useState(c.revision); // of the list that is edited
  const [rows, setRows] = useState(() => {
    const now = rowsOf((c.keys?.find((k) => k.key === "tracks")?.value as Track[] | undefined) ?? []);
    return add ? addRow(now) : now;
  });
  const { preview, problem, busy, run, reset } = useDryRun((rows: Row[], dry) => {
    const body = { key: "tracks", value: tracksOf(rows), revision, dry_run: dry };
    return dataOf(api.PATCH("/api/v1/projects/{project}/config", { params: { path: { project } }, body }));
  }, (_, answer) => {
    say(`The tracks of ${project} are changed`);
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
  const wrong = wrongRow(problem);
  return (
    <form className="form" aria-label={`Tracks of ${project}`} onSubmit={submit} noValidate>
      <p className="muted">A task of a category is in the first track that has it, and otherwise in the default one.</p>
      <ol className="keys-list">
        {rows.map((r, i) => (
          <TrackRow key={r.id} r={r} n={i + 1} last={rows.length} c={c} problem={wrong?.row === i ? problem : undefined} field={wrong?.row === i ? wrong.field : ""}
            set={(to) => edit(rows.map((x) => (x.id === r.id ? { ...x, ...to } : to.default ? { ...x, default: false } : x)))}
            move={(by) => edit(moved(rows, i, by))} remove={() => edit(rows.filter((x) => x.id !== r.id))} />
        ))}
      </ol>
      <button type="button" className="button small" onClick={() => edit(addRow(rows))}>Add a track</button>
      {problem && !wrong && <FormProblem problem={{ ...problem, field: undefined }} />}
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
  last: number;
  c: ProjectConfig;
  problem?: Problem; // of this track
  field: string; // that the problem is about; "" for the whole track
  set: (to: Partial<Row>) => void;
  move: (by: number) => void;
  remove: () => void;
}

const texts = [["name", "Name"], ["limit", "Limit"], ["categories", "Categories"], ["color", "Colour"]] as const;
const hints: Partial<Record<string, string>> = { limit: "no separate limit", categories: "separated by commas", color: "#8b5cf6" };

function TrackRow({ r, n, last, c, problem, field, set, move, remove }: RowProps) {
  const id = useId();
  const name = r.name.trim() || `track ${n}`;
  return (
    <li>
      <div className="form-row">
        {texts.map(([of, label]) => (
          <div key={of} className="field">
            <label htmlFor={id + of}>{label}</label>
            <input id={id + of} value={r[of]} placeholder={hints[of]} title={docOf(c, of)} autoComplete="off" spellCheck={false} inputMode={of === "limit" ? "numeric" : undefined}
              aria-invalid={field === of ? true : undefined} aria-describedby={problem ? id + "problem" : undefined} onChange={(e) => set({ [of]: e.target.value })} />
          </div>
        ))}
      </div>
      {problem && <div id={id + "problem"}><FormProblem problem={{ ...problem, field: undefined }} /></div>}
      <div className="key-head">
        <label className="check"><input type="radio" name="default" checked={r.default} onChange={() => set({ default: true })} /> default track</label>
        <span className="grow" />
        <button type="button" className="button small" disabled={n === 1} aria-label={`Move ${name} up`} onClick={() => move(-1)}>↑</button>
        <button type="button" className="button small" disabled={n === last} aria-label={`Move ${name} down`} onClick={() => move(1)}>↓</button>
        <button type="button" className="button small danger" aria-label={`Remove ${name}`} onClick={remove}>Remove</button>
      </div>
    </li>
  );
}
