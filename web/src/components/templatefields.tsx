// The choice of a template, with its variables as fields.
import { useId } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import type { NewTask, Template } from "../api/schema";

// useTemplates returns the templates of a project that can be used.
export function useTemplates(project: string): Template[] {
  const list = useAnswer({ ...queries.templates(project), enabled: project !== "" }).data?.templates ?? [];
  return list.filter((t) => !t.problem);
}

const VARIABLE = "variable "; // before the name of a field

// templateFrom reads these fields. The server has the defaults of variables.
export function templateFrom(form: FormData): Pick<NewTask, "template" | "variables"> {
  const template = String(form.get("template") ?? "");
  if (!template) return {};
  const variables = Object.fromEntries([...form].filter(([name, value]) => name.startsWith(VARIABLE) && String(value).trim()).map(([name, value]) => [name.slice(VARIABLE.length), String(value).trim()]));
  return { template, ...(Object.keys(variables).length ? { variables } : {}) };
}

export function TemplateFields({ templates, chosen, choose }: { templates: Template[]; chosen: string; choose: (name: string) => void }) {
  const id = useId();
  if (templates.length === 0) return null;
  const t = templates.find((x) => x.name === chosen);
  return (
    <>
      <div className="field">
        <label htmlFor={id}>Template</label>
        <select id={id} name="template" value={t ? chosen : ""} onChange={(e) => choose(e.target.value)}>
          <option value="">none</option>
          {templates.map((x) => <option key={x.name} value={x.name}>{x.name}</option>)}
        </select>
        <small>{t?.title ? `${t.title}. ` : ""}It has the fields that are empty here.</small>
      </div>
      {t && (t.variables ?? []).length > 0 && (
        <div className="form-row" key={chosen}>
          {t.variables!.map((v) => (
            <div className="field" key={v.name}>
              <label htmlFor={`${id} ${v.name}`}>{v.name}</label>
              <input id={`${id} ${v.name}`} name={VARIABLE + v.name} required={v.required} placeholder={v.default || undefined} autoComplete="off" spellCheck={false} aria-describedby={v.about || v.default ? `${id} ${v.name} about` : undefined} />
              {(v.about || v.default) && <small id={`${id} ${v.name} about`}>{[v.about, v.default && `${v.default} if empty`].filter(Boolean).join("; ")}</small>}
            </div>
          ))}
        </div>
      )}
    </>
  );
}
