// Renders components with the page's cache and a server that the test
// describes.
import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, configure, render } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterAll, afterEach, vi } from "vitest";
import { cache } from "../api/cache";
import { startReading } from "../api/queries";
import type { Problem } from "../api/schema";
import { closeDialog } from "../state/dialog";

startReading();

// A part that is loaded later takes long on a busy machine. These limits end a test
// that hangs.
configure({ asyncUtilTimeout: 30_000 });
vi.setConfig({ testTimeout: 60_000 });

export interface Sent {
  method: string;
  path: string;
  body: unknown;
}

// serve answers requests by "METHOD path", and records them. A Problem is
// answered with its status, and a string as text.
export function serve(answers: Record<string, unknown>): Sent[] {
  const sent: Sent[] = [];
  vi.stubGlobal("fetch", async (input: Request | string, init?: RequestInit) => {
    const r = input instanceof Request ? input : new Request(new URL(input, location.href), init);
    const { pathname } = new URL(r.url);
    const body: unknown = r.method === "GET" ? undefined : await r.json();
    sent.push({ method: r.method, path: pathname, body });
    const answer = answers[`${r.method} ${pathname}`];
    if (answer === undefined) return Response.json({ code: "not_found", title: "Not found", status: 404, detail: `${r.method} ${pathname}` } satisfies Problem, { status: 404 });
    if (typeof answer === "string") return new Response(answer);
    return Response.json(answer, { status: (answer as Partial<Problem>).code ? (answer as Problem).status : 200 });
  });
  return sent;
}

// show renders a part of the page.
export function show(part: ReactNode) {
  return render(<QueryClientProvider client={cache}>{part}</QueryClientProvider>);
}

afterEach(() => {
  cleanup();
  closeDialog();
  cache.clear();
  history.replaceState(null, "", "/");
  vi.unstubAllGlobals();
});

// A chunk that a component still loads must not arrive after the page is gone.
afterAll(() => vi.dynamicImportSettled());
