// The tracks of coppice.yaml as rows of a form.
import type { Problem, Track } from "../api/schema";

// Row is a track with its values as they are typed.
export interface Row {
  id: number;
  name: string;
  limit: string;
  categories: string;
  color: string;
  default: boolean;
  completion?: string[]; // kept as it is
}

export function rowsOf(tracks: Track[]): Row[] {
  return tracks.map((t, id) => ({ id, name: t.name, limit: t.limit ? String(t.limit) : "", categories: (t.categories ?? []).join(", "), color: t.color ?? "", default: !!t.default, ...(t.completion?.length ? { completion: t.completion } : {}) }));
}

// tracksOf returns the rows as the value of the key. A limit that is not a number
// stays a text, which the server refuses.
export function tracksOf(rows: Row[]): unknown[] {
  return rows.map((r) => {
    const limit = r.limit.trim();
    const categories = r.categories.split(",").map((c) => c.trim()).filter(Boolean);
    return {
      name: r.name.trim(),
      ...(r.default ? { default: true } : {}),
      ...(limit ? { limit: Number.isNaN(Number(limit)) ? limit : Number(limit) } : {}),
      ...(categories.length > 0 ? { categories } : {}),
      ...(r.color.trim() ? { color: r.color.trim() } : {}),
      ...(r.completion ? { completion: r.completion } : {}),
    };
  });
}

export function addRow(rows: Row[]): Row[] {
  return [...rows, { id: Math.max(-1, ...rows.map((r) => r.id)) + 1, name: "", limit: "", categories: "", color: "", default: false }];
}

// moved returns the rows with one of them moved up or down.
export function moved(rows: Row[], from: number, by: number): Row[] {
  const out = [...rows];
  out.splice(from + by, 0, ...out.splice(from, 1));
  return out;
}

// wrongRow returns the row of a list, and its field, that a problem is about. The server
// names them as in tracks[1].name.
export function wrongRow(problem: Problem | undefined, list = "tracks"): { row: number; field: string } | undefined {
  const field = problem?.field ?? "";
  const at = field.startsWith(list) ? /^\[(\d+)\](?:\.(\w+))?/.exec(field.slice(list.length)) : null;
  return at ? { row: Number(at[1]), field: at[2] ?? "" } : undefined;
}
