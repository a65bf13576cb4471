// Adds a project by the directory of its checkout.
import { useId, useState, type FormEvent } from "react";
import { changed } from "../api/cache";
import { api, dataOf, problemOf } from "../api/client";
import type { Problem } from "../api/schema";
import { ProblemBox } from "../ui/parts";
import { say } from "../ui/toast";

export function AddProject({ onDone }: { onDone?: () => void }) {
  const id = useId();
  const [problem, setProblem] = useState<Problem>();
  const submit = async (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const form = e.currentTarget;
    setProblem(undefined);
    try {
      const fields = new FormData(form);
      const prefix = String(fields.get("prefix") ?? "").trim();
      const p = await dataOf(api.POST("/api/v1/projects", { body: { path: String(fields.get("path")), ...(prefix ? { prefix } : {}) } }));
      changed();
      say(`${p.prefix} was added`);
      form.reset();
      onDone?.();
    } catch (err) {
      setProblem(problemOf(err));
    }
  };
  return (
    <form className="inline-form" onSubmit={(e) => void submit(e)}>
      <label htmlFor={id}>Directory of a git checkout on this machine</label>
      <span>
        <input id={id} name="path" required placeholder="~/src/app" />
        <input name="prefix" aria-label="Prefix of its keys" placeholder="prefix" title="The prefix of its keys; if empty, it comes from the name of the directory" autoComplete="off" />
        <button className="button" type="submit">Add project</button>
      </span>
      {problem && <ProblemBox problem={problem} />}
    </form>
  );
}
