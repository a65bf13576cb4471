// Disk usage, counted when the page is opened.
import { useState } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import type { Disk, DiskKept, DiskPart } from "../api/schema";
import { clock, size } from "../lib/format";
import { Loading, ProblemBox } from "../ui/parts";
import type { Command } from "./commands";
import { usePageCommands } from "./keys";

interface Row {
  of: string;
  part: DiskPart;
}

// diskRows lists the parts, the largest first. Parts of another row are listed
// by their own size.
export function diskRows(d: Disk): Row[] {
  const rows = (d.projects ?? []).flatMap((p) => (p.parts ?? []).map((part) => ({ of: p.prefix, part })));
  for (const part of d.server ?? []) rows.push({ of: "", part });
  return rows.filter((r) => r.part.bytes > 0 || r.part.partial).sort((a, b) => b.part.bytes - a.part.bytes);
}

function Kept({ list }: { list: DiskKept[] }) {
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="History">
      <table className="data"><thead><tr><th>History</th><th className="num">Size</th><th>Kept at most</th><th>Change with</th></tr></thead>
        <tbody>{list.map((k) => (
          <tr key={k.what}>
            <td>{k.what}</td><td className="num">{[k.count ? String(k.count) : "", k.bytes ? size(k.bytes) : ""].filter((p) => p !== "").join(", ") || "0"}</td>
            <td>{k.limit}</td><td><code>{k.by}</code></td>
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}

export function DiskUse() {
  const disk = useAnswer(queries.disk());
  const [recount] = useState((): Command[] => [{ id: "count the disk", name: "Count the disk usage again", hint: "this page", run: disk.again }]);
  usePageCommands(recount);
  return (
    <section>
      <div className="page-head"><h2>Disk</h2><span className="grow" /><button className="button small" disabled={disk.loading} onClick={disk.again}>Count again</button></div>
      {disk.problem && <ProblemBox problem={disk.problem} again={disk.again} />}
      {disk.loading && <Loading what="the disk usage" />}
      {disk.data && <DiskTable d={disk.data} />}
    </section>
  );
}

export function DiskTable({ d }: { d: Disk }) {
  return (
    <>
      <p className="muted">{size(d.total)} in total, {size(d.free)} free, below <code>{d.state}</code>, counted at {clock(d.at)}.{d.partial && " Not everything was counted in time: sizes with ≥ are at least that."}</p>
      <div className="scroll-x" tabIndex={0} role="region" aria-label="Disk">
        <table className="data"><thead><tr><th>Project</th><th>What</th><th className="num">Size</th><th className="num">Files</th><th>Where</th></tr></thead>
          <tbody>{diskRows(d).map(({ of, part }) => (
            <tr key={of + part.what}>
              <td>{of}</td><td>{part.what}</td><td className="num">{part.partial && "≥ "}{size(part.bytes)}</td><td className="num">{part.files || ""}</td>
              <td className="wide">{part.within ? `in the ${part.within}` : <code>{part.path}</code>}</td>
            </tr>
          ))}</tbody>
        </table>
      </div>
      <Kept list={d.kept ?? []} />
    </>
  );
}
