// Turns the output of a session into a conversation: messages, thoughts, each
// tool call with its result, and errors.
import type { Output, Usage } from "../api/schema";
import { classes, toolNames } from "../api/tables";
import { lineDiff, parsePatch, type Line } from "./diff";

export interface AgentEvent {
  kind: string;
  text?: string;
  ref?: string;
  name?: string;
  tool?: string;
  input?: unknown;
  paths?: string[];
  ok?: boolean;
  options?: string[];
  descriptions?: string[]; // of the options
  rule?: unknown; // a question with a rule asks for a permission; the page above it has its options
  state?: string;
  class?: string; reason?: string;
  until?: string;
  usage?: Usage;
  model?: string; version?: string;
  took?: string;
  own?: boolean; // the agent's report of a call, which the call shows too
}

export interface Block {
  id: number; // the offset of its first piece
  at: string;
  kind: "text" | "thinking" | "tool" | "plan" | "permission" | "question" | "limit" | "error" | "turn" | "notice" | "init" | "stderr" | "image";
  text: string;
  ref?: string;
  name?: string;
  tool?: string;
  input?: unknown;
  paths?: string[];
  options?: string[];
  descriptions?: string[]; // of the options
  result?: string;
  ok?: boolean; // of a tool, after its result
  bad: boolean; // an error to jump to
}

const decoder = new TextDecoder();
const LONGEST = 20_000; // characters of one block of what a process wrote

export function bytes(base64: string): Uint8Array {
  const text = atob(base64);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out;
}

// withoutEscapes removes the escape sequences that colour output.
export function withoutEscapes(text: string): string {
  return text.replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g, "");
}

// plain is withoutEscapes with one kind of line ends.
export function plain(text: string): string {
  return withoutEscapes(text).replace(/\r\n?/g, "\n");
}

// Builder takes output in order and keeps the blocks. Blocks are replaced, not
// changed, so that a view can compare them by identity.
export class Builder {
  blocks: Block[] = [];
  // The positions of calls, counted from the first block ever, so that
  // prepending does not move them.
  private calls = new Map<string, number>();
  private before = 0;
  private orphans = new Map<number, string>(); // results whose call was not seen: id and ref, in order
  private last = -1;

  // add takes pieces. It skips those that it has seen, so that a stream can
  // repeat pieces when it resumes.
  add(pieces: Output[]): boolean {
    const before = this.blocks;
    this.blocks = [...before];
    let changed = false;
    for (const p of pieces) {
      if (p.offset <= this.last) continue;
      this.last = p.offset;
      changed = this.one(p) || changed;
    }
    if (!changed) this.blocks = before;
    return changed;
  }

  // prepend takes the pieces before the first block. A call in them gets its
  // result, if that was seen before.
  prepend(pieces: Output[]): void {
    const older = new Builder();
    older.add(pieces);
    const gone: number[] = [];
    for (const [block, ref] of this.orphans) {
      const call = older.calls.get(ref);
      const at = call === undefined ? -1 : this.indexOf(block);
      if (call === undefined || at < 0) continue;
      const b = this.blocks[at]!;
      older.blocks[call] = { ...older.blocks[call]!, result: (older.blocks[call]!.result ?? "") + (b.result ?? ""), ok: b.ok, bad: b.bad };
      this.orphans.delete(block);
      gone.push(at);
    }
    if (gone.length > 0) {
      // They are at the start: only what is before them must be counted again.
      const rest = gone.at(-1)! + 1;
      const front = this.blocks.slice(0, rest).filter((_, i) => !gone.includes(i));
      this.blocks = front.concat(this.blocks.slice(rest));
      this.before -= gone.length;
      front.forEach((b, i) => b.kind === "tool" && b.ref && !this.orphans.has(b.id) && this.calls.set(b.ref, i - this.before));
    }
    this.before += older.blocks.length;
    for (const [ref, at] of older.calls) if (!this.calls.has(ref)) this.calls.set(ref, at - this.before);
    this.orphans = new Map([...older.orphans, ...this.orphans]);
    this.blocks = older.blocks.concat(this.blocks);
    if (this.last < 0) this.last = older.last;
  }

  // indexOf finds a block by its id; ids grow.
  private indexOf(id: number): number {
    let low = 0;
    let high = this.blocks.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.blocks[mid]!.id < id) low = mid + 1;
      else high = mid;
    }
    return this.blocks[low]?.id === id ? low : -1;
  }

  private one(p: Output): boolean {
    if (p.kind === "image") {
      this.blocks.push({ id: p.offset, at: p.at, kind: "image", text: "", bad: false });
      return true;
    }
    if (p.kind === "stderr" || p.kind === "host") return this.noise(p);
    if (p.kind !== "event" || !p.event || (p.event as AgentEvent).own) return false;
    const e = p.event as AgentEvent;
    if (e.kind === "tool_result") return this.result(p, e);
    const block = blockOf(p, e);
    if (!block) return false;
    if (block.kind === "tool" && e.ref) this.calls.set(e.ref, this.blocks.length - this.before);
    this.blocks.push(block);
    return true;
  }

  private noise(p: Output): boolean {
    const text = plain(noted(p.kind, decoder.decode(bytes(p.data ?? ""))));
    if (text.trim() === "") return false;
    const before = this.blocks.at(-1);
    if (p.kind === "stderr" && before?.kind === "stderr" && before.text.length < LONGEST) {
      this.blocks[this.blocks.length - 1] = { ...before, text: before.text + text };
      return true;
    }
    this.blocks.push({ id: p.offset, at: p.at, kind: p.kind === "host" ? "notice" : "stderr", text, bad: false });
    return true;
  }

  private result(p: Output, e: AgentEvent): boolean {
    const place = this.calls.get(e.ref ?? "");
    const at = place === undefined ? -1 : place + this.before;
    const call = this.blocks[at];
    if (!call) {
      this.orphans.set(p.offset, e.ref ?? "");
      this.blocks.push({ id: p.offset, at: p.at, kind: "tool", text: "", name: e.name ?? "result", ref: e.ref, result: e.text ?? "", ok: e.ok === true, bad: e.ok !== true });
      return true;
    }
    this.blocks[at] = { ...call, result: (call.result ?? "") + (e.text ?? ""), ok: e.ok === true, bad: e.ok !== true };
    return true;
  }
}

