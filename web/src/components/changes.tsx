// What a task changed, file by file.
import { useMemo, useState } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import type { TaskDetail } from "../api/schema";
import { parsePatch, type FileDiff } from "../lib/diff";
import { plural } from "../lib/format";
import { Link, toReview, useParam } from "../router";
import { Empty, Loading, ProblemBox } from "../ui/parts";
import { DiffLines } from "./difflines";

const LONG = 600; // lines that are shown at first

const sinces: ["base" | "session", string][] = [["base", "since the base"], ["session", "since the last session"]];

export function Changes({ t }: { t: TaskDetail }) {
  const [since, setSince] = useParam("/tasks/{key}", "since");
  return (
    <div className="changes">
      <div className="toolbar">
        <div className="segments" role="group" aria-label="Changes">{sinces.map(([id, name]) => <button key={id} aria-pressed={since === id} onClick={() => setSince(id)}>{name}</button>)}</div>
        {t.review && <Link className="button small" href={toReview(t.key)}>Review by file</Link>}
      </div>
      <Diff key={since} t={t} since={since} />
    </div>
  );
}

function Diff({ t, since }: { t: TaskDetail; since: "base" | "session" }) {
  const diff = useAnswer(queries.diff(t.key, since));
  const files = useMemo(() => parsePatch(diff.data ?? ""), [diff.data]);
  if (diff.data === undefined) {
    if (diff.problem?.code === "not_found" || diff.problem?.code === "conflict") return <Empty title="No changes yet"><p>{diff.problem.detail}.</p></Empty>;
    return diff.problem ? <ProblemBox problem={diff.problem} again={diff.again} /> : <Loading what="the changes" />;
  }
  if (files.length === 0) return <Empty title="No changes yet"><p>{since === "base" ? "It does not differ from the base. The agent's changes appear here." : "Its last session changed nothing."}</p></Empty>;
  const added = files.reduce((n, f) => n + f.added, 0);
  const removed = files.reduce((n, f) => n + f.removed, 0);
  return (
    <>
      <p className="muted">
        {plural(files.length, "file")}, <span className="add-text">+{added}</span> <span className="del-text">−{removed}</span>
        {" "}<button className="button small" onClick={diff.again}>Refresh</button>
      </p>
      {files.map((f) => <File key={f.path} f={f} />)}
    </>
  );
}

function File({ f }: { f: FileDiff }) {
  const [whole, setWhole] = useState(false);
  const lines = whole ? f.lines : f.lines.slice(0, LONG);
  return (
    <details className="file" open={f.lines.length <= LONG}>
      <summary>
        <code>{f.from ? `${f.from} → ${f.path}` : f.path}</code>
        {f.state !== "changed" && <span className="tag">{f.state}</span>}
        <span className="grow" />
        <span className="add-text">+{f.added}</span> <span className="del-text">−{f.removed}</span>
      </summary>
      <DiffLines lines={lines} numbers />
      {lines.length < f.lines.length && <button className="button small" onClick={() => setWhole(true)}>Show {f.lines.length - lines.length} more lines</button>}
    </details>
  );
}
