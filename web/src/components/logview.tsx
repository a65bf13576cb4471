// A log with search, a jump to errors, copy and download. Only the visible part
// is drawn. A log that grows is followed until the user scrolls up.
import { useCallback, useDeferredValue, useEffect, useRef, useState } from "react";
import { contains, Finder, isError, marksOf, type Line } from "../lib/lines";
import { marked } from "../lib/marks";
import type { Relative } from "../lib/relative";
import { Link } from "../router";
import { VirtualLog } from "../ui/log";
import { Copy } from "../ui/parts";

const HEIGHT = 19; // px of a line that is not wrapped

const idOf = (l: Line) => l.id;

interface Props {
  name: string;
  lines: readonly Line[];
  live?: boolean; // it grows
  at?: number; // the line to open at; without one, a log that grows opens at its end
  link?: (no: number) => string; // the address of a line
  relative?: Relative; // how its paths are shown
}

export function LogView({ name, lines, live = false, at, link, relative }: Props) {
  const [follow, setFollow] = useState(live && at === undefined);
  const [search, setSearch] = useState("");
  const [mark, setMark] = useState(at);
  const [start] = useState(live ? undefined : lines[0]?.id);
  const [found, bad] = useRef([new Finder(), new Finder()]).current;
  const words = useDeferredValue(search).toLowerCase();
  const hits = found!.find(lines, words, contains(words));
  const errors = bad!.find(lines, "", isError);
  const current = mark === undefined ? -1 : hits.indexOf(mark);
  useEffect(() => {
    setMark(at);
    if (at !== undefined) setFollow(false);
  }, [at]);

  const go = (line: number | undefined) => {
    if (line === undefined) return;
    setFollow(false);
    setMark(line);
  };
  const next = (by: number) => go(hits[(current < 0 ? (by > 0 ? 0 : hits.length - 1) : current + by + hits.length) % hits.length]);
  const nextError = () => go(errors.find((id) => id > (mark ?? 0)) ?? errors[0]);
  const row = useCallback((l: Line) => <Row l={l} words={words} marked={l.id === mark} link={link} relative={relative} />, [words, mark, link, relative]);
  const text = () => lines.map((l) => l.text).join("\n") + "\n";
  return (
    <div className="logview">
      <div className="toolbar">
        <input type="search" placeholder="Search in this log" aria-label={`Search in the log of ${name}`} value={search} onChange={(e) => setSearch(e.target.value)}
          onKeyDown={(e) => {
            if (e.key !== "Enter") return;
            e.preventDefault();
            next(e.shiftKey ? -1 : 1);
          }} />
        {words && <span className="muted" role="status">{hits.length === 0 ? "no match" : current < 0 ? `${hits.length} found` : `${current + 1} of ${hits.length}`}</span>}
        {hits.length > 0 && <button className="button icon" aria-label="Previous match" onClick={() => next(-1)}>↑</button>}
        {hits.length > 0 && <button className="button icon" aria-label="Next match" onClick={() => next(1)}>↓</button>}
        <span className="grow" />
        {errors.length > 0 && <button className="button small" onClick={nextError}>Next error ({errors.length})</button>}
        {live && <button className="button small" aria-pressed={follow} onClick={() => setFollow(!follow)}>{follow ? "Following" : "Follow"}</button>}
        <Copy text={text} label={`Copy the log of ${name}`} hidden />
        <button className="button small" onClick={() => download(name, text())}>Download</button>
      </div>
      {lines.length === 0 ? <p className="logview-empty muted">{live ? "No output yet." : "It wrote nothing."}</p> : (
        <VirtualLog items={lines} id={idOf} row={row} className="lines" label={`Log of ${name}`} guess={HEIGHT} follow={follow}
          onLeave={() => setFollow(false)} onEnd={() => live && setFollow(true)} show={mark ?? start} />
      )}
    </div>
  );
}

function Row({ l, words, marked: here, link, relative }: { l: Line; words: string; marked: boolean } & Pick<Props, "link" | "relative">) {
  const text = relative ? relative(l.text) : l.text;
  const parts = marked(text, marksOf(text, words));
  return (
    <div className={"log-line" + (isError(l) ? " bad" : "") + (here ? " marked" : "")}>
      {link && l.no !== undefined ? <Link className="line-no" href={link(l.no)} tabIndex={-1} aria-label={`Line ${l.no}`}>{l.no}</Link> : <span className="line-no">{l.no}</span>}
      <span>{parts.map((p, i) => (p.hit ? <mark key={i}>{p.text}</mark> : p.text))}</span>
    </div>
  );
}

// download saves a text as a file.
function download(name: string, text: string): void {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  a.download = name.replace(/[^\w.-]+/g, "-").slice(0, 60) + ".log";
  a.click();
  URL.revokeObjectURL(a.href);
}

// useFind lets Ctrl F search in the logs of a page: in the one with the focus, or
// else in the first. Pressed again, it is the browser's own search.
export function useFind(): void {
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      if (!(e.ctrlKey || e.metaKey) || e.key.toLowerCase() !== "f" || document.querySelector("dialog[open]")) return;
      const box = document.activeElement?.closest(".logview") ?? document.querySelector(".logview");
      const input = box?.querySelector<HTMLInputElement>("input[type=search]");
      if (!input || input === document.activeElement) return;
      e.preventDefault();
      input.focus();
      input.select();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
