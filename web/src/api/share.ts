// One stream of events for all tabs. Browsers allow few connections to one
// server, so the tab that holds the lock reads the stream and passes the events
// to the others. When it is closed, another tab continues from its own
// position.
import { follow, type FollowOptions, type Message } from "./sse";

export type Word = { say: "open" } | { say: "lost"; status: number; detail: string } | { say: "message"; message: Message };

// Channel connects the tabs. BroadcastChannel implements it.
export interface Channel {
  postMessage(word: unknown): void;
  onmessage: ((e: MessageEvent) => void) | null;
}

export interface Parts {
  channel?: Channel;
  // lead runs f when this tab becomes the one that reads, until it is closed.
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
  receive: (w: Word) => void;
}

// share passes every word of the stream to the reader, whichever tab reads the
// stream. The reader must keep words that arrive before it has a position.
export function share(url: string, reader: Reader, ready: Promise<void>, parts: Parts): void {
  const { channel } = parts;
  if (channel) channel.onmessage = (e: MessageEvent) => reader.receive(e.data as Word);
  const send = (w: Word) => {
    reader.receive(w);
    channel?.postMessage(w);
  };
  parts.lead(async () => {
    await ready;
    await parts.follow({
      url,
      place: String(reader.place()),
      signal: new AbortController().signal,
      onOpen: () => send({ say: "open" }),
      onMessage: (message) => send({ say: "message", message }),
      onLost: (err) => {
        const p = (err as { problem?: { status: number; detail: string } }).problem;
        send({ say: "lost", status: p?.status ?? 0, detail: p?.detail ?? "" });
      },
    });
  });
}

// Order passes each event on one time, in order. A gap means that an event was
// missed, and then everything must be read again.
export class Order {
  private waiting: { seq: number; take: () => void }[] | undefined = [];
  constructor(
    private at: number,
    private gap: () => void,
  ) {}

  place(): number {
    return this.at;
  }

  // start sets the position up to which everything is known.
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
