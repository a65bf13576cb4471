// The cache of the server's answers: the only place where the page keeps them.
// Events make answers stale. An answer in use is then read again, one request
// at a time.
import { QueryClient, useQuery, type Query, type UseQueryOptions } from "@tanstack/react-query";
import { attempt } from "../ui/toast";
import { problemOf } from "./client";
import { queries } from "./queries";
import type { Event, Problem } from "./schema";
import { stale } from "./stale";

export function newCache(): QueryClient {
  return new QueryClient({
    defaultOptions: { queries: { staleTime: Infinity, retry: false, networkMode: "always", refetchOnWindowFocus: false, refetchOnReconnect: false } },
  });
}

export const cache = newCache();

const SOON = 60; // ms to gather changes
const SHARE = 3; // an answer that took long is read again after this many times as long

// Refresher reads stale answers again. While one is being read, further changes
// wait for the next read of it.
export class Refresher {
  private due = new Map<string, Query>();
  private notBefore = new Map<string, number>();
  private timer?: ReturnType<typeof setTimeout>;

  constructor(
    private client: QueryClient,
    private now = () => Date.now(),
  ) {}

  // mark makes the answers stale whose key fits.
  mark(fits: (key: readonly unknown[]) => boolean): void {
    for (const q of this.client.getQueryCache().getAll()) if (fits(q.queryKey)) this.due.set(q.queryHash, q);
    this.later();
  }

  private later(): void {
    if (this.due.size > 0) this.timer ??= setTimeout(() => this.flush(), SOON);
  }

  private flush(): void {
    this.timer = undefined;
    for (const [hash, q] of this.due) {
      if (q.state.fetchStatus !== "idle" || this.now() < (this.notBefore.get(hash) ?? 0)) continue;
      this.due.delete(hash);
      this.notBefore.delete(hash);
      if (q.isActive()) void this.readAgain(q);
      else q.invalidate(); // it is read when it is shown
    }
    this.later();
  }

  private async readAgain(q: Query): Promise<void> {
    const start = this.now();
    await q.fetch().catch(() => undefined); // the page shows the problem
    const end = this.now();
    this.notBefore.set(q.queryHash, end + SHARE * (end - start));
  }
}

const refresher = new Refresher(cache);

// happened makes the answers stale that an event changes.
export function happened(e: Event): void {
  if (e.kind === "project.removed") cache.removeQueries({ predicate: (q) => q.queryKey[0] === "/api/v1/tasks/{key}" && !q.isActive() });
  refresher.mark((key) => stale(e, key));
}

// reload makes every answer stale, because it is not known what changed.
export const reload = () => refresher.mark(() => true);

// unrelated are answers that no change of a person affects.
const unrelated = new Set<unknown>(["/api/v1/disk", "/api/v1/version", "/api/v1/search", "/api/v1/sessions/{key}/output", "/api/v1/tasks/{key}/diff", "/api/v1/tasks/{key}/checks/{id}/log", "says"]);

// changed is called after every change: what depends on it is read again. The
// answer to the change is not stored, because lists, counts and order depend on
// it too, and the server computes them. Events report the change as well; this
// does not wait for them.
export const changed = () => refresher.mark(([path]) => !unrelated.has(path));

// change runs a request, shows its outcome, and refreshes the cache. It never
// throws.
export async function change<T>(done: string, request: () => Promise<T>): Promise<T | undefined> {
  const answer = await attempt(done, request);
  if (answer !== undefined) changed();
  return answer;
}

export interface Result<T> {
  data?: T;
  problem?: Problem;
  loading: boolean;
  again: () => void;
}

// useAnswer reads an answer and keeps it up to date while it is used.
export function useAnswer<T, K extends readonly unknown[]>(options: UseQueryOptions<T, Error, T, K>): Result<T> {
  const q = useQuery(options);
  return { data: q.data, problem: q.error ? problemOf(q.error) : undefined, loading: q.isLoading, again: () => void q.refetch() };
}

// useProjects returns the projects, for choices.
export function useProjects(): string[] {
  return (useAnswer(queries.projects()).data?.projects ?? []).map((p) => p.prefix);
}
