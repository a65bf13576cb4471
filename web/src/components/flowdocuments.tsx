// The documents of a flow with their versions. The address names the open one.
import { useMemo } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import type { FlowDetail } from "../api/schema";
import { folded, lineDiff } from "../lib/diff";
import { ago, clock, size, useNow } from "../lib/format";
import { Markdown } from "../lib/markdown";
import { pages, useParam } from "../router";
import { Choice, Loading, ProblemBox } from "../ui/parts";
import { editDocument } from "./commands";
import { DiffLines } from "./difflines";

// FlowDocumentText shows the newest version of a document, or the named one.
export function FlowDocumentText({ flow, name, version }: { flow: string; name: string; version?: number }) {
  const newest = useAnswer({ ...queries.document(flow, name), enabled: version === undefined });
  const old = useAnswer({ ...queries.documentVersion(flow, name, version ?? 0), enabled: version !== undefined });
  const { data, problem, again } = version === undefined ? newest : old;
  if (!data) return problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the document" />;
  return data.text ? <Markdown text={data.text} /> : <p className="muted">The document is empty.</p>;
}

export function FlowDocuments({ f }: { f: FlowDetail }) {
  const now = useNow(5000);
  const [open, setOpen] = useParam("/flows/{key}", "doc");
  const [, setVersion] = useParam("/flows/{key}", "version");
  const [, setOther] = useParam("/flows/{key}", "with");
  const list = f.documents ?? [];
  if (list.length === 0) return null;
  const choose = (name: string) => {
    setVersion("");
    setOther("");
    setOpen(name === open ? "" : name);
  };
  return (
    <section className="flow-part" aria-label="Documents">
      <h2>Documents</h2>
      <div className="scroll-x" tabIndex={0} role="region" aria-label="List of documents">
        <table className="data stacks">
          <thead><tr><th>Name</th><th className="num">Version</th><th className="num">Size</th><th>By</th><th>Step</th><th className="num">Changed</th><th /></tr></thead>
          <tbody>
            {list.map((d) => (
              <tr key={d.name} data-document={d.name}>
                <td><button className="link" data-row aria-expanded={d.name === open} onClick={() => choose(d.name)}>{d.name}</button></td>
                <td className="num" data-label="version">{d.version}</td>
                <td className="num">{size(d.size)}</td>
                <td data-label="by">{d.by}</td>
                <td data-label={d.step && "in"}>{d.step}</td>
                <td className="num" title={clock(d.at)}>{ago(d.at, now)} ago</td>
                <td><button className="button small" aria-label={`Edit ${d.name}`} onClick={editDocument(f.task.key, d.name).run}>Edit…</button></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {list.some((d) => d.name === open) && <Versions key={open} flow={f.task.key} name={open} />}
    </section>
  );
}

// Versions shows a version of a document and who wrote it, as text or as what changed
// since another version: the one before it, unless a person chose one.
function Versions({ flow, name }: { flow: string; name: string }) {
  const { data, problem, again } = useAnswer(queries.documentVersions(flow, name));
  const [chosen, setChosen] = useParam("/flows/{key}", "version");
  const [as, setAs] = useParam("/flows/{key}", "show");
  const [other, setOther] = useParam("/flows/{key}", "with");
  if (!data) return problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the versions" />;
  const list = data.versions ?? [];
  const at = Math.max(0, list.findIndex((v) => String(v.version) === chosen));
  const shown = list[at];
  if (!shown) return null;
  const before = list.find((v) => String(v.version) === other && v !== shown) ?? list[at + 1] ?? list[at - 1];
  const options = list.map((v) => ({ value: String(v.version), name: `${v.version}, ${v.by}` }));
  return (
    <div className="flow-document">
      <div className="toolbar">
        <h3>{name}</h3>
        <Choice label="Version" value={String(shown.version)} set={(v) => setChosen(v === String(list[0]!.version) ? "" : v)} options={options} />
        {before && <div className="segments" role="group" aria-label="Show it as">{pages["/flows/{key}"].show.map((v) => <button key={v} aria-pressed={v === as} onClick={() => setAs(v)}>{v}</button>)}</div>}
        {before && as === "changes" && <Choice label="Compared with" value={String(before.version)} set={setOther} options={options.filter((o) => o.value !== String(shown.version))} />}
        <span className="muted">{shown.by}{shown.step ? `, step ${shown.step}` : ""}, {clock(shown.at)}</span>
      </div>
      {before && as === "changes" ? <VersionDiff flow={flow} name={name} from={before.version} to={shown.version} /> : <FlowDocumentText flow={flow} name={name} version={shown.version} />}
    </div>
  );
}

function VersionDiff({ flow, name, from, to }: { flow: string; name: string; from: number; to: number }) {
  const before = useAnswer(queries.documentVersion(flow, name, from));
  const after = useAnswer(queries.documentVersion(flow, name, to));
  const [a, b] = [before.data?.text ?? "", after.data?.text ?? ""];
  const lines = useMemo(() => folded(lineDiff(a, b)), [a, b]);
  const failed = [before, after].find((x) => x.problem);
  if (failed?.problem) return <ProblemBox problem={failed.problem} again={failed.again} />;
  if (!before.data || !after.data) return <Loading what="the versions" />;
  return a === b ? <p className="muted">Both versions have the same text.</p> : <div className="flow-diff" role="region" aria-label={`Changes from version ${from} to ${to}`}><DiffLines lines={lines} /></div>;
}
