// What projects need a person for: a card for each need, with its actions.
import { useState } from "react";
import { change } from "../api/cache";
import type { ProjectNeed } from "../api/schema";
import { ago } from "../lib/format";
import { choices, needLines, type Choice } from "../lib/needs";
import { Mono } from "../ui/parts";
import { DiffLines } from "./difflines";

function NeedCard({ project, need, now }: ProjectNeed & { now: number }) {
  const [busy, setBusy] = useState(false);
  const act = async (c: Choice) => {
    setBusy(true);
    await change(c.done, () => c.request(project));
    setBusy(false);
  };
  return (
    <li className="card need s-needs-you" data-need={need.kind}>
      <span className="card-head">
        <span className="key">{project}</span>
        <span className="tag">{need.kind}</span>
        <span className="grow" />
        <span className="since">{ago(need.since, now)}</span>
      </span>
      <p><Mono text={need.text} /></p>
      {(need.paths?.length ?? 0) > 0 && <ul className="need-paths">{need.paths!.map((p) => <li key={p}><code>{p}</code></li>)}</ul>}
      {need.diff && <details><summary>What changed</summary><DiffLines lines={needLines(need.diff)} /></details>}
      {need.fix && <p className="muted"><Mono text={need.fix} /></p>}
      {choices(need).length > 0 && (
        <span className="need-choices">
          {choices(need).map((c) => (
            <button key={c.name} className={"button small" + (c.primary ? " primary" : "")} title={c.about} disabled={busy} onClick={() => void act(c)}>{c.name}</button>
          ))}
        </span>
      )}
    </li>
  );
}

export function Needs({ list, now }: { list: ProjectNeed[]; now: number }) {
  if (list.length === 0) return null;
  return <ul className="needs-list" aria-label="What projects need you for">{list.map((n) => <NeedCard key={n.project + n.need.kind} {...n} now={now} />)}</ul>;
}
