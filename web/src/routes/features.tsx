// The features file of a project: each feature with its status and its task. A
// person adds and edits features, and retries those that failed.
import { useMemo } from "react";
import { useAnswer, useProjects } from "../api/cache";
import { queries } from "../api/queries";
import type { Feature, FeatureList } from "../api/schema";
import { actionsOf, perform } from "../components/actions";
import { addFeature, editFeature, reopenFeature } from "../components/commands";
import { Entries } from "../components/entry";
import { usePageCommands } from "../components/keys";
import { ago, plural, useNow } from "../lib/format";
import { Link, toTask, useParam, type Param } from "../router";
import { Choice, Empty, Loading, Mono, ProblemBox, StatusBadge } from "../ui/parts";

type Status = Param<"/features", "status">;
const statuses: Status[] = ["", "open", "verifying", "passed", "failed"];
const none: Feature[] = [];

const REREAD = 10_000; // ms; the file can change without an event

export default function FeaturesPage() {
  const names = useProjects();
  const [chosen, setProject] = useParam("/features", "project");
  const project = names.includes(chosen) ? chosen : (names[0] ?? "");
  const list = useAnswer({ ...queries.features(project), enabled: project !== "", refetchInterval: REREAD });
  const data = list.data;
  return (
    <div className="page">
      <div className="page-head">
        <h1>Features</h1>
        {data?.file && <code title={data.path}>{data.file}</code>}
        <span className="grow" />
        {names.length > 1 && <Choice label="Project" value={project} set={setProject} options={names} />}
        {data?.file && <button className="button primary" onClick={addFeature(project).run}>Add a feature</button>}
      </div>
      {list.problem && <ProblemBox problem={list.problem} again={list.again} />}
      {!data && list.loading && <Loading what="the features" />}
      {data && !data.file && (
        <Empty title={`${project} has no features file`}>
          <p>A features file is a list of work in your repository. Coppice creates a task for each open feature, and writes its status back. Name the file in coppice.yaml: <code>features: features.json</code></p>
        </Empty>
      )}
      {data?.file && <Features data={data} />}
    </div>
  );
}

function Features({ data }: { data: FeatureList }) {
  const [status, setStatus] = useParam("/features", "status");
  const [text, setText] = useParam("/features", "q");
  const inbox = useAnswer(queries.inbox(data.project, false));
  const now = useNow(5000);
  const all = data.features ?? none;
  usePageCommands(useMemo(() => all.flatMap((f) => [editFeature(data.project, f.id), ...(f.can_reopen ? [reopenFeature(data.project, f.id)] : [])]), [all, data.project]));
  const words = text.trim().toLowerCase();
  const found = useMemo(
    () => all.filter((f) => (status === "" || f.status === status) && `${f.id} ${f.name} ${f.category ?? ""} ${f.description ?? ""}`.toLowerCase().includes(words)),
    [all, status, words],
  );
  const count = (s: Status) => (s === "" ? all.length : all.filter((f) => f.status === s).length);
  return (
    <>
      {(data.problems ?? []).map((p) => (
        <div key={p.text} className="problem" role="alert">
          <div>{p.line ? <span className="problem-code">line {p.line}</span> : null}<strong><Mono text={p.text} /></strong></div>
        </div>
      ))}
      {data.outdated && <p className="muted">This is the last valid list, which is in effect until the file is fixed.</p>}
      <Entries list={(inbox.data?.entries ?? []).filter((e) => e.kind === "change")} now={now} />
      <div className="toolbar">
        <div className="segments" role="group" aria-label="Status">{statuses.map((s) => <button key={s} aria-pressed={status === s} onClick={() => setStatus(s)}>{s || "all"} {count(s)}</button>)}</div>
        <input type="search" placeholder="Find a feature" aria-label="Find a feature" value={text} onChange={(e) => setText(e.target.value)} />
        <span className="muted" role="status">{plural(found.length, "feature")}</span>
      </div>
      {found.length === 0 && <Empty title={all.length === 0 ? "No feature yet" : "No match"} />}
      <ul className="features" aria-label="Features">{found.map((f) => <Row key={f.id} f={f} project={data.project} now={now} />)}</ul>
    </>
  );
}

const marks = { open: "·", verifying: "≡", passed: "✓", failed: "✗" } as const;

function Row({ f, project, now }: { f: Feature; project: string; now: number }) {
  const t = f.task;
  const retry = t && actionsOf(t).find((a) => a.id === "retry");
  return (
    <li className={`feature f-${f.status}`} data-feature={f.id}>
      <span className="feature-head">
        <span className="key">{f.id}</span>
        <strong>{f.name}</strong>
        <span className={`status f-${f.status}`}><span aria-hidden="true">{marks[f.status]}</span> {f.status}</span>
      </span>
      <span className="feature-facts muted">
        {f.category && <span>{f.category}</span>}
        <span>track {f.track}</span>
        {(f.steps?.length ?? 0) > 0 && <span>{plural(f.steps!.length, "step")}</span>}
        {(f.depends_on?.length ?? 0) > 0 && <span>after {f.depends_on!.join(", ")}</span>}
        {f.agent && <span>{f.agent}{f.model ? ` · ${f.model}` : ""}</span>}
        {f.line > 0 && <span>line {f.line}</span>}
      </span>
      {t && <span className="feature-task"><Link href={toTask(t.key)}>{t.key}</Link> <StatusBadge status={t.status} text={t.status_text} /> <span className="muted">{t.ended_at ? `${ago(t.ended_at, now)} ago` : `for ${ago(t.since, now)}`}</span></span>}
      {f.failure_reason && <p className="bad-text">{f.failure_category && <span className="problem-code">{f.failure_category}</span>}<Mono text={f.failure_reason} /></p>}
      <span className="feature-actions">
        {retry && <button className="button small" onClick={() => perform(t, retry)}>Retry</button>}
        {f.can_reopen && <button className="button small" onClick={reopenFeature(project, f.id).run}>Retry</button>}
        <button className="button small" aria-label={`Edit feature ${f.id}`} onClick={editFeature(project, f.id).run}>Edit</button>
      </span>
    </li>
  );
}
