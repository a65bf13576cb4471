// A change of a file that the server shows before it writes it.
import { useState } from "react";
import { changed } from "../api/cache";
import { problemOf } from "../api/client";
import type { Problem } from "../api/schema";
import { needLines } from "../lib/diff";
import { DiffLines } from "./difflines";

// useDryRun sends a change: dry, which previews it, and then really. done is called
// after the change is made, with the answer to it.
export function useDryRun<C, A extends { diff?: string }>(send: (change: C, dry: boolean) => Promise<A>, done: (change: C, answer: A) => void) {
  const [preview, setPreview] = useState<{ diff: string; change: C }>();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const run = async (change: C, dry: boolean) => {
    setBusy(true);
    setProblem(undefined);
    try {
      const answer = await send(change, dry);
      if (dry) setPreview({ diff: answer.diff ?? "", change });
      else {
        changed();
        done(change, answer);
      }
    } catch (err) {
      setProblem(problemOf(err));
      setPreview(undefined);
    } finally {
      setBusy(false);
    }
  };
  // reset is for an edit: what was previewed is no longer what would be sent.
  const reset = () => {
    setPreview(undefined);
    setProblem(undefined);
  };
  return { preview, problem, busy, run, reset };
}

export function Preview({ diff, what }: { diff: string; what: "text" | "file" }) {
  return diff ? <section aria-label="The change"><DiffLines lines={needLines(diff)} /></section> : <p role="status">The {what} would stay as it is.</p>;
}
