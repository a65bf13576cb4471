// A small router: the address is the state, links are real links. The table
// names every page with the parameters of its address, so that links and
// parameters are checked by the compiler.
import { useCallback, useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from "react";

const text = null; // a parameter that can have any value

// marks choose tasks: by group, label, flag, and whether they are unread.
const marks = { in: text, label: text, flagged: ["", "yes"], unread: ["", "yes"] } as const;

// pages lists the values of each parameter. The first one is the default, which
// is not part of the address. Another value counts as the default.
export const pages = {
  "/": { q: text, project: text, track: text, agent: text, status: text, view: ["columns", "table"], group: ["status", "project", "track"], pull: ["", "open"], archived: ["", "only"], ...marks },
  "/inbox": { project: text, view: ["open", "snoozed"], ...marks },
  "/groups": { project: text, before: text },
  "/groups/{id}": {},
  "/flows": { project: text, show: ["open", "all"], before: text },
  "/flows/{key}": { step: text, doc: text, version: text, show: ["text", "changes"], with: text },
  "/schedules": { project: text },
  "/templates": { project: text },
  "/tasks/{key}": {
    tab: ["", "sessions", "answer", "steps", "changes", "checks", "pull", "preview", "timeline", "cost", "events"], session: text,
    view: ["conversation", "terminal", "raw", "app"], since: ["base", "session"], at: text, find: text, check: text, line: text,
  },
  "/tasks/{key}/review": {},
  "/landing": { project: text, ...marks },
  "/issues": { project: text, show: ["open", "all"], before: text },
  "/notifications": { notifier: text, before: text },
  "/reactions": { project: text, before: text },
  "/locks": { project: text },
  "/graph": { project: text, show: ["open", "all"], ...marks },
  "/timeline": { zoom: ["1 h", "15 m", "6 h", "1 d", "7 d", "all"], ...marks },
  "/usage": { by: ["agent", "model", "project", "day", "task"], span: ["30 d", "7 d", "90 d", "1 y"], project: text, ...marks },
  "/search": { q: text, kind: ["", "task", "output", "check"], project: text, ...marks },
  "/features": { project: text, status: ["", "open", "verifying", "passed", "failed"], q: text },
  "/notes": { project: text, prefix: text, after: text },
  "/agents": { project: text },
  "/settings": {},
  "/health": {},
  "/help": {},
} as const;

export type Page = keyof typeof pages;
type Table<P extends Page> = (typeof pages)[P];
type Value<V> = V extends readonly (infer T)[] ? T : string;
export type Param<P extends Page, N extends keyof Table<P>> = Value<Table<P>[N]>;
type Names<P extends string> = P extends `${string}{${infer N}}${infer Rest}` ? N | Names<Rest> : never;

// to returns the address of a page.
export function to<P extends Page>(page: P, values: { [N in keyof Table<P>]?: Param<P, N> } & Record<Names<P>, string> = {} as never): string {
  const q = new URLSearchParams();
  let path: string = page;
  for (const [name, value] of Object.entries<string | undefined>(values as Record<string, string | undefined>)) {
    if (path.includes(`{${name}}`)) path = path.replace(`{${name}}`, encodeURIComponent(value!));
    else if (value) q.set(name, value);
  }
  const search = q.toString();
  return path + (search ? "?" + search : "");
}

export const toReview = (key: string) => to("/tasks/{key}/review", { key });

export const toFlow = (key: string) => to("/flows/{key}", { key });

export const toTask = (key: string) => to("/tasks/{key}", { key });

const listeners = new Set<() => void>();

function notify(): void {
  listeners.forEach((f) => f());
}

if (typeof window !== "undefined") addEventListener("popstate", notify);

export function navigate(address: string, options: { replace?: boolean } = {}): void {
  if (address === location.pathname + location.search) return;
  const moved = address.split("?")[0] !== location.pathname;
  if (options.replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  if (moved) scrollTo(0, 0);
  notify();
}

function subscribe(f: () => void): () => void {
  listeners.add(f);
  return () => listeners.delete(f);
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => location.pathname);
}

// useParam reads and writes one parameter of a page's address. The history has
// entries for pages, not for parameters. A fallback replaces the table's default.
export function useParam<P extends Page, N extends keyof Table<P> & string>(page: P, name: N, fallback?: Param<P, N>): [Param<P, N>, (value: Param<P, N>) => void] {
  const known = pages[page][name] as readonly string[] | null;
  const usual = fallback ?? known?.[0] ?? "";
  const value = useSyncExternalStore(subscribe, () => {
    const given = new URLSearchParams(location.search).get(name);
    return given === null || (known && !known.includes(given)) ? usual : given;
  });
  const set = useCallback(
    (next: string) => {
      const q = new URLSearchParams(location.search);
      if (next === "" || next === usual) q.delete(name);
      else q.set(name, next);
      const search = q.toString();
      navigate(location.pathname + (search ? "?" + search : ""), { replace: true });
    },
    [name, usual],
  );
  return [value as Param<P, N>, set as (value: Param<P, N>) => void];
}

export function Link({ href, onClick, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  const click = (e: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(e);
    if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    e.preventDefault();
    navigate(href);
  };
  return <a href={href} onClick={click} {...rest} />;
}
