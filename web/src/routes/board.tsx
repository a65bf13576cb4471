// The board: what needs you, what is running, what is waiting, what ended.
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { useFeed, useTasks } from "../api/live";
import { get, problemOf, query } from "../api/client";
import { useQuery } from "../api/query";
import { useLiveLines } from "../api/says";
import type { Task, TaskPage } from "../api/schema";
import { actions, bulk, change } from "../components/actions";
import { AddProject } from "../components/addproject";
import { Card, CARD, Row, ROW, type Drag } from "../components/card";
import { Needs, useProjects } from "../components/needs";
import { needsOf, type ProjectNeed } from "../lib/needs";
import { groups, matches, NEEDS_YOU, order, priorityBetween, STATUSES, values, type Group } from "../lib/board";
import { plural, usd, useNow } from "../lib/format";
import { useParam } from "../router";
import { Empty, Loading, ProblemBox } from "../ui/parts";
import { VirtualList } from "../ui/virtual";

function Choice({ label, value, set, options, all }: { label: string; value: string; set: (v: string) => void; options: readonly string[]; all?: string }) {
  return (
    <label className="choice">
      <span>{label}</span>
      <select value={value} onChange={(e) => set(e.target.value)}>
        {all !== undefined && <option value="">{all}</option>}
        {options.map((o) => <option key={o} value={o}>{o}</option>)}
      </select>
    </label>
  );
}

export function Board() {
  const { loaded, error, truncated } = useFeed();
  const [archived, setArchived] = useParam("archived");
  const live = useTasks();
  useLiveLines();
  const away = useQuery(archived ? "archived tasks" : "", () => get<TaskPage>("/tasks" + query({ archived: "only", limit: 500 })));
  const all = useMemo(() => (archived ? (away.data?.tasks ?? []) : live.filter((t) => !t.archived)), [archived, away.data, live]);
  const [text, setText] = useParam("q");
  const [project, setProject] = useParam("project");
  const [track, setTrack] = useParam("track");
  const [agent, setAgent] = useParam("agent");
  const [status, setStatus] = useParam("status");
  const [view, setView] = useParam("view", "columns");
  const [by, setBy] = useParam("group", "status");
  const words = useDeferredValue(text);

  const shown = useMemo(() => all.filter((t) => matches(t, { text: words, project, track, agent, status })), [all, words, project, track, agent, status]);
  const columns = useMemo(() => groups(shown, by), [shown, by]);
  const projects = useProjects();
  const needs = useMemo(
    () => (archived || track || agent ? [] : needsOf(projects, { project, text: words, status })),
    [projects, archived, track, agent, project, words, status],
  );
  const cost = useMemo(() => shown.reduce((sum, t) => sum + (t.usage.cost_usd ?? 0), 0), [shown]);

  if (!loaded) return error ? <ProblemBox problem={problemOf(error)} /> : <Loading what="the tasks" />;
  if (live.length === 0 && !archived) return <First needs={needs} />;
  const filtered = text || project || track || agent || status;
  return (
    <div className="page board-page">
      <div className="page-head">
        <h1>{archived ? "Archive" : "Board"}</h1>
        <span className="muted" aria-live="polite">{plural(shown.length, "task")}{cost > 0 && ` · ${usd(cost)}`}{truncated && " · the oldest are left out"}</span>
        <span className="grow" />
        <div className="segments" role="group" aria-label="View">
          {["columns", "table"].map((v) => <button key={v} aria-pressed={view === v} onClick={() => setView(v)}>{v}</button>)}
        </div>
      </div>
      <div className="filters">
        <input type="search" placeholder="Filter by words or key" aria-label="Filter" value={text} onChange={(e) => setText(e.target.value)} />
        <Choice label="Project" value={project} set={setProject} options={values(all, (t) => t.project)} all="all" />
        <Choice label="Track" value={track} set={setTrack} options={values(all, (t) => t.track)} all="all" />
        <Choice label="Agent" value={agent} set={setAgent} options={values(all, (t) => t.agent)} all="all" />
        <Choice label="Status" value={status} set={setStatus} options={STATUSES} all="all" />
        <Choice label="Group" value={by} set={setBy} options={["status", "project", "track"]} />
        <label className="check"><input type="checkbox" checked={archived !== ""} onChange={(e) => setArchived(e.target.checked ? "only" : "")} /> Archived</label>
        {filtered && <button className="button small" onClick={() => [setText, setProject, setTrack, setAgent, setStatus].forEach((f) => f(""))}>Clear</button>}
      </div>
      {away.problem && <ProblemBox problem={away.problem} again={away.again} />}
      {archived && !away.data ? !away.problem && <Loading what="the archive" /> : shown.length === 0 && needs.length === 0 ? (
        filtered ? <Empty title="No matching tasks"><p>Clear the filter to see all {plural(all.length, "task")}.</p></Empty>
          : <Empty title={archived ? "The archive is empty" : "The board is empty"}><p>{archived ? "You can archive ended tasks: one by one on their page, or several in the board's table." : "All tasks are archived. Press n to create one."}</p></Empty>
      ) : view === "table" ? <Table groups={columns} needs={needs} /> : <Columns groups={columns} needs={needs} movable={by === "status" && !archived} bare={archived !== ""} />}
    </div>
  );
}

