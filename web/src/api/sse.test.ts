import { describe, expect, it } from "vitest";
import { Parser, type Message } from "./sse";

const text = ': alive\nid: 4\n\nid: 5\ndata: {"a":1}\n\nevent: reset\nid: 6\ndata: x\ndata: y\n\nid: 7\r\ndata: z\r\n\r\n';
const want: Message[] = [
  { id: "4", event: "message", data: "" },
  { id: "5", event: "message", data: '{"a":1}' },
  { id: "6", event: "reset", data: "x\ny" },
  { id: "7", event: "message", data: "z" },
];

describe("Parser", () => {
  it("gives the same messages however the stream is cut", () => {
    for (let a = 0; a <= text.length; a++) {
      const p = new Parser();
      expect([...p.feed(text.slice(0, a)), ...p.feed(text.slice(a))]).toEqual(want);
    }
    const p = new Parser();
    expect([...text].flatMap((c) => p.feed(c))).toEqual(want);
  });

  it("keeps what is not whole", () => {
    const p = new Parser();
    expect(p.feed("data: half")).toEqual([]);
    expect(p.feed(" and half\n\n")).toEqual([{ id: "", event: "message", data: "half and half" }]);
  });
});
