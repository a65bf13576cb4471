// The button that gives a project another prefix, and its dialog.
import { useId, useState, type FormEvent } from "react";
import { changed } from "../api/cache";
import { api, dataOf, problemOf } from "../api/client";
import type { Problem, Project } from "../api/schema";
import { Dialog } from "../ui/dialog";
import { FormProblem } from "../ui/parts";
import { say } from "../ui/toast";
import { renameProject } from "./commands";

export function RenameProject({ p }: { p: Project }) {
  return p.can?.includes("rename") ? <button className="button small" onClick={renameProject(p).run}>Rename…</button> : null;
}

export function RenameDialog({ p, close }: { p: Project; close: () => void }) {
  const id = useId();
  const [problem, setProblem] = useState<Problem>();
  const submit = async (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    setProblem(undefined);
    try {
      const now = await dataOf(api.POST("/api/v1/projects/{project}/rename", { params: { path: { project: p.prefix } }, body: { prefix: String(new FormData(e.currentTarget).get("prefix")) } }));
      changed();
      say(`${p.prefix} is now ${now.prefix}`);
      close();
    } catch (err) {
      setProblem(problemOf(err));
    }
  };
  return (
    <Dialog title={`Rename ${p.prefix}`} onClose={close}>
      <form className="form" onSubmit={(e) => void submit(e)}>
        <div className="field">
          <label htmlFor={id}>Prefix</label>
          <input id={id} name="prefix" required defaultValue={p.prefix} autoComplete="off" />
          <small>Lower-case letters and digits, a letter first. New tasks get keys with this prefix. The keys of existing tasks stay as they are.</small>
        </div>
        <footer className="form-end">
          {problem && <FormProblem problem={problem} />}
          <button className="button primary">Rename</button>
          <button type="button" className="button" onClick={close}>Cancel</button>
        </footer>
      </form>
    </Dialog>
  );
}
