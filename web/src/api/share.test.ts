import { describe, expect, it } from "vitest";
import { Order, share, type Channel, type Word } from "./share";
import type { FollowOptions } from "./sse";

describe("Order", () => {
  const setup = () => {
    const seen: number[] = [];
    let gaps = 0;
    const o = new Order(0, () => gaps++);
    return { o, seen, pass: (n: number) => o.pass(n, () => seen.push(n)), gaps: () => gaps };
  };
  it("keeps what arrives before the position is known", () => {
    const s = setup();
    [4, 5, 6].forEach(s.pass);
    expect(s.seen).toEqual([]);
    s.o.start(5);
    expect(s.seen).toEqual([6]);
    expect(s.gaps()).toBe(0);
  });
  it("passes each once, and reports a gap", () => {
    const s = setup();
    s.o.start(2);
    [3, 3, 2, 4].forEach(s.pass);
    expect(s.seen).toEqual([3, 4]);
    expect(s.gaps()).toBe(0);
    s.pass(7);
    expect(s.gaps()).toBe(1);
    expect(s.o.place()).toBe(7);
  });
});

describe("share", () => {
  it("has one tab read for all, and another take over", async () => {
    const channels: Channel[] = [];
    const queue: (() => Promise<void>)[] = [];
    const read: FollowOptions[] = [];
    const tab = (place: number) => {
      const received: string[] = [];
      const channel: Channel = { onmessage: null, postMessage: (w) => channels.filter((c) => c !== channel).forEach((c) => c.onmessage?.({ data: w } as MessageEvent)) };
      channels.push(channel);
      share("/events", { place: () => place, receive: (w: Word) => received.push(w.say === "message" ? w.message.id : w.say) }, Promise.resolve(), {
        channel,
        lead: (f) => void queue.push(f),
        follow: (o) => {
          read.push(o);
          return new Promise(() => undefined);
        },
      });
      return received;
    };
    const a = tab(3);
    const b = tab(5);
    void queue[0]!();
    await Promise.resolve();
    expect(read).toHaveLength(1);
    expect(read[0]!.place).toBe("3");
    read[0]!.onOpen?.();
    read[0]!.onMessage({ id: "6", event: "message", data: "{}" });
    read[0]!.onLost?.(new Error("gone"), 250);
    expect(a).toEqual(["open", "6", "lost"]);
    expect(b).toEqual(a);
    void queue[1]!();
    await Promise.resolve();
    expect(read[1]!.place).toBe("5");
    read[1]!.onMessage({ id: "7", event: "message", data: "{}" });
    expect(a.at(-1)).toBe("7");
    expect(b.at(-1)).toBe("7");
  });
});
