import { expect, it } from "vitest";
import { tokens } from "./grammars";
import { colour, languageOf, languages, linesOf } from "./highlight";

it("finds a language by the name of a file", () => {
  const cases: [string, string | undefined][] = [
    ["main.go", "go"], ["web/src/app.tsx", "typescript"], ["a/Dockerfile", "dockerfile"], ["Dockerfile.dev", "dockerfile"], ["Makefile", "makefile"], ["CMakeLists.txt", "cmake"],
    ["x.test.mjs", "javascript"], ["App.vue", "xml"], ["Cargo.toml", "ini"], ["main.tf", "ini"], ["a.b/c", undefined], ["notes.txt", undefined], ["README", undefined], ["", undefined],
    ["UPPER.SQL", "sql"], [".env", "properties"], ["dir.go/file", undefined],
  ];
  for (const [path, language] of cases) expect([path, languageOf(path)]).toEqual([path, language]);
});

it("knows a grammar for every language of its table", () => {
  expect(languages.length).toBeGreaterThan(40);
  for (const l of languages) expect(tokens(l, "x = 1\n")).toHaveLength(1);
});

it("colours a text of several lines as a whole", () => {
  const lines = tokens("go", "var s = `first\nfunc second`\nfunc f() {}\n");
  expect(lines[1]).toEqual([["hl-string", "func second`"]]);
  expect(lines[2]![0]).toEqual(["hl-keyword", "func"]);
});

it("colours what is embedded", () => {
  const lines = tokens("xml", "<script>\nconst a = 1;\n</script>\n");
  expect(lines[1]).toContainEqual(["hl-keyword", "const"]);
});

// pieces are what grammars treat in a special way, in any order.
const pieces = ["\n", "\n", "\r\n", "\"", "'", "`", "/*", "*/", "//", "#", "<a b=\"c\">", "</a>", "<script>", "</script>", "{", "}", "(", ")", "${", "\\", "func x", "def f:", "let y = 1", "é漢😀", "\t", " ", "---", "```", "<?php", "$1", "@a", "<<EOF", "EOF", "=begin", "0x1f", "class A", "\0"];

// A small generator, so that a failure can be repeated.
function random(seed: number): () => number {
  let s = seed;
  return () => (s = (s * 1103515245 + 12345) % 2147483648) / 2147483648;
}

it("never changes a line, whatever the text is", () => {
  for (const language of languages) {
    for (let seed = 1; seed <= 25; seed++) {
      const next = random(seed);
      const text = Array.from({ length: 1 + Math.floor(next() * 60) }, () => pieces[Math.floor(next() * pieces.length)]!).join("");
      expect([language, seed, tokens(language, text).map((l) => l.map((t) => t[1]).join(""))]).toEqual([language, seed, linesOf(text)]);
    }
  }
});

it("leaves large, unknown and slow files plain", async () => {
  expect(await colour("a.go", "x\n".repeat(60_000))).toBeUndefined();
  expect(await colour("a.txt", "x\n")).toBeUndefined();
  let at = 0;
  const slow = () => (at += 201);
  expect(await colour("slow.go", "package a\n", slow)).toHaveLength(1);
  expect(await colour("slow.go", "package b\n")).toBeUndefined();
  expect(await colour("fast.go", "package b\n")).toHaveLength(1);
});
