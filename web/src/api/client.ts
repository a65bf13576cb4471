// Calls the server. Every failure becomes a Problem with a code, a cause and a
// fix, also if there was no answer.
import type { Problem } from "./schema";

export class ApiError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

export function problemOf(err: unknown): Problem {
  if (err instanceof ApiError) return err.problem;
  const detail = err instanceof Error ? err.message : String(err);
  return { code: "internal", detail, fix: "reload the page", status: 0, title: "Error" };
}

export function unreachable(): ApiError {
  return new ApiError({
    code: "unavailable",
    title: "No answer",
    status: 0,
    detail: "the server does not answer",
    fix: "check that `coppice serve` is running; this page continues when it is back",
  });
}

export async function failure(resp: Response): Promise<ApiError> {
  try {
    const p = (await resp.json()) as Problem;
    if (p.detail) return new ApiError(p);
  } catch {
    // The answer is not the server's own, but for example a proxy's.
  }
  return new ApiError({ code: "internal", title: resp.statusText, status: resp.status, detail: `the server answered ${resp.status}`, fix: "see the server's log" });
}

async function request(method: string, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  let resp: Response;
  try {
    resp = await fetch("/api/v1" + path, {
      method,
      signal: signal ?? AbortSignal.timeout(60_000),
      headers: method === "GET" ? { Accept: "application/json" } : { "Content-Type": "application/json" },
      body: method === "GET" ? undefined : JSON.stringify(body ?? {}),
    });
  } catch (err) {
    if (signal?.aborted) throw err;
    throw unreachable();
  }
  if (!resp.ok) {
    const err = await failure(resp);
    if (resp.status === 401) signedOut.dispatchEvent(new Event("signed-out"));
    throw err;
  }
  return resp;
}

// signedOut fires when the server no longer knows this browser.
export const signedOut = new EventTarget();

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await request("GET", path, undefined, signal)).json() as Promise<T>;
}

export async function getText(path: string): Promise<string> {
  return (await request("GET", path, undefined)).text();
}

export async function post<T>(path: string, body?: unknown): Promise<T> {
  return (await request("POST", path, body)).json() as Promise<T>;
}

export async function patch<T>(path: string, body: unknown): Promise<T> {
  return (await request("PATCH", path, body)).json() as Promise<T>;
}

export async function remove<T>(path: string): Promise<T> {
  return (await request("DELETE", path, {})).json() as Promise<T>;
}

export function query(params: Record<string, string | number | undefined | (string | number)[]>): string {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === "") continue;
    for (const v of Array.isArray(value) ? value : [value]) q.append(name, String(v));
  }
  const text = q.toString();
  return text ? "?" + text : "";
}
