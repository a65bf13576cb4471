// A small router: the address is the state, links are real links.
import { useCallback, useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from "react";

const listeners = new Set<() => void>();

function notify(): void {
  listeners.forEach((f) => f());
}

if (typeof window !== "undefined") addEventListener("popstate", notify);

export function navigate(to: string, options: { replace?: boolean } = {}): void {
  if (to === location.pathname + location.search) return;
  const moved = to.split("?")[0] !== location.pathname;
  if (options.replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
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

// useParam reads and writes one value of the address's query. Setting ""
// removes it. The history has entries for pages, not for filters.
export function useParam(name: string, fallback = ""): [string, (value: string) => void] {
  const value = useSyncExternalStore(subscribe, () => new URLSearchParams(location.search).get(name) ?? fallback);
  const set = useCallback(
    (to: string) => {
      const q = new URLSearchParams(location.search);
      if (to === "" || to === fallback) q.delete(name);
      else q.set(name, to);
      const text = q.toString();
      navigate(location.pathname + (text ? "?" + text : ""), { replace: true });
    },
    [name, fallback],
  );
  return [value, set];
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