function First({ needs }: { needs: ProjectNeed[] }) {
  const now = useNow(5000);
  return needs.length > 0 ? <div className="page"><Needs list={needs} now={now} /></div> : (
    <Empty title="Nothing here yet">
      <p>Add a project, then press <kbd>n</kbd> to create its first task. From a terminal: <code>coppice new "…"</code> in the project's folder.</p>
      <AddProject />
    </Empty>
  );
}

// Columns shows the columns for what needs a person, what is working and what
// is done even if they are empty, unless it is bare.
function Columns({ groups: list, needs, movable, bare }: { groups: Group[]; needs: ProjectNeed[]; movable: boolean; bare: boolean }) {
  const now = useNow(5000);
  const moving = useRef<Task>(undefined);
  const shown = list.filter((g) => g.tasks.length > 0 || (!bare && [NEEDS_YOU, "Working", "Done"].includes(g.name)));
  const drag = (group: Group): Drag => ({
    onStart: (t) => (moving.current = t),
    onDrop: (target, before) => {
      const t = moving.current;
      moving.current = undefined;
      if (!t || t.key === target.key) return;
      const rest = [...group.tasks].filter((x) => x.key !== t.key).sort(order);
      const at = rest.findIndex((x) => x.key === target.key) + (before ? 0 : 1);
      const priority = priorityBetween(t, rest[at - 1], rest[at]);
      if (priority !== t.priority) void change(t.key, { priority }, `${t.key} has priority ${priority}`);
    },
  });
  return (
    <div className="columns">
      {shown.map((g) => (
        <section key={g.name} className={"column" + (g.name === NEEDS_YOU ? " needs" : "")} aria-label={g.name}>
          <h2>{g.name} <span className="muted">{g.tasks.length + (g.name === NEEDS_YOU ? needs.length : 0)}</span></h2>
          {g.name === NEEDS_YOU && <Needs list={needs} now={now} />}
          {g.name === NEEDS_YOU && needs.length > 0 && g.tasks.length === 0 ? null : g.tasks.length === 0 ? (
            <p className="column-empty">{g.name === NEEDS_YOU ? "Nothing needs you." : "None."}</p>
          ) : (
            <VirtualList items={g.tasks} height={CARD} label={g.name} id={(t) => t.key} row={(t) => <Card t={t} now={now} drag={movable ? drag(g) : undefined} />} />
          )}
        </section>
      ))}
    </div>
  );
}

type Item = { group: Group } | { task: Task };

function Table({ groups: list, needs }: { groups: Group[]; needs: ProjectNeed[] }) {
  const now = useNow(5000);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const items = useMemo(() => list.filter((g) => g.tasks.length > 0).flatMap((g): Item[] => [{ group: g }, ...g.tasks.map((task) => ({ task }))]), [list]);
  const tasks = list.flatMap((g) => g.tasks).filter((t) => chosen.has(t.key));
  const select = (keys: string[], on: boolean) => {
    const next = new Set(chosen);
    keys.forEach((k) => (on ? next.add(k) : next.delete(k)));
    setChosen(next);
  };
  return (
    <>
      <Needs list={needs} now={now} />
      {tasks.length > 0 && (
        <div className="bulk" role="toolbar" aria-label="Selected tasks">
          <strong>{plural(tasks.length, "task")} selected</strong>
          {actions.filter((a) => ["stop", "retry", "requeue", "land", "archive", "unarchive"].includes(a.id)).map((a) => {
            const fit = tasks.filter(a.fits);
            return fit.length === 0 && a.more ? null : (
              <button key={a.id} className={"button small" + (a.danger ? " danger" : "")} disabled={fit.length === 0} title={a.about}
                onClick={() => void bulk(fit.map((t) => t.key), a).then(() => setChosen(new Set()))}>
                {a.name} {fit.length}
              </button>
            );
          })}
          <button className="button small ghost" onClick={() => setChosen(new Set())}>Clear</button>
        </div>
      )}
      <VirtualList
        items={items} height={ROW} className="table" label="Tasks" id={(i) => ("group" in i ? "group " + i.group.name : i.task.key)}
        row={(i) => "group" in i ? (
          <div className="group-row">
            <input type="checkbox" aria-label={`Select all of ${i.group.name}`} checked={i.group.tasks.every((t) => chosen.has(t.key))} onChange={(e) => select(i.group.tasks.map((t) => t.key), e.target.checked)} />
            <h2>{i.group.name}</h2> <span className="muted">{i.group.tasks.length}</span>
          </div>
        ) : <Row t={i.task} now={now} selected={chosen.has(i.task.key)} onSelect={(on) => select([i.task.key], on)} />}
      />
    </>
  );
}
