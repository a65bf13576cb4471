// One piece of a conversation.
import { changesOf, gist, plain, type Block } from "../lib/conversation";
import { clock } from "../lib/format";
import { Markdown } from "../lib/markdown";
import { relativeIn, type Relative } from "../lib/relative";
import { Mono } from "../ui/parts";
import { DiffLines } from "./difflines";
import { Picture } from "./pictures";

const CUT = 20_000; // characters of a result that are shown

function cut(text: string): string {
  return text.length > CUT ? text.slice(0, CUT) + `\n… ${text.length - CUT} more characters; the raw view has them` : text;
}

export function BlockView({ b, session, marked, relative }: { b: Block; session: string; marked: boolean; relative: Relative }) {
  return (
    <div className={`block b-${b.kind}` + (b.bad ? " bad" : "") + (marked ? " marked" : "")} data-block={b.id}>
      <Inside b={relativeIn(b, relative)} session={session} />
      <time dateTime={b.at}>{clock(b.at)}</time>
    </div>
  );
}

function Inside({ b, session }: { b: Block; session: string }) {
  switch (b.kind) {
    case "text":
    case "plan":
      return <Markdown text={b.text} />;
    case "thinking":
      return <details><summary>Thinking</summary><Markdown text={b.text} /></details>;
    case "tool":
      return <ToolView b={b} />;
    case "permission":
      return <p><span className="tag">permission</span> {b.name}: {b.text}</p>;
    case "question":
      return <><span className="tag">{b.name ?? "question"}</span><Markdown text={b.text} />{b.options && <ol>{b.options.map((o, i) => <li key={i}>{o}{b.descriptions?.[i] && <span className="muted">: {b.descriptions[i]}</span>}</li>)}</ol>}</>;
    case "image":
      return <Picture session={session} offset={b.id} at={b.at} />;
    case "stderr":
      return <pre tabIndex={0}>{cut(b.text)}</pre>;
    case "turn":
      return <p className="muted">Turn finished{b.text && `: ${b.text}`}</p>;
    case "init":
      return <p className="muted">started{b.text && ` with ${b.text}`}</p>;
    case "limit":
    case "error":
      return <p><span className="tag bad">{b.kind}</span> <Mono text={b.text} /></p>;
  }
  return <p className="muted">{b.text}</p>;
}

function ToolView({ b }: { b: Block }) {
  const changes = changesOf(b.input);
  const state = b.ok === undefined ? (b.result === undefined ? "…" : "") : b.ok ? "✓" : "✗";
  return (
    <details open={b.bad || changes !== undefined}>
      <summary>
        <span className={b.bad ? "bad-text" : "muted"}>{state}</span> <strong>{b.name}</strong> <code>{gist(b)}</code>
      </summary>
      {changes ? <DiffLines lines={changes} /> : b.input !== undefined && <pre tabIndex={0}>{cut(typeof b.input === "string" ? b.input : JSON.stringify(b.input, null, 2))}</pre>}
      {b.result && <pre className="result" tabIndex={0}>{cut(plain(b.result))}</pre>}
    </details>
  );
}
