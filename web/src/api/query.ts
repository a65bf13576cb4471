// A small cache of the server's answers, by name. Events make entries stale. An
// entry in use is then fetched again, one request at a time.
import { useEffect, useSyncExternalStore } from "react";
import { problemOf } from "./client";
import type { Problem } from "./schema";

export interface Result<T> {
  data?: T;
  problem?: Problem;
  loading: boolean;
}

interface Entry {
  result: Result<unknown>;
  load: () => Promise<unknown>;
  stale: boolean;
  busy: boolean;
  viewers: Set<() => void>;
}

const entries = new Map<string, Entry>();
const KEEP = 200; // entries that are not in use

function run(e: Entry): void {
  if (e.busy) return;
  e.busy = true;
  e.stale = false;
  set(e, { ...e.result, loading: e.result.data === undefined });
  e.load()
    .then(
      (data) => set(e, { data, loading: false }),
      (err: unknown) => set(e, { data: e.result.data, problem: problemOf(err), loading: false }),
    )
    .finally(() => {
      e.busy = false;
      if (e.stale && e.viewers.size > 0) run(e);
    });
}

function set(e: Entry, result: Result<unknown>): void {
  e.result = result;
  e.viewers.forEach((f) => f());
}

export function invalidate(match: (name: string) => boolean): void {
  for (const [name, e] of entries) {
    if (!match(name)) continue;
    e.stale = true;
    if (e.viewers.size > 0) run(e);
  }
}

function prune(): void {
  if (entries.size <= KEEP) return;
  for (const [name, e] of entries) {
    if (e.viewers.size === 0) entries.delete(name);
    if (entries.size <= KEEP) return;
  }
}

const idle: Result<never> = { loading: false };

// useQuery fetches name with load, and again whenever it becomes stale. An
// empty name fetches nothing.
export function useQuery<T>(name: string, load: () => Promise<T>): Result<T> & { again: () => void } {
  if (name !== "" && !entries.has(name)) {
    prune();
    entries.set(name, { result: { loading: true }, load, stale: true, busy: false, viewers: new Set() });
  }
  const entry = entries.get(name);
  const result = useSyncExternalStore(
    (f) => {
      entry?.viewers.add(f);
      return () => entry?.viewers.delete(f);
    },
    () => (entry?.result ?? idle) as Result<T>,
  );
  useEffect(() => {
    if (!entry) return;
    entry.load = load;
    if (entry.stale) run(entry);
  });
  return { ...result, again: () => entry && run(entry) };
}
