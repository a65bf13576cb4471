// The button that removes a project, and the dialog before it.
import { useState } from "react";
import { changed } from "../api/cache";
import { api, dataOf, problemOf } from "../api/client";
import type { Problem, Project, Removed } from "../api/schema";
import { plural } from "../lib/format";
import { Dialog } from "../ui/dialog";
import { FormProblem } from "../ui/parts";
import { say } from "../ui/toast";
import { removeProject } from "./commands";

// left returns in one line what a removal leaves behind.
export function left(r: Removed): string {
  const list = r.left ?? [];
  return list.length === 0 ? "" : " Not removed: " + list.map((l) => `${l.what}: ${l.path}`).join("; ") + ".";
}

export function RemoveProject({ p }: { p: Project }) {
  if (p.removal) return <span className="warn-text">{p.removal.problem ? `It cannot be removed yet: ${p.removal.problem}` : "It is being removed."}</span>;
  return p.can?.includes("remove") ? <button className="button small danger" onClick={removeProject(p).run}>Remove…</button> : null;
}

export function RemoveDialog({ p, close }: { p: Project; close: () => void }) {
  const [purge, setPurge] = useState(false);
  const [force, setForce] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const submit = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const gone = await dataOf(api.POST("/api/v1/projects/{project}/remove", { params: { path: { project: p.prefix } }, body: { purge, force } }));
      changed();
      say(`${p.prefix} is being removed.${left(gone)}`);
      close();
    } catch (err) {
      setProblem(problemOf(err));
      setBusy(false);
    }
  };
  return (
    <Dialog title={`Remove ${p.prefix}`} onClose={close}>
      <form className="form" onSubmit={(e) => {
        e.preventDefault();
        void submit();
      }}>
        <p>Coppice removes the project with its {plural(p.last_task, "task")}: sessions, output, landings, checks and costs. The checkout <code>{p.path}</code>, coppice.yaml, the features file and everything that landed are not changed.</p>
        <label className="check"><input type="checkbox" checked={purge} onChange={(e) => setPurge(e.target.checked)} /> Also remove its workspaces, trash and branches</label>
        <label className="check"><input type="checkbox" checked={force} onChange={(e) => setForce(e.target.checked)} /> First stop its tasks that have not ended</label>
        <footer className="form-end">
          {problem && <FormProblem problem={problem} />}
          <button className="button danger" disabled={busy}>Remove {p.prefix}</button>
          <button type="button" className="button" onClick={close}>Cancel</button>
        </footer>
      </form>
    </Dialog>
  );
}
