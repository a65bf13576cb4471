// Sends the drafts of a review to the agent, as one message.
import { useState, type FormEvent } from "react";
import { changed } from "../api/cache";
import { api, dataOf, problemOf } from "../api/client";
import type { Problem, Review } from "../api/schema";
import { plural } from "../lib/format";
import { keepTyped, useTyped } from "../state/typed";
import { Dialog } from "../ui/dialog";
import { Mono, ProblemBox } from "../ui/parts";
import { say } from "../ui/toast";
import { sendFormName } from "./comment";

export function SendReview({ r, onClose }: { r: Review; onClose: () => void }) {
  const name = sendFormName(r.task);
  const text = useTyped().get(name) ?? "";
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const nothing = r.drafts === 0 && !text.trim();
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    if (busy || nothing) return; // a message is sent one time
    setBusy(true);
    setProblem(undefined);
    try {
      await dataOf(api.POST("/api/v1/tasks/{key}/comments/send", { params: { path: { key: r.task } }, body: text.trim() ? { text } : {} }));
      changed();
      keepTyped(name);
      say(`The agent of ${r.task} gets your review`);
      onClose();
    } catch (err) {
      setProblem(problemOf(err));
      setBusy(false);
    }
  };
  return (
    <Dialog title={`Ask for changes to ${r.task}`} onClose={onClose}>
      <form className="form" onSubmit={(e) => void submit(e)}>
        <p>{r.drafts > 0 ? `${plural(r.drafts, "draft")} and your text become one message.` : "You have no drafts. Your text becomes a message."}{r.follows && ` If you send it now, ${r.follows}.`}</p>
        {r.refused && <p className="warn-text"><Mono text={r.refused} /></p>}
        <div className="field">
          <label htmlFor="review-text">About the whole change{r.drafts > 0 ? " (optional)" : ""}</label>
          <textarea id="review-text" rows={4} value={text} onChange={(e) => keepTyped(name, e.target.value)} />
        </div>
        <footer className="form-end">
          {problem && <ProblemBox problem={problem} />}
          <button className="button primary" disabled={busy || nothing || !!r.refused}>Send to the agent</button>
          <button type="button" className="button" onClick={onClose}>Cancel</button>
        </footer>
      </form>
    </Dialog>
  );
}

// DraftBar stays visible at the end of the window while there are drafts.
export function DraftBar({ r, onSend }: { r: Review; onSend: () => void }) {
  if (r.drafts === 0) return null;
  return (
    <div className="draft-bar" role="region" aria-label="Drafts">
      <strong>{plural(r.drafts, "draft")}</strong>
      <span className="muted">The agent has not received {r.drafts === 1 ? "it" : "them"}.</span>
      <span className="grow" />
      <button className="button primary" onClick={onSend}>Send to the agent</button>
    </div>
  );
}
