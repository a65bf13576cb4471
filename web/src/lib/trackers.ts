// The trackers of coppice.yaml as rows of a form. The fields of a row have the names of
// the keys below tracker[], such as import.labels.
import type { ConfigKey, Problem, ProjectConfig, TrackerPolicy } from "../api/schema";
import { read } from "./config";

// Row is a tracker with its values as they are typed.
export interface Row {
  id: number;
  values: Record<string, string>;
}

type Keys = Pick<ProjectConfig, "keys">;

export const keyOf = (c: Keys, path: string): ConfigKey | undefined => c.keys?.find((k) => k.key === `tracker[].${path}`);

// unset returns the default of a field, without the brackets of a sentence.
export const unset = (c: Keys, path: string) => keyOf(c, path)?.default.replace(/^\((.*)\)$/, "$1").replace(/^""$/, "");

function flat(value: unknown, path: string, into: Record<string, string>): void {
  if (value === undefined || value === null) return;
  if (Array.isArray(value)) into[path] = value.join("\n");
  else if (typeof value === "object") for (const [k, v] of Object.entries(value)) flat(v, path ? `${path}.${k}` : k, into);
  else into[path] = String(value);
}

export function rowsOf(trackers: TrackerPolicy[]): Row[] {
  return trackers.map((t, id) => {
    const values = {};
    flat(t, "", values);
    return { id, values };
  });
}

export const addRow = (rows: Row[]): Row[] => [...rows, { id: Math.max(-1, ...rows.map((r) => r.id)) + 1, values: {} }];

// valueOf returns a field as the value of its key. A number that is not one stays a
// text, which the server refuses.
function valueOf(k: ConfigKey | undefined, text: string): unknown {
  return k && !(k.shape === "number" && Number.isNaN(Number(text))) ? read(k, text) : text;
}

function policyOf(c: Keys, r: Row): object {
  const out: Record<string, unknown> = {};
  for (const [path, typed] of Object.entries(r.values)) {
    const text = typed.trim();
    if (text === "") continue;
    const parts = path.split(".");
    let at = out;
    for (const p of parts.slice(0, -1)) at = (at[p] ??= {}) as Record<string, unknown>;
    at[parts.at(-1)!] = valueOf(keyOf(c, path), text);
  }
  return out;
}

// changeOf returns the change of the key: one tracker is written without a list, and
// without trackers the key is removed.
export function changeOf(c: Keys, rows: Row[]): { value: unknown } | { unset: true } {
  if (rows.length === 0) return { unset: true };
  return { value: rows.length === 1 ? policyOf(c, rows[0]!) : rows.map((r) => policyOf(c, r)) };
}

// wrongField returns the row and the field that a problem is about. The server names
// them as in tracker.repo and tracker[1].import.labels[0].
export function wrongField(problem: Problem | undefined): { row: number; field: string } | undefined {
  const at = /^tracker(?:\[(\d+)\])?(?:\.([\w.]+))?/.exec(problem?.field ?? "");
  return at ? { row: Number(at[1] ?? 0), field: at[2] ?? "" } : undefined;
}
