// The preferences of this browser. It stores nothing else, except text that a
// person is typing (typed.ts): everything else is on the server or in the address.
import { useSyncExternalStore } from "react";
import { editors } from "../lib/editor";

export type Theme = "system" | "dark" | "light";

export interface Prefs {
  theme: Theme;
  notify: boolean;
  follow: boolean;
  wrap: boolean; // long lines of a review
  editor: string; // a link with {path} in it
}

const NAME = "coppice";
const defaults: Prefs = { theme: "system", notify: false, follow: true, wrap: false, editor: editors[0]!.template };
const listeners = new Set<() => void>();
let current: Prefs = read();

function read(): Prefs {
  try {
    return { ...defaults, ...(JSON.parse(localStorage.getItem(NAME) ?? "{}") as Partial<Prefs>) };
  } catch {
    return defaults; // storage might be off, or contain something else
  }
}

export function prefs(): Prefs {
  return current;
}

export function setPrefs(change: Partial<Prefs>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(NAME, JSON.stringify(current));
  } catch {
    // The change then lasts until the page is closed.
  }
  applyTheme(current.theme);
  listeners.forEach((f) => f());
}

export function applyTheme(theme: Theme): void {
  if (typeof document === "undefined") return;
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function usePrefs(): Prefs {
  return useSyncExternalStore(
    (f) => {
      listeners.add(f);
      return () => listeners.delete(f);
    },
    () => current,
  );
}
