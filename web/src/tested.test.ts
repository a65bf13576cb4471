// Every component and every page has a test: some test imports its module.
import { expect, it } from "vitest";

const modules = Object.keys(import.meta.glob(["./**/*.tsx", "!./**/*.test.tsx", "!./test/**", "!./main.tsx"]));
const tests = import.meta.glob<string>("./**/*.test.{ts,tsx}", { query: "?raw", import: "default", eager: true });

// imported are the modules that a test imports, from the directory src.
function imported(test: string, text: string): string[] {
  return [...text.matchAll(/(?:from|import\() ?"(\.[^"]+)"/g)].map((m) => new URL(m[1]!, `file:///${test.slice(2)}`).pathname);
}

it("tests every component", () => {
  const all = new Set(Object.entries(tests).flatMap(([test, text]) => imported(test, text)));
  expect(modules.length).toBeGreaterThan(60);
  expect(modules.filter((m) => !all.has(m.slice(1).replace(/\.tsx$/, "")))).toEqual([]);
});
