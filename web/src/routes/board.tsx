// The board: what needs you, what is running, what is waiting, what ended. The
// server filters, sorts and counts. The page reads the first tasks of each
// column.
import { useDeferredValue, useState } from "react";
import { useAnswer } from "../api/cache";
import { queries, type BoardFilter } from "../api/queries";
import { useLiveLines } from "../api/says";
import type { Board as BoardData } from "../api/schema";
import { AddProject } from "../components/addproject";
import { Columns } from "../components/columns";
import { Entries } from "../components/entry";
import { MarkFilters, useMarks } from "../components/markfilters";
import { Table } from "../components/table";
import { plural, useNow } from "../lib/format";
import { useParam } from "../router";
import { Choice, Empty, Filters, Loading, ProblemBox } from "../ui/parts";

const FIRST = { columns: 50, table: 200 }; // tasks of each column in the first read
const MOST = 500;

export function Board() {
  useLiveLines();
  const [text, setText] = useParam("/", "q");
  const [project, setProject] = useParam("/", "project");
  const [track, setTrack] = useParam("/", "track");
  const [agent, setAgent] = useParam("/", "agent");
  const [status, setStatus] = useParam("/", "status");
  const [view, setView] = useParam("/", "view");
  const [group, setGroup] = useParam("/", "group");
  const [pull, setPull] = useParam("/", "pull");
  const [archived, setArchived] = useParam("/", "archived");
  const marks = useMarks("/");
  const [whole, setWhole] = useState(false);
  const words = useDeferredValue(text).trim();
  const filter: BoardFilter = {
    project: project || undefined, track: track || undefined, agent: agent || undefined, status: status || undefined, text: words || undefined, archived: archived !== "" || undefined, group, pull: pull || undefined, ...marks.filter,
    limit: whole && view === "table" ? MOST : FIRST[view],
  };
  const { data, problem, again } = useAnswer(queries.board(filter));

  if (!data) return problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the tasks" />;
  if (data.empty && !archived) return <First data={data} />;
  const entries = data.entries ?? [];
  const list = data.columns ?? [];
  const filtered = text + project + track + agent + status + pull !== "" || marks.any;
  const clear = () => {
    [setText, setProject, setTrack, setAgent, setStatus].forEach((f) => f(""));
    setPull("");
    marks.clear();
  };
  return (
    <div className="page board-page">
      <div className="page-head">
        <h1>{archived ? "Archive" : "Board"}</h1>
        <span className="muted" aria-live="polite">{plural(data.count, "task")}</span>
        <span className="grow" />
        <div className="segments" role="group" aria-label="View">
          {(["columns", "table"] as const).map((v) => <button key={v} aria-pressed={view === v} onClick={() => setView(v)}>{v}</button>)}
        </div>
      </div>
      <Filters on={filtered || archived !== ""} first={<input type="search" placeholder="Filter by words or key" aria-label="Filter" value={text} onChange={(e) => setText(e.target.value)} />}>
        <Choice label="Project" value={project} set={setProject} options={data.projects ?? []} all="all" />
        <Choice label="Track" value={track} set={setTrack} options={data.tracks ?? []} all="all" />
        <Choice label="Agent" value={agent} set={setAgent} options={data.agents ?? []} all="all" />
        <Choice label="Status" value={status} set={setStatus} options={data.statuses ?? []} all="all" />
        <Choice label="Columns" value={group} set={setGroup} options={["status", "project", "track"]} />
        <MarkFilters marks={marks} choices={data}>
          <label className="check"><input type="checkbox" checked={pull !== ""} onChange={(e) => setPull(e.target.checked ? "open" : "")} /> Open pull request</label>
          <label className="check"><input type="checkbox" checked={archived !== ""} onChange={(e) => setArchived(e.target.checked ? "only" : "")} /> Archived</label>
        </MarkFilters>
        {filtered && <button className="button small" onClick={clear}>Clear</button>}
      </Filters>
      {problem && <ProblemBox problem={problem} again={again} />}
      {data.count === 0 && entries.length === 0 ? <Nothing filtered={filtered} archived={archived !== ""} />
        : view === "table" ? <Table list={list} entries={entries} more={whole ? undefined : () => setWhole(true)} />
        : <Columns list={list} filter={filter} entries={entries} />}
    </div>
  );
}

function Nothing({ filtered, archived }: { filtered: boolean; archived: boolean }) {
  if (filtered) return <Empty title="No matching tasks"><p>Clear the filter to see all tasks.</p></Empty>;
  if (archived) return <Empty title="The archive is empty"><p>You can archive ended tasks: one by one on their page, or several in the board's table.</p></Empty>;
  return <Empty title="The board is empty"><p>All tasks are archived. Press n to create one.</p></Empty>;
}

function First({ data }: { data: BoardData }) {
  const now = useNow(5000);
  const entries = data.entries ?? [];
  return entries.length > 0 ? <div className="page"><Entries list={entries} now={now} /></div> : (
    <Empty title="Nothing here yet">
      <p>Add a project, then press <kbd>n</kbd> to create its first task. From a terminal: <code>coppice new "…"</code> in the project's folder.</p>
      <AddProject />
    </Empty>
  );
}
