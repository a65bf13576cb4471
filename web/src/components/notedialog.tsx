// The form of a note: its text, which a person can change or delete. If somebody else
// changes the note in the meantime, the form shows both texts before it replaces one.
import { useId, useState, type FormEvent } from "react";
import { changed, useAnswer } from "../api/cache";
import { api, dataOf, problemOf } from "../api/client";
import { queries } from "../api/queries";
import type { Note, Problem } from "../api/schema";
import { ago, size, useNow } from "../lib/format";
import { Dialog } from "../ui/dialog";
import { FormProblem, Loading, ProblemBox } from "../ui/parts";
import { say } from "../ui/toast";

interface Place {
  project: string;
  task?: string;
}

interface Draft {
  text: string;
  version: number; // the one that the text replaces; 0 if the note must not exist
}

export function NoteDialog({ project, task, note, onClose }: Place & { note?: string; onClose: () => void }) {
  const title = note ? `Note ${note}` : `New note in ${task ?? project}`;
  const answer = useAnswer({ ...queries.note(project, note ?? "", task), enabled: !!note });
  const [last, setLast] = useState<Note>();
  if (answer.data && answer.data !== last) setLast(answer.data);
  const gone = answer.problem?.code === "not_found" && last !== undefined;
  const ready = !note || answer.data !== undefined || gone;
  return (
    <Dialog title={title} onClose={onClose} className="wide">
      {!ready && (answer.problem ? <ProblemBox problem={answer.problem} again={answer.again} /> : <Loading what="the note" />)}
      {ready && <NoteForm project={project} task={task} note={note} current={gone ? undefined : answer.data} onClose={onClose} />}
    </Dialog>
  );
}

function NoteForm({ project, task, note, current, onClose }: Place & { note?: string; current?: Note; onClose: () => void }) {
  const id = useId();
  const now = useNow(5000);
  const [draft, setDraft] = useState<Draft>({ text: current?.value ?? "", version: current?.version ?? 0 });
  const [problem, setProblem] = useState<Problem>();
  const version = current?.version ?? 0;
  const differs = !!note && version !== draft.version;
  const send = async (done: string, request: () => Promise<unknown>) => {
    setProblem(undefined);
    try {
      await request();
      changed();
      say(done);
      onClose();
    } catch (err) {
      setProblem(problemOf(err));
      changed(); // a conflict shows the text that the note has now
    }
  };
  const submit = (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const key = note ?? String(new FormData(e.currentTarget).get("key"));
    const params = { path: { project, key }, query: { task } };
    void send(`${key} is saved`, () => dataOf(api.PUT("/api/v1/projects/{project}/notes/{key}", { params, body: { value: draft.text, if_version: draft.version } })));
  };
  const remove = () => {
    const params = { path: { project, key: note! }, query: { task, if_version: draft.version } };
    void send(`${note} is deleted`, () => dataOf(api.DELETE("/api/v1/projects/{project}/notes/{key}", { params })));
  };
  return (
    <form className="form" onSubmit={submit}>
      {!note && (
        <div className="field">
          <label htmlFor={id + "key"}>Key</label>
          <input id={id + "key"} name="key" required autoComplete="off" placeholder="plan/step-1" />
        </div>
      )}
      {current && <p className="muted">version {current.version} · {size(current.size)} · {current.by}, {ago(current.updated_at, now)} ago</p>}
      {differs && <Changed what="note" current={current && { by: current.by, text: current.value ?? "" }} take={() => setDraft({ text: current?.value ?? "", version })} keep={() => setDraft({ ...draft, version })} />}
      <div className="field">
        <label htmlFor={id}>{differs ? "Your text" : "Text"}</label>
        <textarea id={id} rows={14} value={draft.text} onChange={(e) => setDraft({ ...draft, text: e.target.value })} />
        <small>Sessions of the project read it. Secrets in it are masked.</small>
      </div>
      <footer className="form-end">
        {problem && <FormProblem problem={problem} />}
        <button className="button primary" disabled={differs}>Save</button>
        {note && current && <button type="button" className="button danger" disabled={differs} onClick={remove}>Delete</button>}
        <button type="button" className="button" onClick={onClose}>Cancel</button>
      </footer>
    </form>
  );
}

// Changed says that a text is no longer the one that the form has read, and asks
// which one counts.
export function Changed({ what, current, take, keep }: { what: string; current?: { by: string; text: string }; take: () => void; keep: () => void }) {
  return (
    <section className="problem" role="alert">
      <p><strong>{current ? `${current.by} changed this ${what} while you had it open. It now has this text:` : `This ${what} was deleted while you had it open.`}</strong></p>
      {current && <pre className="scroll-x">{current.text}</pre>}
      <p>
        {current && <button type="button" className="button small" onClick={take}>Use this text</button>} <button type="button" className="button small" onClick={keep}>Keep my text</button>
      </p>
    </section>
  );
}
