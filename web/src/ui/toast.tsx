// Short messages about completed actions, and problems that belong to no field.
import { useSyncExternalStore } from "react";
import { problemOf } from "../api/client";
import type { Problem } from "../api/schema";
import { ProblemBox } from "./parts";

interface Toast {
  id: number;
  text?: string;
  problem?: Problem;
  undo?: () => void;
}

let toasts: Toast[] = [];
let nextID = 1;
const listeners = new Set<() => void>();

function set(list: Toast[]): void {
  toasts = list;
  listeners.forEach((f) => f());
}

function drop(id: number): void {
  set(toasts.filter((t) => t.id !== id));
}

// say shows a message. With undo it has a button, and stays longer.
export function say(text: string, undo?: () => void): void {
  const id = nextID++;
  set([...toasts.slice(-3), { id, text, undo }]);
  setTimeout(() => drop(id), undo ? 15_000 : 5000);
}

export function complain(err: unknown): void {
  set([...toasts.slice(-3), { id: nextID++, problem: problemOf(err) }]);
}

// attempt runs f and shows the outcome. It never throws.
export async function attempt<T>(done: string, f: () => Promise<T>): Promise<T | undefined> {
  try {
    const out = await f();
    if (done) say(done);
    return out;
  } catch (err) {
    complain(err);
    return undefined;
  }
}

export function Toasts() {
  const list = useSyncExternalStore(
    (f) => {
      listeners.add(f);
      return () => listeners.delete(f);
    },
    () => toasts,
  );
  return (
    <div className="toasts" aria-live="polite">
      {list.map((t) => (
        <div key={t.id} className="toast">
          {t.problem ? <ProblemBox problem={t.problem} /> : <span>{t.text}</span>}
          {t.undo && <button className="button small" onClick={() => { drop(t.id); t.undo!(); }}>Undo</button>}
          <button className="button icon" aria-label="Dismiss" onClick={() => drop(t.id)}>✕</button>
        </div>
      ))}
    </div>
  );
}
