// The lines of a changed file. A person selects lines of one side by their
// numbers, with the mouse or the keyboard, to comment on them.
import { memo, useEffect, useMemo, useRef, useState, type FocusEvent, type KeyboardEvent, type MouseEvent, type PointerEvent, type ReactNode } from "react";
import type { DiffLine } from "../api/schema";
import type { Token } from "../lib/highlight";
import { changedParts, spanned, within, withPart, type Gap, type Part, type Range, type Shown, type Side } from "../lib/review";

const marks = { same: " ", added: "+", removed: "-" };

function LineNumber({ side, n, tab }: { side: Side; n?: number; tab: boolean }) {
  if (!n) return <span className="no" />;
  return <button type="button" className="no" data-side={side} data-n={n} tabIndex={tab ? 0 : -1} aria-label={`Comment on line ${n}${side === "old" ? " before the change" : ""}`}>{n}</button>;
}

const Line = memo(function Line({ l, tokens, on, tab }: { l: DiffLine; tokens: readonly Token[]; on: boolean; tab: boolean }) {
  return (
    <div className={`ln ln-${l.kind}${on ? " on" : ""}`}>
      <LineNumber side="old" n={l.kind === "added" ? undefined : l.old} tab={tab && l.kind === "removed"} />
      <LineNumber side="new" n={l.kind === "removed" ? undefined : l.new} tab={tab && l.kind !== "removed"} />
      <span className="mark">{marks[l.kind]}</span>
      <code>
        {tokens.map(([kind, text], i) => (kind ? <span key={i} className={kind}>{text}</span> : text))}
        {l.no_end && <span className="no-end"> (no line break at the end)</span>}
      </code>
    </div>
  );
});

const STEP = 20; // lines that are shown more

function GapLine({ gap, show }: { gap: Gap; show?: (from: keyof Shown, lines: number) => void }) {
  const few = gap.lines <= STEP;
  const more = (from: keyof Shown, lines: number, text: string) => <button className="button small ghost" onClick={() => show!(from, lines)}>{text}</button>;
  return (
    <div className="gap">
      <span className="muted" aria-hidden="true">⋯</span>
      {show && !few && gap.above && more("start", STEP, `Show ${STEP} lines below`)}
      {show && !few && gap.below && more("end", STEP, `Show ${STEP} lines above`)}
      {show ? more("start", gap.lines, few ? `Show ${gap.lines} unchanged ${gap.lines === 1 ? "line" : "lines"}` : `Show all ${gap.lines}`) : <span className="muted">{gap.lines} unchanged lines</span>}
      {gap.section && <code className="gap-section" title={gap.section}>{gap.section}</code>}
    </div>
  );
}

// numbered returns the side and number of the line whose number was used.
function numbered(target: EventTarget): { side: Side; n: number } | undefined {
  const el = target instanceof Element ? target.closest<HTMLElement>("[data-n]") : null;
  return el ? { side: el.dataset.side as Side, n: Number(el.dataset.n) } : undefined;
}

interface Props {
  parts: Part[];
  colours?: Partial<Record<Side, Token[][] | undefined>>;
  forms: Range[];
  under: (line: string) => ReactNode; // what is shown under a line: "new 12"
  onSelect: (r: Range) => void;
  show?: (gap: number, from: keyof Shown, lines: number) => void;
  wrap: boolean;
}

// tokensOf returns the tokens of each line. The colours of a line count only if
// they are the line.
function tokensOf(parts: Part[], colours: Props["colours"]): Map<DiffLine, readonly Token[]> {
  const out = new Map<DiffLine, readonly Token[]>();
  for (const p of parts) {
    if (!("lines" in p)) continue;
    const changed = changedParts(p.lines);
    for (const l of p.lines) {
      const found = l.kind === "removed" ? colours?.old?.[l.old! - 1] : colours?.new?.[l.new! - 1];
      const tokens: readonly Token[] = found?.map((t) => t[1]).join("") === l.text ? found : [["", l.text]];
      const part = changed.get(l);
      out.set(l, part ? withPart(tokens, part) : tokens);
    }
  }
  return out;
}

