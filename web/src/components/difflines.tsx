// Coloured lines of a patch. The marks stay in the text, so that the meaning
// does not depend on colour.
import { memo } from "react";
import type { Line } from "../lib/diff";

const marks = { add: "+", del: "-", same: " ", hunk: "", note: "\\ " };

export const DiffLines = memo(function DiffLines({ lines, numbers }: { lines: Line[]; numbers?: boolean }) {
  return (
    <pre className="diff" tabIndex={0}>
      {lines.map((l, i) => (
        <span key={i} className={"d-" + l.kind}>
          {numbers && <span className="d-no" aria-hidden="true">{(l.kind === "del" ? l.old : l.new) ?? ""}</span>}
          {marks[l.kind]}{l.text}{"\n"}
        </span>
      ))}
    </pre>
  );
});
