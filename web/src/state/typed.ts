// Text that a person is typing, by the name of its form. The browser stores it,
// so that it survives a reload. A form is open while its text is listed.
import { useSyncExternalStore } from "react";

const PREFIX = "coppice typed ";
const listeners = new Set<() => void>();
let texts: ReadonlyMap<string, string> = stored();
const restored = new Set(texts.keys());

// isRestored reports whether a form is open since the page was loaded. Such a form
// does not take the focus.
export const isRestored = (name: string) => restored.has(name);

function stored(): ReadonlyMap<string, string> {
  const out = new Map<string, string>();
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) out.set(name.slice(PREFIX.length), localStorage.getItem(name) ?? "");
  } catch {
    // Storage is off. The text then lasts until the page is closed.
  }
  return out;
}

// keepTyped stores the text of a form, or closes the form if there is none. A
// form without text is open until the page is closed.
export function keepTyped(name: string, text?: string): void {
  const next = new Map(texts);
  if (text !== undefined) next.set(name, text);
  else {
    next.delete(name);
    restored.delete(name);
  }
  texts = next;
  try {
    if (text) localStorage.setItem(PREFIX + name, text);
    else localStorage.removeItem(PREFIX + name);
  } catch {
    // As above.
  }
  listeners.forEach((f) => f());
}

// useTyped returns the texts of all open forms.
export function useTyped(): ReadonlyMap<string, string> {
  return useSyncExternalStore(
    (f) => {
      listeners.add(f);
      return () => listeners.delete(f);
    },
    () => texts,
  );
}
