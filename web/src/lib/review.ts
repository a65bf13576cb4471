// The lines of a changed file: its hunks, the lines around them that a person
// expanded, and where comments belong.
import type { DiffLine, Hunk, ReviewComment } from "../api/schema";
import type { Token } from "./highlight";

export type Side = "old" | "new" | "document"; // the last one is a document of a flow, which did not change

// Range is a number of lines on one side of a change.
export interface Range {
  side: Side;
  first: number;
  last: number;
}

export const within = (r: Range, side: Side, n?: number) => n !== undefined && r.side === side && r.first <= n && n <= r.last;

export const rangeText = (r: Pick<Range, "first" | "last">) => (r.first === r.last ? `line ${r.first}` : `lines ${r.first}–${r.last}`);

// spanned returns the range between two lines, whichever comes first.
export const spanned = (side: Side, a: number, b: number): Range => ({ side, first: Math.min(a, b), last: Math.max(a, b) });

// Gap is a number of lines that did not change and are not shown.
export interface Gap {
  id: number; // its position among the hunks
  lines: number;
  above: boolean; // there are lines above it, so that it can be shown from its start
  below: boolean;
  section?: string; // of the hunk below it
}

// Shown says how many lines of a gap are shown, from its start and from its end.
export interface Shown {
  start: number;
  end: number;
}

export type Part = { gap: Gap } | { lines: DiffLine[] };

// layOut returns the parts of a file in their order. The whole text, after the
// change, is needed for the lines of gaps and for the gap after the last hunk.
export function layOut(hunks: Hunk[], text: string[] | undefined, shown: Record<number, Shown>): Part[] {
  const parts: Part[] = [];
  let oldAt = 1;
  let newAt = 1;
  for (let id = 0; id <= hunks.length; id++) {
    const hunk = hunks[id];
    const size = Math.max(0, (hunk ? hunk.new : (text?.length ?? 0) + 1) - newAt);
    const { start, end } = clamp(shown[id], text ? size : 0);
    const same = (from: number, n: number): DiffLine[] => Array.from({ length: n }, (_, i) => ({ kind: "same", old: oldAt + from + i, new: newAt + from + i, text: text?.[newAt + from + i - 1] ?? "" }));
    const add = (lines: DiffLine[]) => lines.length > 0 && parts.push({ lines });
    add(same(0, start));
    if (size > start + end) parts.push({ gap: { id, lines: size - start - end, above: id > 0, below: hunk !== undefined, section: hunk?.section } });
    add(same(size - end, end));
    if (!hunk) break;
    const lines = hunk.lines ?? [];
    add(lines);
    oldAt = Math.max(1, hunk.old) + lines.filter((l) => l.kind !== "added").length;
    newAt = Math.max(1, hunk.new) + lines.filter((l) => l.kind !== "removed").length;
  }
  return parts;
}

function clamp(s: Shown = { start: 0, end: 0 }, size: number): Shown {
  const start = Math.min(s.start, size);
  return { start, end: Math.min(s.end, size - start) };
}

// visible lists the lines that the parts show, by side and number.
export function visible(parts: Part[]): Set<string> {
  const out = new Set<string>();
  for (const p of parts) {
    if (!("lines" in p)) continue;
    for (const l of p.lines) {
      if (l.old && l.kind !== "added") out.add("old " + l.old);
      if (l.new && l.kind !== "removed") out.add("new " + l.new);
    }
  }
  return out;
}

// placed sorts what belongs to lines by the line under which it is shown. What
// belongs to no visible line is listed under "".
export function placed<T>(items: T[], at: (item: T) => Range | undefined, lines: Set<string>): Map<string, T[]> {
  const out = new Map<string, T[]>();
  for (const item of items) {
    const r = at(item);
    const key = r ? `${r.side} ${r.last}` : "";
    const known = lines.has(key) ? key : "";
    out.set(known, [...(out.get(known) ?? []), item]);
  }
  return out;
}

// placeOf returns where a comment's code is now.
export const placeOf = (c: ReviewComment): Range | undefined => c.at && { side: c.side as Side, first: c.at.first, last: c.at.last };

export const isOpen = (c: ReviewComment) => c.state !== "resolved";

// changedParts returns which part of a line differs from the line that it
// replaces, or that replaces it. As many lines must be added as are removed.
export function changedParts(lines: DiffLine[]): Map<DiffLine, [from: number, to: number]> {
  const out = new Map<DiffLine, [number, number]>();
  for (let i = 0; i < lines.length; i++) {
    const start = i;
    while (lines[i]?.kind === "removed") i++;
    const added = i;
    while (lines[i]?.kind === "added") i++;
    if (added - start !== i - added) continue;
    for (let k = start; k < added; k++) compare(lines[k]!, lines[added + k - start]!, out);
  }
  return out;
}

const inWord = /[\w\ud800-\udfff]/;

// compare marks what is between the common start and the common end of two lines,
// in whole words. Lines with little in common are not marked.
function compare(a: DiffLine, b: DiffLine, out: Map<DiffLine, [number, number]>): void {
  const shorter = Math.min(a.text.length, b.text.length);
  let head = 0;
  while (head < shorter && a.text[head] === b.text[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a.text.at(-1 - tail) === b.text.at(-1 - tail)) tail++;
  const letter = (at: number) => [a, b].some((l) => inWord.test(l.text.at(at) ?? ""));
  while (head > 0 && letter(head - 1) && letter(head)) head--;
  while (tail > 0 && letter(-tail) && letter(-1 - tail)) tail--;
  if (a.text.slice(0, head).trim().length + tail < shorter / 3) return;
  for (const l of [a, b]) if (head < l.text.length - tail) out.set(l, [head, l.text.length - tail]);
}

// withPart adds a class to the part of a line from one position to another.
export function withPart(tokens: readonly Token[], [from, to]: [number, number]): Token[] {
  let at = 0;
  return tokens.flatMap(([kind, text]) => {
    const [a, b] = [from, to].map((n) => Math.max(0, Math.min(text.length, n - at))) as [number, number];
    at += text.length;
    const pieces: Token[] = [[kind, text.slice(0, a)], [`${kind} word`, text.slice(a, b)], [kind, text.slice(b)]];
    return pieces.filter((p) => p[1]);
  });
}
