// Calls the server. The paths, parameters, bodies and answers are those of the
// generated description. Every failure becomes a Problem with a code, a cause
// and a fix, also if there was no answer.
import createClient from "openapi-fetch";
import type { paths, Problem } from "./schema";

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

// signedOut fires when the server no longer knows this browser.
export const signedOut = new EventTarget();

const LONGEST = 60_000; // ms of a request that nobody can cancel

// send adds what the server requires of a change: a body, if only an empty one.
async function send(request: Request): Promise<Response> {
  const bare = request.method !== "GET" && !request.headers.has("Content-Type");
  let resp: Response;
  try {
    resp = await fetch(bare ? new Request(request, { body: "{}", headers: { "Content-Type": "application/json" } }) : request);
  } catch (err) {
    if (err instanceof DOMException && err.name === "AbortError") throw err;
    throw unreachable();
  }
  if (!resp.ok) {
    const err = await failure(resp);
    if (resp.status === 401) signedOut.dispatchEvent(new Event("signed-out"));
    throw err;
  }
  return resp;
}

export const api = createClient<paths>({ baseUrl: globalThis.location?.origin, fetch: send, signal: undefined });

// dataOf returns what the server answered.
export async function dataOf<T>(answer: Promise<{ data?: T }>): Promise<NonNullable<T>> {
  return (await answer).data as NonNullable<T>;
}

// Get is a path that can be read, and Params are its parameters.
export type Get = { [P in keyof paths]: paths[P] extends { get: unknown } ? P : never }[keyof paths];
export type Params<P extends Get> = Pick<paths[P]["get"]["parameters"], Extract<keyof paths[P]["get"]["parameters"], "query" | "path">>;
type Content<P extends Get> = paths[P]["get"] extends { responses: { 200: { content: infer C } } } ? C : never;
export type Answer<P extends Get> = Content<P> extends { "application/json": infer T } ? T : string;

// get reads a path. A part of the answer that is not JSON is text.
export async function get<P extends Get>(path: P, params: Params<P>, options: { signal?: AbortSignal; text?: boolean } = {}): Promise<Answer<P>> {
  const read = api.GET as unknown as (path: P, init: object) => Promise<{ data?: Answer<P> }>;
  return dataOf(read(path, { params, signal: options.signal ?? AbortSignal.timeout(LONGEST), parseAs: options.text ? "text" : "json" })) as Promise<Answer<P>>;
}

// address is the address of a path, for links, images and streams.
export function address<P extends Get>(path: P, params: Params<P>): string {
  const { path: names = {}, query = {} } = params as { path?: Record<string, unknown>; query?: Record<string, unknown> };
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "") continue;
    for (const v of Array.isArray(value) ? value : [value]) q.append(name, String(v));
  }
  const text = q.toString();
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(names[name]))) + (text ? "?" + text : "");
}
