import { describe, expect, it } from "vitest";
import { task } from "../test/make";
import { Lines } from "./says";

describe("Lines", () => {
  it("tells those who look at a task, and no others", () => {
    const lines = new Lines();
    const told: string[] = [];
    const leave = lines.look("app-1", () => told.push("one"));
    lines.look("app-1", () => told.push("two"));
    lines.look("app-2", () => told.push("other"));
    const t = task({ id: 1, session: "app-1.1" });
    expect(lines.of(t)).toBeUndefined();
    lines.take({ task: "app-1", session: "app-1.1", says: "I begin." });
    lines.take({ task: "app-1", session: "app-1.1", says: "I go on." });
    expect(lines.of(t)).toBe("I go on.");
    leave();
    lines.take({ task: "app-1", session: "app-1.1", says: "" });
    expect(lines.of(t)).toBeUndefined();
    expect(told).toEqual(["one", "two", "one", "two", "two"]);
  });

  it("knows nothing of another session than the newest", () => {
    const lines = new Lines();
    lines.take({ task: "app-1", session: "app-1.1", says: "old" });
    expect(lines.of(task({ id: 1, session: "app-1.2" }))).toBeUndefined();
    expect(lines.of(task({ id: 1, session: "app-1.1" }))).toBe("old");
  });

  it("forgets all when the line is opened anew", () => {
    const lines = new Lines();
    let told = 0;
    lines.look("app-1", () => told++);
    lines.take({ task: "app-1", session: "app-1.1", says: "old" });
    lines.clear();
    lines.clear();
    expect(told).toBe(2);
    expect(lines.of(task({ id: 1, session: "app-1.1" }))).toBeUndefined();
  });
});
