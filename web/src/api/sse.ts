// Server-sent events over fetch. Unlike EventSource, it can report why a stream
// could not be opened, resumes at a chosen position, and detects a silent
// connection.
import { ApiError, failure } from "./client";

export interface Message {
  id: string;
  event: string;
  data: string;
}

// Parser splits a stream into messages, in whatever pieces it arrives.
export class Parser {
  private rest = "";
  private event = "";
  private data: string[] = [];
  private id = "";

  feed(text: string): Message[] {
    const out: Message[] = [];
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.line(line.endsWith("\r") ? line.slice(0, -1) : line, out);
    return out;
  }

  // An id without data is the position of the reader, so it is passed on as a
  // message without data.
  private line(line: string, out: Message[]): void {
    if (line === "") {
      if (this.data.length > 0 || this.id !== "") out.push({ id: this.id, event: this.event || "message", data: this.data.join("\n") });
      this.event = "";
      this.data = [];
      this.id = "";
      return;
    }
    if (line.startsWith(":")) return;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.data.push(value);
    else if (field === "event") this.event = value;
    else if (field === "id") this.id = value;
  }
}

export interface FollowOptions {
  url: string;
  place: string; // where to start after
  signal: AbortSignal;
  onOpen?: () => void;
  onMessage: (m: Message) => void;
  // visible closes the stream while the page is hidden, because browsers allow
  // few connections. It resumes where it was.
  visible?: boolean;
  // onLost is called for each broken connection, with the length of the pause.
  onLost?: (err: unknown, pause: number) => void;
}

const SILENCE = 40_000; // the server sends something at least every 15 s
const PAUSES = [250, 500, 1000, 2000, 4000];

// follow reads a stream until its signal aborts or the server ends it. When the
// connection breaks, it resumes at its position.
export async function follow(o: FollowOptions): Promise<void> {
  let place = o.place;
  for (let lost = 0; !o.signal.aborted; ) {
    if (o.visible && document.visibilityState === "hidden") {
      await rest(Infinity, o.signal);
      continue;
    }
    try {
      const ended = await once(o, place, () => (lost = 0), (id) => (place = id));
      if (ended) return;
      throw new Error("the stream ended");
    } catch (err) {
      if (o.signal.aborted) return;
      if (o.visible && document.visibilityState === "hidden") continue;
      if (err instanceof ApiError && err.problem.status === 404) throw err;
      const pause = PAUSES[Math.min(lost++, PAUSES.length - 1)]!;
      o.onLost?.(err, pause);
      await rest(pause, o.signal);
    }
  }
}

async function once(o: FollowOptions, place: string, opened: () => void, at: (id: string) => void): Promise<boolean> {
  const line = new AbortController();
  const stop = () => line.abort();
  const hidden = () => o.visible && document.visibilityState === "hidden" && stop();
  o.signal.addEventListener("abort", stop);
  document.addEventListener("visibilitychange", hidden);
  let timer = setTimeout(stop, SILENCE);
  try {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (place !== "") headers["Last-Event-ID"] = place;
    const resp = await fetch(o.url, { headers, signal: line.signal, cache: "no-store" });
    if (!resp.ok || !resp.body) throw await failure(resp);
    opened();
    o.onOpen?.();
    const reader = resp.body.getReader();
    const decoder = new TextDecoder();
    const parser = new Parser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return false;
      clearTimeout(timer);
      timer = setTimeout(stop, SILENCE);
      for (const m of parser.feed(decoder.decode(value, { stream: true }))) {
        if (m.data !== "") o.onMessage(m);
        if (m.id !== "") at(m.id);
        if (m.event === "end") return true;
      }
    }
  } finally {
    clearTimeout(timer);
    o.signal.removeEventListener("abort", stop);
    document.removeEventListener("visibilitychange", hidden);
    line.abort();
  }
}

// rest waits, or returns early if there is a reason to reconnect immediately.
function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      removeEventListener("online", done);
      document.removeEventListener("visibilitychange", shown);
      resolve();
    };
    const shown = () => document.visibilityState === "visible" && done();
    const timer = ms === Infinity ? undefined : setTimeout(done, ms);
    signal.addEventListener("abort", done);
    addEventListener("online", done);
    document.addEventListener("visibilitychange", shown);
  });
}
