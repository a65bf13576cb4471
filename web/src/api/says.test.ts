import { describe, expect, it } from "vitest";
import { task } from "../test/make";
import { Lines } from "./says";

describe("Lines", () => {
  it("notifies the viewers of a task, and no others", () => {
    const lines = new Lines();
    const calls: string[] = [];
    const leave = lines.look("app-1", () => calls.push("one"));
    lines.look("app-1", () => calls.push("two"));
    lines.look("app-2", () => calls.push("other"));
    const t = task({ id: 1, session: "app-1.1" });
    expect(lines.of(t)).toBeUndefined();
    lines.take({ task: "app-1", session: "app-1.1", says: "I begin." });
    lines.take({ task: "app-1", session: "app-1.1", says: "I continue." });
    expect(lines.of(t)).toBe("I continue.");
    leave();
    lines.take({ task: "app-1", session: "app-1.1", says: "" });
    expect(lines.of(t)).toBeUndefined();
    expect(calls).toEqual(["one", "two", "one", "two", "two"]);
  });

  it("knows nothing of another session than the newest", () => {
    const lines = new Lines();
    lines.take({ task: "app-1", session: "app-1.1", says: "old" });
    expect(lines.of(task({ id: 1, session: "app-1.2" }))).toBeUndefined();
    expect(lines.of(task({ id: 1, session: "app-1.1" }))).toBe("old");
  });

  it("forgets all lines when the stream is opened again", () => {
    const lines = new Lines();
    let calls = 0;
    lines.look("app-1", () => calls++);
    lines.take({ task: "app-1", session: "app-1.1", says: "old" });
    lines.clear();
    lines.clear();
    expect(calls).toBe(2);
    expect(lines.of(task({ id: 1, session: "app-1.1" }))).toBeUndefined();
  });
});
