// Patches: read one as git writes it, and make one from two texts.

export type LineKind = "add" | "del" | "same" | "hunk" | "note";

export interface Line {
  kind: LineKind;
  text: string;
  old?: number;
  new?: number;
}

export interface FileDiff {
  path: string;
  from?: string; // its old path, if it was renamed
  state: "changed" | "added" | "deleted" | "renamed" | "binary";
  added: number;
  removed: number;
  lines: Line[];
}

// parsePatch reads a git patch, file by file. It keeps lines that it does not
// understand as notes.
export function parsePatch(patch: string): FileDiff[] {
  const files: FileDiff[] = [];
  let file: FileDiff | undefined;
  let oldAt = 0;
  let newAt = 0;
  let left = 0;
  let right = 0;
  const lines = patch.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const text of lines) {
    if (file && (left > 0 || right > 0)) {
      const mark = text[0];
      if (mark === "+") {
        file.lines.push({ kind: "add", text: text.slice(1), new: newAt++ });
        file.added++;
        right--;
        continue;
      }
      if (mark === "-") {
        file.lines.push({ kind: "del", text: text.slice(1), old: oldAt++ });
        file.removed++;
        left--;
        continue;
      }
      if (mark === "\\") {
        file.lines.push({ kind: "note", text: text.slice(2) });
        continue;
      }
      if (mark === " " || mark === undefined) {
        file.lines.push({ kind: "same", text: text.slice(1), old: oldAt++, new: newAt++ });
        left--;
        right--;
        continue;
      }
      left = right = 0; // cut short
    }
    const head = /^diff --git a\/(.*) b\/(.*)$/.exec(text);
    if (head) {
      file = { path: head[2]!, state: "changed", added: 0, removed: 0, lines: [] };
      files.push(file);
      continue;
    }
    if (!file) {
      if (text.startsWith("--- ")) continue;
      if (text.startsWith("+++ ")) {
        file = { path: text.slice(4).replace(/^b\//, ""), state: "changed", added: 0, removed: 0, lines: [] };
        files.push(file);
      } else if (text.startsWith("@@")) {
        file = { path: "", state: "changed", added: 0, removed: 0, lines: [] };
        files.push(file);
      } else continue;
    }
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(text);
    if (hunk) {
      oldAt = Number(hunk[1]);
      newAt = Number(hunk[3]);
      left = Number(hunk[2] ?? 1);
      right = Number(hunk[4] ?? 1);
      file.lines.push({ kind: "hunk", text });
    } else header(file, text);
  }
  return files;
}

function header(file: FileDiff, text: string): void {
  if (text.startsWith("new file")) file.state = "added";
  else if (text.startsWith("deleted file")) file.state = "deleted";
  else if (text.startsWith("rename from ")) {
    file.state = "renamed";
    file.from = text.slice("rename from ".length);
  } else if (text.startsWith("rename to ")) file.path = text.slice("rename to ".length);
  else if (text.startsWith("Binary files ") || text.startsWith("GIT binary patch")) {
    file.state = "binary";
    file.lines.push({ kind: "note", text: "a binary file" });
  } else if (/^\\ /.test(text)) file.lines.push({ kind: "note", text: text.slice(2) });
}

const MOST = 2_000_000; // cells of the table below

// lineDiff returns the lines of a text that were replaced.
export function lineDiff(before: string, after: string): Line[] {
  const a = before === "" ? [] : before.replace(/\n$/, "").split("\n");
  const b = after === "" ? [] : after.replace(/\n$/, "").split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const out: Line[] = a.slice(0, start).map((text) => ({ kind: "same", text }));
  out.push(...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)));
  out.push(...a.slice(a.length - end).map((text): Line => ({ kind: "same", text })));
  return out;
}

const AROUND = 3; // unchanged lines that are shown around a change

// folded replaces unchanged lines that are far from a change.
export function folded(lines: Line[]): Line[] {
  const near = (i: number) => lines.slice(Math.max(0, i - AROUND), i + AROUND + 1).some((l) => l.kind !== "same");
  const out: Line[] = [];
  let left = 0;
  const fold = () => {
    if (left > 0) out.push({ kind: "hunk", text: `… ${left} unchanged ${left === 1 ? "line" : "lines"} …` });
    left = 0;
  };
  lines.forEach((l, i) => {
    if (!near(i)) return void left++;
    fold();
    out.push(l);
  });
  fold();
  return out;
}

function middle(a: string[], b: string[]): Line[] {
  const del = (text: string): Line => ({ kind: "del", text });
  const add = (text: string): Line => ({ kind: "add", text });
  if (a.length * b.length > MOST) return [...a.map(del), ...b.map(add)];
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i * width + j] = a[i] === b[j] ? table[(i + 1) * width + j + 1]! + 1 : Math.max(table[(i + 1) * width + j]!, table[i * width + j + 1]!);
    }
  }
  const out: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      out.push({ kind: "same", text: a[i]! });
      i++;
      j++;
    } else if (table[(i + 1) * width + j]! >= table[i * width + j + 1]!) out.push(del(a[i++]!));
    else out.push(add(b[j++]!));
  }
  return [...out, ...a.slice(i).map(del), ...b.slice(j).map(add)];
}

// needLines reads the diff of an entry of the inbox, which can also be a list.
export function needLines(diff: string): Line[] {
  const lines = diff.replace(/\n$/, "").split("\n");
  const heads = (i: number) => !!lines[i]?.startsWith("--- ") && !!lines[i + 1]?.startsWith("+++ "); // a removed line can start with --- too
  return lines.map((l, i): Line => {
    if (l.startsWith("@@") || heads(i) || heads(i - 1)) return { kind: "hunk", text: l };
    if (l.startsWith("+")) return { kind: "add", text: l.slice(1) };
    if (l.startsWith("-")) return { kind: "del", text: l.slice(1) };
    return { kind: "same", text: l.replace(/^ /, "") };
  });
}
