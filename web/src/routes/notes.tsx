// The notes of a project, which its sessions and people share.
import { useMemo } from "react";
import { useAnswer, useProjects } from "../api/cache";
import { queries } from "../api/queries";
import type { Note } from "../api/schema";
import { editNote, newNote } from "../components/commands";
import { usePageCommands } from "../components/keys";
import { ago, clock, plural, size, useNow } from "../lib/format";
import { Link, toTask, useParam } from "../router";
import { Choice, Empty, Loading, ProblemBox } from "../ui/parts";

const none: Note[] = [];

export default function NotesPage() {
  const now = useNow(5000);
  const names = useProjects();
  const [chosen, setProject] = useParam("/notes", "project");
  const [prefix, setPrefix] = useParam("/notes", "prefix");
  const [after, setAfter] = useParam("/notes", "after");
  const project = names.includes(chosen) ? chosen : (names[0] ?? "");
  const { data, problem, again, loading } = useAnswer({ ...queries.notes(project, prefix, after), enabled: project !== "" });
  const list = data?.notes ?? none;
  usePageCommands(useMemo(() => list.map((n) => editNote(n)), [list]));
  const choose = (set: (v: string) => void) => (v: string) => {
    setAfter("");
    set(v);
  };
  return (
    <div className="page">
      <div className="page-head">
        <h1>Notes</h1>
        <span className="grow" />
        {names.length > 1 && <Choice label="Project" value={project} set={choose(setProject)} options={names} />}
        {project && <button className="button primary" onClick={newNote(project).run}>New note</button>}
      </div>
      {problem && <ProblemBox problem={problem} again={again} />}
      {!data && loading && <Loading what="the notes" />}
      {(data || prefix) && (
        <div className="toolbar">
          <input type="search" placeholder="Beginning of keys" aria-label="Beginning of keys" value={prefix} maxLength={200} onChange={(e) => choose(setPrefix)(e.target.value)} />
          {data && <span className="muted" role="status">{plural(data.total, "note")}, {size(data.bytes)}</span>}
        </div>
      )}
      {data && list.length === 0 && <Empty title={prefix ? "No match" : "No notes yet"}><p>A note is a text under a key, such as plan/step-1. Sessions of a project and people read and write it.</p></Empty>}
      {list.length > 0 && (
        <div className="scroll-x" tabIndex={0} role="region" aria-label="Notes">
          <table className="data notes">
            <thead><tr><th>Key</th><th>Task</th><th className="num">Version</th><th className="num">Size</th><th>By</th><th className="num">Changed</th></tr></thead>
            <tbody>
              {list.map((n) => (
                <tr key={n.scope + " " + n.key} data-note={n.key}>
                  <td><button className="link" data-row onClick={editNote(n).run}>{n.key}</button></td>
                  <td>{n.task && <Link href={toTask(n.task)}>{n.task}</Link>}</td>
                  <td className="num">{n.version}</td>
                  <td className="num">{size(n.size)}</td>
                  <td>{n.by}</td>
                  <td className="num" title={clock(n.updated_at)}>{ago(n.updated_at, now)} ago</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {(after || data?.next) && (
        <p>
          {after && <button className="button small" onClick={() => setAfter("")}>First page</button>} {data?.next && <button className="button small" onClick={() => setAfter(data.next!)}>More notes</button>}
        </p>
      )}
    </div>
  );
}
