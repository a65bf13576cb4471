// Positions in the text of a prompt.
import type { Problem } from "../api/schema";

// wrongLine returns the line that a problem is about. The server names it as in
// text:3.
export function wrongLine(problem: Problem | undefined): number | undefined {
  const at = /^text:(\d+)$/.exec(problem?.field ?? "");
  return at ? Number(at[1]) : undefined;
}

// lineRange returns where a line starts and ends, from line 1. A line after the end
// is empty.
export function lineRange(text: string, line: number): [number, number] {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1);
  const start = Math.min(text.length, before.reduce((n, l) => n + l.length + 1, 0));
  return [start, start + (lines[line - 1]?.length ?? 0)];
}

// insertAt replaces the selected part of a text, and returns where the cursor is then.
export function insertAt(text: string, from: number, to: number, piece: string): { text: string; cursor: number } {
  return { text: text.slice(0, from) + piece + text.slice(to), cursor: from + piece.length };
}
