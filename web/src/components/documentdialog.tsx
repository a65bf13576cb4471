// The form of a flow's document. If somebody else writes it in the meantime, the form
// shows both texts before it replaces one.
import { useId, useState, type FormEvent } from "react";
import { changed, useAnswer } from "../api/cache";
import { api, dataOf, problemOf } from "../api/client";
import { queries } from "../api/queries";
import type { FlowDocument, Problem } from "../api/schema";
import { ago, size, useNow } from "../lib/format";
import { Dialog } from "../ui/dialog";
import { FormProblem, Loading, ProblemBox } from "../ui/parts";
import { say } from "../ui/toast";
import { Changed } from "./notedialog";

export function DocumentDialog({ flow, name, onClose }: { flow: string; name: string; onClose: () => void }) {
  const { data, problem, again } = useAnswer(queries.document(flow, name));
  return (
    <Dialog title={`Document ${name} of ${flow}`} onClose={onClose} className="wide">
      {data ? <DocumentForm flow={flow} current={data} onClose={onClose} /> : problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the document" />}
    </Dialog>
  );
}

function DocumentForm({ flow, current, onClose }: { flow: string; current: FlowDocument; onClose: () => void }) {
  const id = useId();
  const now = useNow(5000);
  const [draft, setDraft] = useState({ text: current.text ?? "", version: current.version });
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const differs = current.version !== draft.version;
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      await dataOf(api.PUT("/api/v1/flows/{key}/documents/{name}", { params: { path: { key: flow, name: current.name } }, body: { text: draft.text, if_version: draft.version } }));
      changed();
      say(`${current.name} is saved; ${flow} plans again`);
      onClose();
    } catch (err) {
      setProblem(problemOf(err));
      setBusy(false);
      changed(); // a conflict shows the text that the document has now
    }
  };
  return (
    <form className="form" onSubmit={(e) => void submit(e)}>
      <p className="muted">version {current.version} · {size(current.size)} · {current.by}, {ago(current.at, now)} ago</p>
      {differs && <Changed what="document" current={{ by: current.by, text: current.text ?? "" }} take={() => setDraft({ text: current.text ?? "", version: current.version })} keep={() => setDraft({ ...draft, version: current.version })} />}
      <div className="field">
        <label htmlFor={id}>{differs ? "Your text" : "Text"}</label>
        <textarea id={id} className="prompt-text" rows={18} value={draft.text} spellCheck={false} onChange={(e) => setDraft({ ...draft, text: e.target.value })} />
        <small>Each write adds a version. The flow plans again after it.</small>
      </div>
      <footer className="form-end">
        {problem && <FormProblem problem={problem} />}
        <button className="button primary" disabled={differs || busy}>Save</button>
        <button type="button" className="button" onClick={onClose}>Cancel</button>
      </footer>
    </form>
  );
}