// noted returns the text of a note of the host, which is an event. Other texts
// are returned unchanged.
function noted(kind: string, text: string): string {
  if (kind !== "host") return text;
  try {
    const e = JSON.parse(text) as AgentEvent | null;
    return typeof e?.kind === "string" ? (e.text ?? "") : text;
  } catch {
    return text;
  }
}

// labelOf returns the name of a tool for people.
const labelOf = (name?: string) => (name === undefined ? undefined : (toolNames[name] ?? name));

function blockOf(p: Output, e: AgentEvent): Block | undefined {
  const base = { id: p.offset, at: p.at, text: e.text ?? "", bad: false };
  switch (e.kind) {
    case "text":
    case "thinking":
    case "plan":
    case "notice":
      return base.text === "" ? undefined : { ...base, kind: e.kind };
    case "tool":
      return { ...base, kind: "tool", ref: e.ref, name: labelOf(e.name) ?? e.tool ?? "tool", tool: e.tool, input: e.input, paths: e.paths };
    case "call":
      return { ...base, kind: "tool", text: "", name: `coppice ${e.name ?? ""}`, input: e.input, result: [e.text, e.took && `(${e.took})`].filter(Boolean).join("\n"), ok: e.ok === true, bad: e.ok !== true };
    case "permission":
      return { ...base, kind: "permission", name: labelOf(e.name), input: e.input, ref: e.ref };
    case "question":
      return { ...base, kind: "question", ref: e.ref, ...(e.rule ? { name: "permission" } : { options: e.options, descriptions: e.descriptions }) };
    case "limit": return { ...base, kind: "limit", text: e.text || "the account must wait" + (e.until ? ` until ${e.until}` : ""), bad: true };
    case "error":
      return { ...base, kind: "error", text: [e.class && (classes[e.class] ?? e.class), e.text].filter(Boolean).join(": "), bad: true };
    case "init":
      return e.model || e.version ? { ...base, kind: "init", text: [e.model, e.version].filter(Boolean).join(" · ") } : undefined;
    case "turn": return { ...base, kind: "turn", text: e.reason ?? "" };
  }
  return undefined; // usage and states are shown elsewhere
}

function textOf(o: Record<string, unknown>, ...names: string[]): string | undefined {
  for (const n of names) if (typeof o[n] === "string") return o[n];
  return undefined;
}

// changesOf returns what a tool call changes, if its input says so: a text and
// its replacement, a whole file, or a patch. The names are those in common use.
export function changesOf(input: unknown): Line[] | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  const o = input as Record<string, unknown>;
  if (Array.isArray(o.edits)) {
    const parts = o.edits.map(changesOf).filter((l) => l !== undefined);
    return parts.length > 0 ? parts.flatMap((l, i): Line[] => (i > 0 ? [{ kind: "hunk", text: "…" }, ...l] : l)) : undefined;
  }
  const before = textOf(o, "old_string", "old_str", "oldText", "old_text", "old");
  const after = textOf(o, "new_string", "new_str", "newText", "new_text", "new");
  if (before !== undefined && after !== undefined) return lineDiff(before, after);
  const patch = textOf(o, "unified_diff", "patch", "diff");
  if (patch?.includes("@@")) {
    const lines = parsePatch(patch).flatMap((f): Line[] => (f.path ? [{ kind: "note", text: f.path }, ...f.lines] : f.lines));
    return lines.length > 0 ? lines : undefined;
  }
  const whole = textOf(o, "content", "file_text");
  if (whole !== undefined && textOf(o, "path", "file_path", "filename") !== undefined) return lineDiff("", whole);
  return undefined;
}

// gist returns one line that describes a tool call.
export function gist(b: Block): string {
  const o = (typeof b.input === "object" && b.input !== null ? b.input : {}) as Record<string, unknown>;
  const command = o.command;
  if (Array.isArray(command)) return command.join(" ");
  const text = textOf(o, "command", "cmd", "file_path", "path", "pattern", "query", "url", "message", "description");
  return (text ?? b.paths?.join(", ") ?? b.text).split("\n")[0] ?? "";
}

export function searchText(b: Block): string {
  return [b.text, b.name, b.result, b.input === undefined ? "" : JSON.stringify(b.input)].join("\n").toLowerCase();
}
