// The documents of a flow with their versions. The address names the open one.
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import type { FlowDetail } from "../api/schema";
import { ago, clock, size, useNow } from "../lib/format";
import { Markdown } from "../lib/markdown";
import { useParam } from "../router";
import { Choice, Loading, ProblemBox } from "../ui/parts";
import { editDocument } from "./commands";

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
  const list = f.documents ?? [];
  if (list.length === 0) return null;
  const choose = (name: string) => {
    setVersion("");
    setOpen(name === open ? "" : name);
  };
  return (
    <section className="flow-part" aria-label="Documents">
      <h2>Documents</h2>
      <div className="scroll-x" tabIndex={0} role="region" aria-label="List of documents">
        <table className="data">
          <thead><tr><th>Name</th><th className="num">Version</th><th className="num">Size</th><th>By</th><th>Step</th><th className="num">Changed</th><th /></tr></thead>
          <tbody>
            {list.map((d) => (
              <tr key={d.name} data-document={d.name}>
                <td><button className="link" data-row aria-expanded={d.name === open} onClick={() => choose(d.name)}>{d.name}</button></td>
                <td className="num">{d.version}</td>
                <td className="num">{size(d.size)}</td>
                <td>{d.by}</td>
                <td>{d.step}</td>
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

// Versions shows a version of a document, and who wrote it.
function Versions({ flow, name }: { flow: string; name: string }) {
  const { data, problem, again } = useAnswer(queries.documentVersions(flow, name));
  const [chosen, setChosen] = useParam("/flows/{key}", "version");
  if (!data) return problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the versions" />;
  const list = data.versions ?? [];
  const shown = list.find((v) => String(v.version) === chosen) ?? list[0];
  if (!shown) return null;
  return (
    <div className="flow-document">
      <div className="toolbar">
        <h3>{name}</h3>
        <Choice label="Version" value={String(shown.version)} set={(v) => setChosen(v === String(list[0]!.version) ? "" : v)} options={list.map((v) => ({ value: String(v.version), name: `${v.version}, ${v.by}` }))} />
        <span className="muted">{shown.by}{shown.step ? `, step ${shown.step}` : ""}, {clock(shown.at)}</span>
      </div>
      <FlowDocumentText flow={flow} name={name} version={shown.version} />
    </div>
  );
}
