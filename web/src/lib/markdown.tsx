// A subset of Markdown, enough for the messages of agents. It creates elements,
// never HTML text, so that an agent's message cannot become part of the page.
import { Fragment, type ReactNode } from "react";

function inline(text: string): ReactNode[] {
  const out: ReactNode[] = [];
  const pattern = /(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)|\*\*([^*\n]+)\*\*|(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])/g;
  let at = 0;
  for (let m = pattern.exec(text); m; m = pattern.exec(text)) {
    if (m.index > at) out.push(text.slice(at, m.index));
    out.push(m[2] !== undefined ? <code key={m.index}>{m[2]}</code> : m[3] !== undefined ? <strong key={m.index}>{m[3]}</strong> : <em key={m.index}>{m[4]}</em>);
    at = m.index + m[0].length;
  }
  if (at < text.length) out.push(text.slice(at));
  return out;
}

// boxed shows the check-box at the start of an item.
function boxed(text: string): ReactNode[] {
  const m = /^\[([ xX])\]\s+/.exec(text);
  if (!m) return inline(text);
  const done = m[1] !== " ";
  return [<span key="box" role="img" aria-label={done ? "done" : "open"} className={done ? "add-text" : "muted"}>{done ? "☑" : "☐"}</span>, " ", ...inline(text.slice(m[0].length))];
}

interface Part {
  kind: "code" | "list" | "heading" | "quote" | "table" | "text";
  lines: string[];
  note?: string;
}

export function parts(text: string): Part[] {
  const out: Part[] = [];
  let open: Part | undefined;
  let fence = "";
  for (const line of text.split("\n")) {
    if (fence) {
      if (line.trim() === fence) {
        fence = "";
        open = undefined;
      } else open!.lines.push(line);
      continue;
    }
    const begin = /^\s*(```+|~~~+)\s*(\S*)/.exec(line);
    if (begin) {
      fence = begin[1]!;
      open = { kind: "code", lines: [], note: begin[2] };
      out.push(open);
      continue;
    }
    if (line.trim() === "") {
      open = undefined;
      continue;
    }
    const kind: Part["kind"] = /^#{1,6}\s/.test(line) ? "heading" : /^\s*([-*+]|\d+[.)])\s/.test(line) ? "list" : /^>/.test(line) ? "quote" : /^\|.*\|\s*$/.test(line) ? "table" : "text";
    const continues = open && (open.kind === kind || (open.kind === "list" && /^\s{2,}/.test(line))) && kind !== "heading";
    if (!continues) {
      open = { kind, lines: [] };
      out.push(open);
    }
    if (open!.kind === "list" && kind === "text") open!.lines[open!.lines.length - 1] += "\n" + line.trim();
    else open!.lines.push(line);
  }
  return out;
}

// cells returns the cells of a row of a table.
const cells = (line: string) => line.trim().slice(1, -1).split(/(?<!\\)\|/).map((c) => c.trim().replaceAll("\\|", "|"));

// Rows shows a table. The line below its head has only dashes.
function Rows({ lines }: { lines: string[] }) {
  const rows = lines.filter((l) => !/^[|:\s-]+$/.test(l)).map(cells);
  const [head = [], ...rest] = rows;
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Table">
      <table className="data">
        <thead><tr>{head.map((c, i) => <th key={i}>{inline(c)}</th>)}</tr></thead>
        <tbody>{rest.map((r, i) => <tr key={i}>{r.map((c, j) => <td key={j}>{inline(c)}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}

export function Markdown({ text }: { text: string }) {
  return (
    <div className="prose">
      {parts(text).map((p, i) => {
        if (p.kind === "code") return <pre key={i} tabIndex={0}>{p.lines.join("\n")}</pre>;
        if (p.kind === "quote") return <blockquote key={i}>{p.lines.map((l, j) => <Fragment key={j}>{j > 0 && "\n"}{inline(l.replace(/^>\s?/, ""))}</Fragment>)}</blockquote>;
        if (p.kind === "table") return <Rows key={i} lines={p.lines} />;
        if (p.kind === "heading") return <p key={i} className="prose-heading">{boxed(p.lines[0]!.replace(/^#+\s/, ""))}</p>;
        if (p.kind === "list") {
          const List = /^\s*\d/.test(p.lines[0]!) ? "ol" : "ul";
          return <List key={i}>{p.lines.map((l, j) => <li key={j} className={/^\s{2,}/.test(l) ? "nested" : undefined}>{boxed(l.replace(/^\s*([-*+]|\d+[.)])\s/, ""))}</li>)}</List>;
        }
        return <p key={i}>{p.lines.map((l, j) => <Fragment key={j}>{j > 0 && "\n"}{inline(l)}</Fragment>)}</p>;
      })}
    </div>
  );
}

// plainText returns a text on one line without the marks of Markdown, for lists.
export function plainText(text: string): string {
  return text
    .replace(/^\s*(```+|~~~+).*$/gm, "")
    .replace(/^\s*(#{1,6}|[-*+]|\d+[.)]|>)\s+/gm, "")
    .replace(/\[([^\]\n]+)\]\([^)\n]*\)/g, "$1")
    .replace(/(\*\*|__)(?=\S)([^\n]*?\S)\1/g, "$2")
    .replace(/(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])/g, "$1")
    .replace(/(`+)([^`\n]+)\1/g, "$2")
    .replace(/\s+/g, " ")
    .trim();
}
