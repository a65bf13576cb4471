import { describe, expect, it } from "vitest";
import { agentEvent, wrote } from "../test/make";
import { Builder, changesOf, gist, plain, searchText } from "./conversation";

describe("Builder", () => {
  it("puts a result into its call, whenever it comes", () => {
    const b = new Builder();
    b.add([agentEvent({ kind: "tool", ref: "1", name: "run", input: { command: "ls" } }), agentEvent({ kind: "tool", ref: "2", name: "read" }), agentEvent({ kind: "text", text: "in between" })]);
    const before = b.blocks;
    b.add([agentEvent({ kind: "tool_result", ref: "1", ok: true, text: "a\nb" }), agentEvent({ kind: "tool_result", ref: "2", text: "no such file" })]);
    expect(b.blocks).toHaveLength(3);
    expect(b.blocks[0]).toMatchObject({ kind: "tool", name: "run", result: "a\nb", ok: true, bad: false });
    expect(b.blocks[1]).toMatchObject({ result: "no such file", ok: false, bad: true });
    expect(b.blocks[2]).toBe(before[2]);
    expect(before[0]!.result).toBeUndefined();
  });

  it("shows a result whose call it has not seen", () => {
    const b = new Builder();
    b.add([agentEvent({ kind: "tool_result", ref: "9", ok: true, text: "late" })]);
    expect(b.blocks).toMatchObject([{ kind: "tool", result: "late", ok: true }]);
  });

  it("names the tools of a protocol in words", () => {
    const b = new Builder();
    b.add([agentEvent({ kind: "tool", ref: "1", name: "commandExecution" }), agentEvent({ kind: "permission", ref: "1", name: "fileChange", text: "allowed" }), agentEvent({ kind: "tool", ref: "2", name: "Bash" })]);
    expect(b.blocks.map((x) => x.name)).toEqual(["run", "edit", "Bash"]);
  });

  it("names a question for a permission, whose answers the page offers elsewhere", () => {
    const b = new Builder();
    b.add([agentEvent({ kind: "question", text: "may it run: ls", options: ["allow", "deny"], rule: { tool: "Bash", do: "allow" } }), agentEvent({ kind: "question", text: "Which?", options: ["this", "that"] })]);
    expect(b.blocks.map((x) => [x.name, x.options])).toEqual([["permission", undefined], [undefined, ["this", "that"]]]);
  });

  it("passes over what it has seen before", () => {
    const b = new Builder();
    const pieces = [agentEvent({ kind: "text", text: "one" }), agentEvent({ kind: "text", text: "two" })];
    expect(b.add(pieces)).toBe(true);
    expect(b.add(pieces)).toBe(false);
    expect(b.add([pieces[1]!, agentEvent({ kind: "text", text: "three" })])).toBe(true);
    expect(b.blocks.map((x) => x.text)).toEqual(["one", "two", "three"]);
  });

  it("joins lines of stderr, and takes their colours out", () => {
    const b = new Builder();
    b.add([wrote("stderr", "\u001b[31mbad\u001b[0m "), wrote("stderr", "news\r\n"), wrote("host", JSON.stringify({ kind: "notice", text: "stopped" })), wrote("host", JSON.stringify({ kind: "notice", name: "dropped", bytes: 7 })), wrote("stderr", "  \n"), wrote("stdout", "not for people")]);
    expect(b.blocks.map((x) => [x.kind, x.text])).toEqual([["stderr", "bad news\n"], ["notice", "stopped"]]);
  });

  it("marks what is worth a jump, and leaves out what is shown elsewhere", () => {
    const b = new Builder();
    b.add([agentEvent({ kind: "usage", usage: {} }), agentEvent({ kind: "state", state: "working" }), agentEvent({ kind: "error", class: "auth", text: "log in" }), agentEvent({ kind: "limit", until: "soon" }), agentEvent({ kind: "turn", reason: "done" }), agentEvent({ kind: "unknown" })]);
    expect(b.blocks.map((x) => [x.kind, x.bad])).toEqual([["error", true], ["limit", true], ["turn", false]]);
    expect(b.blocks[0]!.text).toBe("not logged in: log in");
  });
});

