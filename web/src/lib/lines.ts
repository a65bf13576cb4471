// The lines of a log: read as a whole, or piece by piece while a command writes
// it.
import { errorPatterns } from "../api/tables";
import { withoutEscapes } from "./conversation";
import { size } from "./format";

export interface Line {
  id: number; // grows by one with each line
  no?: number; // its number in the whole log; absent after a part that was not kept
  text: string;
}

const errors = new RegExp(errorPatterns.join("|"));

// isError reports whether a line looks like an error.
export const isError = (l: Line) => errors.test(l.text);

// shown returns the part of a line that a terminal would show: without colours,
// and only the last of the texts that replaced each other.
export function shown(text: string): string {
  if (!/[\r\u001b]/.test(text)) return text;
  const plain = withoutEscapes(text).replace(/\r+$/, "");
  return plain.slice(plain.lastIndexOf("\r") + 1);
}

// linesOf splits a whole log.
export function linesOf(text: string): Line[] {
  const all = text.split("\n");
  if (all.at(-1) === "") all.pop();
  return all.map((t, i) => ({ id: i + 1, no: i + 1, text: shown(t) }));
}

const MOST = 200_000; // lines that are kept of a log that grows

// GrowingLog is the output of a running command.
export class GrowingLog {
  lines: readonly Line[] = []; // replaced by publish
  private all: Line[] = [];
  private rest = ""; // the last line, which might continue
  private last = 0; // the id of the last whole line
  private no: number | undefined = 0; // its number
  private at = 0; // bytes so far
  private decoder = new TextDecoder();
  private dirty = false;

  // add takes a piece. It ignores what it has, and notes what was not kept.
  add(offset: number, piece: Uint8Array): void {
    const known = this.at - offset;
    if (known >= piece.length) return;
    if (known < 0) this.skip(-known);
    this.at = offset + piece.length;
    this.dirty = true;
    this.write(this.decoder.decode(known > 0 ? piece.subarray(known) : piece, { stream: true }));
  }

  private skip(bytes: number): void {
    this.write(this.decoder.decode() + (this.rest ? "\n" : ""));
    this.no = undefined;
    this.push(`… ${size(bytes)} of the output were not kept …`);
  }

  private push(text: string): void {
    this.last++;
    if (this.no !== undefined) this.no++;
    this.all.push({ id: this.last, no: this.no, text });
  }

  private write(text: string): void {
    if (this.rest) this.all.pop();
    const parts = (this.rest + text).split("\n");
    this.rest = parts.pop()!;
    for (const p of parts) this.push(shown(p));
    if (this.rest) this.all.push({ id: this.last + 1, no: this.no === undefined ? undefined : this.no + 1, text: shown(this.rest) });
  }

  // publish makes the lines so far visible.
  publish(): void {
    if (!this.dirty) return;
    this.dirty = false;
    if (this.all.length > MOST * 1.1) this.all = this.all.slice(-MOST);
    this.lines = this.all.slice();
  }
}

// Finder finds lines. It reads lines that were added, not the whole log again.
export class Finder {
  private name: string | undefined;
  private first: number | undefined;
  private read = 0; // lines that cannot change any more
  private hits: number[] = [];

  // find returns the ids of the lines that fit. Another name means that other
  // lines fit than before.
  find(lines: readonly Line[], name: string, fits: (l: Line) => boolean): readonly number[] {
    if (name !== this.name || lines[0]?.id !== this.first || lines.length < this.read) {
      this.name = name;
      this.first = lines[0]?.id;
      this.read = 0;
      this.hits = [];
    }
    for (; this.read < lines.length - 1; this.read++) if (fits(lines[this.read]!)) this.hits.push(lines[this.read]!.id);
    const last = lines.at(-1);
    return last && fits(last) ? [...this.hits, last.id] : this.hits;
  }
}

// contains reports whether a line contains a text in lower case.
export const contains = (words: string) => (l: Line) => words !== "" && l.text.toLowerCase().includes(words);

// marksOf returns where a text contains the words: [start, length].
export function marksOf(text: string, words: string): [number, number][] {
  const out: [number, number][] = [];
  const low = text.toLowerCase();
  for (let at = words ? low.indexOf(words) : -1; at >= 0; at = low.indexOf(words, at + words.length)) out.push([at, words.length]);
  return out;
}
