// Connects the cache to the server: one stream of events for the whole page.
import { useSyncExternalStore } from "react";
import { happened, reload } from "./cache";
import { address, ApiError, get, signedOut } from "./client";
import { startReading } from "./queries";
import { browserParts, Order, share, type Word } from "./share";
import type { Event } from "./schema";

export type Connection = "connecting" | "live" | "lost" | "signed-out";

export interface Line {
  connection: Connection;
  since: number; // when the connection got into this state
  error?: unknown;
  seq: number; // the newest event
}

let line: Line = { connection: "connecting", since: Date.now(), seq: 0 };
const listeners = new Set<() => void>();

function set(change: Partial<Line>): void {
  line = { ...line, ...change };
  listeners.forEach((f) => f());
}

function setConnection(connection: Connection, error?: unknown): void {
  if (connection !== line.connection) set({ connection, error, since: Date.now() });
  else if (error !== undefined) set({ error });
}

export function useLine(): Line {
  return useSyncExternalStore(
    (f) => {
      listeners.add(f);
      return () => listeners.delete(f);
    },
    () => line,
  );
}

let started = false;

// start connects one time. The connection stays while the page is open.
export function start(): void {
  if (started) return;
  started = true;
  signedOut.addEventListener("signed-out", () => setConnection("signed-out"));
  void run();
}

async function run(): Promise<void> {
  const order = new Order(0, reload);
  let known = () => {};
  const ready = new Promise<void>((resolve) => (known = resolve));
  const receive = (w: Word) => {
    if (w.say === "open") {
      const again = line.connection !== "connecting";
      setConnection("live");
      if (again) reload(); // what failed without a connection
    } else if (w.say === "lost") {
      setConnection(w.status === 401 ? "signed-out" : "lost", new ApiError({ code: "unavailable", title: "", status: w.status, detail: w.detail }));
    } else if (w.message.event === "reset") {
      order.start(Number(w.message.id));
      reload();
    } else if (w.message.event === "message") {
      const e = JSON.parse(w.message.data) as Event;
      order.pass(e.seq, () => {
        line = { ...line, seq: e.seq }; // shown with the next change
        happened(e);
      });
      setConnection("live"); // another tab might have opened the connection before this one
    }
  };
  share(address("/api/v1/events", {}), { place: () => order.place(), receive }, ready, browserParts());
  const last = await position();
  set({ seq: last });
  order.start(last);
  startReading();
  if (line.connection !== "live") setConnection("live"); // the read shows it; the tab that reads the stream reports a break
  known();
}

// position reads the newest position in the log, until the server answers.
async function position(): Promise<number> {
  for (let pause = 250; ; pause = Math.min(pause * 2, 4000)) {
    try {
      return (await get("/api/v1/events", { query: { limit: 1 } })).last;
    } catch (err) {
      setConnection(err instanceof ApiError && err.problem.status === 401 ? "signed-out" : "lost", err);
      await new Promise((r) => setTimeout(r, pause));
    }
  }
}
