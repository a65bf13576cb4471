// Adds a project by the directory of its checkout.
import { useId, useState, type FormEvent } from "react";
import { post, problemOf } from "../api/client";
import { invalidate } from "../api/query";
import type { Problem, Project } from "../api/schema";
import { ProblemBox } from "../ui/parts";
import { say } from "../ui/toast";

export function AddProject() {
  const id = useId();
  const [problem, setProblem] = useState<Problem>();
  const submit = async (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const form = e.currentTarget;
    setProblem(undefined);
    try {
      const p = await post<Project>("/projects", { path: String(new FormData(form).get("path")) });
      say(`${p.prefix} was added`);
      invalidate((n) => n === "projects" || n === "status");
      form.reset();
    } catch (err) {
      setProblem(problemOf(err));
    }
  };
  return (
    <form className="inline-form" onSubmit={(e) => void submit(e)}>
      <label htmlFor={id}>Directory of a git checkout on this machine</label>
      <span>
        <input id={id} name="path" required placeholder="~/src/app" />
        <button className="button" type="submit">Add project</button>
      </span>
      {problem && <ProblemBox problem={problem} />}
    </form>
  );
}
