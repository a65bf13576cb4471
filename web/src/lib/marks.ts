// Splits a text at the marked matches: [start, length], as the server sends
// them.
export interface Part {
  text: string;
  hit: boolean;
}

export function marked(text: string, marks: readonly (readonly number[] | null)[]): Part[] {
  const out: Part[] = [];
  let at = 0;
  for (const m of [...marks].sort((a, b) => (a?.[0] ?? 0) - (b?.[0] ?? 0))) {
    const start = Math.max(at, Math.min(m?.[0] ?? 0, text.length));
    const end = Math.max(start, Math.min((m?.[0] ?? 0) + (m?.[1] ?? 0), text.length));
    if (end === start) continue;
    if (start > at) out.push({ text: text.slice(at, start), hit: false });
    out.push({ text: text.slice(start, end), hit: true });
    at = end;
  }
  if (at < text.length) out.push({ text: text.slice(at), hit: false });
  return out;
}