describe("what came before", () => {
  it("is the same as if it had been read in order, wherever it is cut", () => {
    const pieces = [
      agentEvent({ kind: "text", text: "one" }), agentEvent({ kind: "tool", ref: "1", name: "run" }), agentEvent({ kind: "tool", ref: "2", name: "read" }), agentEvent({ kind: "tool_result", ref: "1", ok: true, text: "a" }),
      agentEvent({ kind: "text", text: "two" }), agentEvent({ kind: "tool_result", ref: "1", ok: true, text: "b" }), agentEvent({ kind: "tool_result", ref: "2", text: "no" }), agentEvent({ kind: "tool_result", ref: "9", ok: true, text: "of nobody" }),
      agentEvent({ kind: "tool", ref: "3", name: "last" }),
    ];
    const late = agentEvent({ kind: "tool_result", ref: "3", ok: true, text: "in the end" });
    const whole = new Builder();
    whole.add([...pieces, late]);
    for (let i = 0; i <= pieces.length; i++) {
      for (let j = i; j <= pieces.length; j++) {
        const b = new Builder();
        b.add(pieces.slice(j));
        b.prepend(pieces.slice(i, j));
        b.prepend(pieces.slice(0, i));
        b.add([late]);
        expect(b.blocks, `cut at ${i} and ${j}`).toEqual(whole.blocks);
      }
    }
  });
});

describe("calls of Coppice's tools", () => {
  it("shows the host's entry in place of the agent's", () => {
    const b = new Builder();
    b.add([
      agentEvent({ kind: "tool", ref: "1", name: "mcp__coppice__report_status", own: true }), agentEvent({ kind: "call", ref: "app-1.1/3", name: "report_status", input: { message: "hi" }, ok: true, text: '{"ok":true}', took: "12ms" }),
      agentEvent({ kind: "tool_result", ref: "1", name: "report_status", ok: true, text: "…", own: true }), agentEvent({ kind: "call", name: "read_task", text: "there is no task" }),
    ]);
    expect(b.blocks).toMatchObject([{ kind: "tool", name: "coppice report_status", result: '{"ok":true}\n(12ms)', ok: true, bad: false }, { name: "coppice read_task", bad: true }]);
  });
});

describe("changesOf", () => {
  it("reads the ways in which agents write changes", () => {
    expect(changesOf({ file_path: "x", old_string: "a\nb", new_string: "a\nc" })?.map((l) => l.kind + l.text)).toEqual(["samea", "delb", "addc"]);
    expect(changesOf({ path: "x", content: "one\ntwo\n" })?.map((l) => l.kind)).toEqual(["add", "add"]);
    expect(changesOf({ edits: [{ old_str: "a", new_str: "b" }, { oldText: "c", newText: "d" }] })?.map((l) => l.kind)).toEqual(["del", "add", "hunk", "del", "add"]);
    expect(changesOf({ patch: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n" })?.map((l) => l.kind)).toEqual(["note", "hunk", "del", "add"]);
  });
  it.each([[undefined], [null], ["text"], [{}], [{ content: "no path" }], [{ command: "ls" }], [{ edits: [] }], [{ patch: 7 }], [[1, 2]]])("says nothing of %o", (input) => expect(changesOf(input)).toBeUndefined());
});

describe("words", () => {
  it("says what a call is about in a line", () => {
    const b = new Builder();
    b.add([agentEvent({ kind: "tool", name: "run", input: { command: "make\nmake test" } }), agentEvent({ kind: "tool", name: "x", input: { command: ["git", "log"] } }), agentEvent({ kind: "tool", name: "y", paths: ["a", "b"] })]);
    expect(b.blocks.map(gist)).toEqual(["make", "git log", "a, b"]);
    expect(searchText(b.blocks[0]!)).toContain("make test");
  });
  it("takes escape sequences out", () => {
    expect(plain("\u001b]0;title\u0007a\u001b[1;32mb\u001b[0m\r\nc")).toBe("ab\nc");
  });
});
