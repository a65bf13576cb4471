// How a key of coppice.yaml is edited: the kind of field, and the meaning of
// its text.
import type { ConfigKey } from "../api/schema";

export const choices = (k: ConfigKey): string[] => (k.shape === "switch" ? ["true", "false"] : (k.one_of ?? []));

// written returns a value as its field shows it.
export function written(k: ConfigKey): string {
  const v = k.value;
  if (v === undefined || v === null) return "";
  if (k.shape === "lines" && Array.isArray(v)) return v.join("\n");
  return typeof v === "object" ? JSON.stringify(v, null, 2) : String(v);
}

// read parses the text of a field. It throws if the text is not valid.
export function read(k: ConfigKey, text: string): unknown {
  switch (k.shape) {
    case "switch":
      return text === "true";
    case "number":
      if (text.trim() === "" || Number.isNaN(Number(text))) throw new Error("this must be a number");
      return Number(text);
    case "lines":
      return text.split("\n").map((l) => l.trim()).filter(Boolean);
    case "json":
      try {
        return JSON.parse(text) as unknown;
      } catch (err) {
        throw new Error(`this is not valid JSON: ${err instanceof Error ? err.message : String(err)}`);
      }
    default:
      return text;
  }
}

// bounds describes the limits of a value in words.
export function bounds(k: ConfigKey): string {
  const out: string[] = [];
  if (k.min !== undefined && k.max !== undefined) out.push(`${k.min} to ${k.max}`);
  else if (k.min !== undefined) out.push(`at least ${k.min}`);
  else if (k.max !== undefined) out.push(`at most ${k.max}`);
  if (k.least) out.push(`at least ${k.least}`);
  if ((k.names?.length ?? 0) > 0) out.push(`names: ${k.names!.join(", ")}`);
  return out.join(", ");
}

// sectionOf returns the heading of a key.
export function sectionOf(key: string): string {
  const first = key.split(/[.[]/)[0]!;
  return key.includes(".") || key.includes("[") ? first : "general";
}

export function bySection(keys: ConfigKey[]): [string, ConfigKey[]][] {
  const heads = new Set(keys.map((k) => sectionOf(k.key)));
  heads.delete("general");
  const out = new Map<string, ConfigKey[]>();
  for (const k of keys) {
    const s = heads.has(k.key) ? k.key : sectionOf(k.key);
    out.set(s, [...(out.get(s) ?? []), k]);
  }
  return [...out];
}
