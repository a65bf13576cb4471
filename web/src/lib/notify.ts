// The notifiers and routes of config.yaml as texts of a form. The server says which
// fields there are, and checks them.
import type { ConfigKey, NotifierKind, NotifySettings } from "../api/schema";
import { read, written } from "./config";

export type Texts = Record<string, string>; // by the name of the field

const below = (s: NotifySettings, above: string) => (s.keys ?? []).filter((k) => k.key.startsWith(above));
const valueOf = <T>(s: NotifySettings, key: string, none: T) => ((s.keys ?? []).find((k) => k.key === key)?.value as T | undefined) ?? none;

export const nameOf = (k: ConfigKey) => k.key.slice(k.key.lastIndexOf(".") + 1);

export const routeKeys = (s: NotifySettings) => below(s, "notify.routes[].");
// withoutRoutes says what a file without routes means.
export const withoutRoutes = (s: NotifySettings) => below(s, "notify.routes").find((k) => k.key === "notify.routes")?.default.replace(/^\((.*)\)$/, "$1");
export const singleKeys = (s: NotifySettings) => below(s, "notify.").filter((k) => !/^notify\.(routes|notifiers)/.test(k.key));

// notifierKeys returns the fields of a kind, in the order of the server.
export function notifierKeys(s: NotifySettings, kind: NotifierKind | undefined): ConfigKey[] {
  return below(s, "notify.notifiers.*.").filter((k) => kind?.fields?.includes(nameOf(k)));
}

export const kindKey = (s: NotifySettings) => below(s, "notify.notifiers.*.kind")[0];

// needsText says which fields a kind needs.
export function needsText(kind: NotifierKind): string {
  return (kind.needs ?? []).filter((n) => n?.length).map((n) => n!.join(" and ")).join(", or ");
}

const textsOf = (keys: ConfigKey[], value: Record<string, unknown>): Texts => Object.fromEntries(keys.map((k) => [nameOf(k), written({ ...k, value: value[nameOf(k)] })]));

// valuesOf reads the fields of a form. An empty one is left out.
export function valuesOf(keys: ConfigKey[], texts: Texts): Record<string, unknown> {
  return Object.fromEntries(keys.filter((k) => texts[nameOf(k)]?.trim()).map((k) => [nameOf(k), read(k, texts[nameOf(k)]!.trim())]));
}

export function notifierTexts(s: NotifySettings, name: string): Texts {
  const value = valueOf<Record<string, Record<string, unknown>>>(s, "notify.notifiers", {})[name] ?? {};
  return textsOf(below(s, "notify.notifiers.*."), { kind: name, ...value });
}

export interface Route {
  id: number;
  texts: Texts;
}

// In a route, the names of a list are separated by commas.
export const routesOf = (s: NotifySettings): Route[] =>
  valueOf<Record<string, unknown>[]>(s, "notify.routes", []).map((r, id) => ({ id, texts: Object.fromEntries(Object.entries(textsOf(routeKeys(s), r)).map(([n, t]) => [n, t.replaceAll("\n", ", ")])) }));

export const addRoute = (list: Route[]): Route[] => [...list, { id: Math.max(-1, ...list.map((r) => r.id)) + 1, texts: {} }];

export const routeValues = (s: NotifySettings, list: Route[]) =>
  list.map((r) => valuesOf(routeKeys(s), Object.fromEntries(routeKeys(s).map((k) => [nameOf(k), (r.texts[nameOf(k)] ?? "").replaceAll(",", k.shape === "lines" ? "\n" : ",")]))));
