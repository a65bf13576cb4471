// One stream of events for all tabs. Browsers allow few connections to one
// server, so the tab that holds the lock reads the stream and tells the others.
// When it is closed, another takes over from the place it has itself come to.
import { follow, type FollowOptions, type Message } from "./sse";

export type Word = { say: "open" } | { say: "lost"; status: number; detail: string } | { say: "message"; message: Message };

// Channel is what tabs talk over; BroadcastChannel is one.
export interface Channel {
  postMessage(word: unknown): void;
  onmessage: ((e: MessageEvent) => void) | null;
}

export interface Parts {
  channel?: Channel;
  // lead runs f once this tab is the one that reads, for as long as it is open.
  lead: (f: () => Promise<void>) => void;
  follow: (o: FollowOptions) => Promise<void>;
}

export function browserParts(): Parts {
  const can = "locks" in navigator && "BroadcastChannel" in globalThis;
  return {
    channel: can ? new BroadcastChannel("coppice-events") : undefined,
    lead: (f) => void (can ? navigator.locks.request("coppice-events", f) : f()),
    follow,
  };
}

export interface Reader {
  place: () => number;
  hear: (w: Word) => void;
}

// share hears every word of the stream, whichever tab reads it. What arrives
// before the reader has a place must be kept by the reader.
export function share(url: string, reader: Reader, ready: Promise<void>, parts: Parts): void {
  const { channel } = parts;
  if (channel) channel.onmessage = (e: MessageEvent) => reader.hear(e.data as Word);
  const tell = (w: Word) => {
    reader.hear(w);
    channel?.postMessage(w);
  };
  parts.lead(async () => {
    await ready;
    await parts.follow({
      url,
      place: String(reader.place()),
      signal: new AbortController().signal,
      onOpen: () => tell({ say: "open" }),
      onMessage: (message) => tell({ say: "message", message }),
      onLost: (err) => {
        const p = (err as { problem?: { status: number; detail: string } }).problem;
        tell({ say: "lost", status: p?.status ?? 0, detail: p?.detail ?? "" });
      },
    });
  });
}

// Order passes events on in their order, each once. A gap means that something
// was not heard, and then everything has to be read anew.
export class Order {
  private waiting: { seq: number; take: () => void }[] | undefined = [];
  constructor(
    private at: number,
    private gap: () => void,
  ) {}

  place(): number {
    return this.at;
  }

  // start says up to where everything is known already.
  start(at: number): void {
    this.at = at;
    const kept = this.waiting ?? [];
    this.waiting = undefined;
    kept.forEach((e) => this.pass(e.seq, e.take));
  }

  pass(seq: number, take: () => void): void {
    if (this.waiting) {
      this.waiting.push({ seq, take });
      return;
    }
    if (seq <= this.at) return;
    const missed = seq > this.at + 1;
    this.at = seq;
    if (missed) this.gap();
    take();
  }
}