export function ReviewLines({ parts, colours, forms, under, onSelect, show, wrap }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<{ side: Side; from: number; to: number }>();
  const drag = useRef<typeof chosen>(undefined);
  const range = chosen && spanned(chosen.side, chosen.from, chosen.to);

  useEffect(() => {
    const end = (e: globalThis.PointerEvent) => {
      const d = drag.current;
      drag.current = undefined;
      if (d && e.type === "pointerup") onSelect(spanned(d.side, d.from, d.to));
      if (d) setChosen(undefined);
    };
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
    return () => {
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
    };
  }, [onSelect]);

  const choose = (c: typeof chosen) => {
    drag.current = c;
    setChosen(c);
  };
  const press = (e: PointerEvent) => {
    const at = numbered(e.target);
    if (!at || e.button !== 0) return;
    choose({ side: at.side, from: at.n, to: at.n });
  };
  const over = (e: PointerEvent) => {
    const at = numbered(e.target);
    if (at && drag.current && at.side === drag.current.side && at.n !== drag.current.to) choose({ ...drag.current, to: at.n });
  };
  const click = (e: MouseEvent) => {
    const at = numbered(e.target);
    if (!at || e.detail > 0) return; // the mouse selects with pointer events
    onSelect(range && within(range, at.side, at.n) ? range : spanned(at.side, at.n, at.n));
    setChosen(undefined);
  };
  const keys = (e: KeyboardEvent) => {
    const at = numbered(e.target);
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (!at || (!by && e.key !== "Escape")) return;
    e.preventDefault();
    if (!by) return setChosen(undefined);
    const rows = [...box.current!.querySelectorAll(".ln")];
    const onSide = (i: number) => rows[i]?.querySelector<HTMLElement>(`[data-side=${at.side}]`);
    let i = rows.indexOf((e.target as Element).closest(".ln")!) + by;
    while (e.shiftKey && rows[i] && !onSide(i)) i += by; // a selection has one side
    const next = onSide(i) ?? rows[i]?.querySelector<HTMLElement>("[data-n]");
    if (!next) return;
    next.focus();
    setChosen(e.shiftKey ? { side: at.side, from: chosen?.from ?? at.n, to: Number(next.dataset.n) } : undefined);
  };
  // One line number of the file is in the order of the Tab key: the last one that
  // had the focus.
  const focus = (e: FocusEvent) => {
    if (!numbered(e.target)) return;
    for (const el of box.current!.querySelectorAll<HTMLElement>("[data-n][tabindex='0']")) el.tabIndex = -1;
    (e.target as HTMLElement).tabIndex = 0;
  };

  const tokens = useMemo(() => tokensOf(parts, colours), [parts, colours]);
  const firstLine = parts.find((p) => "lines" in p)?.lines[0];
  const selected = range ? [...forms, range] : forms;
  const isOn = (l: DiffLine) => selected.some((r) => within(r, "old", l.kind === "added" ? undefined : l.old) || within(r, "new", l.kind === "removed" ? undefined : l.new));
  return (
    <div ref={box} className={"diff-lines" + (wrap ? " wrap" : "")} onPointerDown={press} onPointerOver={over} onClick={click} onKeyDown={keys} onFocus={focus}>
      {parts.map((p) => {
        if ("gap" in p) return <GapLine key={"gap " + p.gap.id} gap={p.gap} show={show && ((from, lines) => show(p.gap.id, from, lines))} />;
        return p.lines.map((l) => (
          <div key={`${l.kind} ${l.old ?? 0} ${l.new ?? 0}`} className="ln-box">
            <Line l={l} tokens={tokens.get(l)!} on={isOn(l)} tab={l === firstLine} />
            {l.kind !== "added" && under("old " + l.old)}
            {l.kind !== "removed" && under("new " + l.new)}
          </div>
        ));
      })}
    </div>
  );
}
