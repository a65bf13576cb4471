import { describe, expect, it } from "vitest";
import { contains, Finder, GrowingLog, isError, linesOf, marksOf, shown } from "./lines";

const encoder = new TextEncoder();
const texts = (log: GrowingLog) => {
  log.publish();
  return log.lines.map((l) => `${l.no ?? "-"} ${l.text}`);
};

describe("lines", () => {
  it("are numbered as the server counts them, whatever a terminal would do with them", () => {
    expect(linesOf("one\r\n10%\r50%\rdone\n\u001b[31mred\u001b[0m\n").map((l) => `${l.no} ${l.text}`)).toEqual(["1 one", "2 done", "3 red"]);
    expect(linesOf("")).toEqual([]);
    expect(linesOf("no end").length).toBe(1);
    expect(shown("\u001b]0;title\u0007a")).toBe("a");
  });

  it("look like errors by the server's patterns", () => {
    const bad = ["--- FAIL: TestA", "a.c:3: error: no", "  ✕ adds", "sh: 1: foo: not found"];
    const good = ["ok  app 0.1s", "all errors are handled", ""];
    expect([...bad, ...good].filter((text) => isError({ id: 1, text }))).toEqual(bad);
  });
});

describe("a log that grows", () => {
  it("is the same in whatever pieces it arrives", () => {
    const text = "first\nzwölf €\n\nlast without an end";
    const all = encoder.encode(text);
    for (let cut = 1; cut < all.length; cut++) {
      const log = new GrowingLog();
      log.add(0, all.slice(0, cut));
      log.publish();
      log.add(cut, all.slice(cut));
      expect(texts(log), String(cut)).toEqual(linesOf(text).map((l) => `${l.no} ${l.text}`));
    }
  });

  it("ignores what it has, and says what was not kept", () => {
    const log = new GrowingLog();
    log.add(0, encoder.encode("one\ntwo"));
    log.add(0, encoder.encode("one\ntwo\nthr"));
    log.add(4, encoder.encode("two"));
    expect(texts(log)).toEqual(["1 one", "2 two", "3 thr"]);
    log.add(11 + 2048, encoder.encode("end\n"));
    expect(texts(log)).toEqual(["1 one", "2 two", "3 thr", "- … 2 KiB of the output were not kept …", "- end"]);
    expect(log.lines.map((l) => l.id)).toEqual([1, 2, 3, 4, 5]);
  });

  it("keeps the last 200,000 lines", () => {
    const log = new GrowingLog();
    const piece = encoder.encode("x\n".repeat(50_000));
    for (let i = 0; i < 5; i++) {
      log.add(i * piece.length, piece);
      log.publish();
    }
    expect(log.lines.length).toBe(200_000);
    expect(log.lines.at(-1)!.no).toBe(250_000);
  });
});

describe("the search", () => {
  it("finds lines in upper and lower case, and those that were added", () => {
    const log = new GrowingLog();
    const find = new Finder();
    const hits = (words: string) => {
      log.publish();
      return find.find(log.lines, words, contains(words));
    };
    log.add(0, encoder.encode("An Error\nfine\nerr"));
    expect(hits("error")).toEqual([1]);
    log.add(17, encoder.encode("or\nnone\n"));
    expect(hits("error")).toEqual([1, 3]);
    expect(hits("error")).toEqual([1, 3]);
    expect(hits("fine")).toEqual([2]);
    expect(hits("")).toEqual([]);
  });

  it("marks every match of a line", () => expect([marksOf("abAB", "ab"), marksOf("x", "ab"), marksOf("x", "")]).toEqual([[[0, 2], [2, 2]], [], []]));
});
