// Colours source code in the browser. The highlighter is a separate chunk, which
// is loaded with the first file.

// Token is a part of a line: its class, "" for plain text, and its text.
export type Token = readonly [kind: string, text: string];

// names lists the languages by the names of their files: an extension with its
// dot, or a whole name. A language without a grammar uses a similar one.
const names: Record<string, string> = {
  bash: ".sh .bash .zsh .ksh .bashrc .zshrc .profile .envrc",
  c: ".c .h",
  clojure: ".clj .cljs .cljc .edn",
  cmake: ".cmake cmakelists.txt",
  cpp: ".cc .cpp .cxx .hh .hpp .hxx .ino",
  csharp: ".cs .csx",
  css: ".css",
  dart: ".dart",
  diff: ".diff .patch",
  dockerfile: "dockerfile containerfile .dockerfile",
  elixir: ".ex .exs",
  erlang: ".erl .hrl",
  fsharp: ".fs .fsx .fsi",
  go: ".go go.mod go.work",
  graphql: ".graphql .gql",
  groovy: ".groovy .gradle jenkinsfile",
  haskell: ".hs",
  ini: ".ini .toml .cfg .conf .editorconfig .gitconfig .hcl .tf .tfvars cargo.lock",
  java: ".java",
  javascript: ".js .jsx .mjs .cjs",
  json: ".json .jsonc .json5 .webmanifest",
  julia: ".jl",
  kotlin: ".kt .kts",
  less: ".less",
  lua: ".lua",
  makefile: "makefile gnumakefile .mk .mak",
  markdown: ".md .markdown .mdx",
  nginx: "nginx.conf",
  nix: ".nix",
  objectivec: ".m .mm",
  ocaml: ".ml .mli",
  perl: ".pl .pm",
  php: ".php",
  powershell: ".ps1 .psm1 .psd1",
  properties: ".properties .env",
  protobuf: ".proto",
  python: ".py .pyi .pyw",
  r: ".r",
  ruby: ".rb .rake .gemspec gemfile rakefile podfile",
  rust: ".rs",
  scala: ".scala .sc .sbt",
  scss: ".scss .sass",
  sql: ".sql",
  swift: ".swift",
  typescript: ".ts .tsx .mts .cts",
  xml: ".xml .html .htm .xhtml .svg .vue .svelte .xsd .xsl .plist .csproj",
  yaml: ".yaml .yml",
};

const byName = new Map(Object.entries(names).flatMap(([language, all]) => all.split(" ").map((name) => [name, language] as const)));

export const languages = Object.keys(names);

// languageOf returns the language of a file by its name, undefined if it is not
// known. A name such as Dockerfile.dev counts by its first part.
export function languageOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const dot = name.lastIndexOf(".");
  return byName.get(name) ?? (dot >= 0 ? byName.get(name.slice(dot)) : undefined) ?? byName.get(name.split(".")[0]!);
}

// linesOf splits a text into lines without their line breaks.
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

const LARGEST = 100 * 1024; // characters of a text that is coloured
const LONGEST = 200; // ms; a file that took longer is not coloured again

const slow = new Set<string>(); // paths

const idle = () => new Promise<void>((done) => {
  if (typeof requestIdleCallback === "function") requestIdleCallback(() => done(), { timeout: 1000 });
  else setTimeout(done);
});

// colour returns the tokens of each line of a file, when the browser is idle. It
// returns undefined if the file stays plain.
export async function colour(path: string, text: string, now = () => performance.now()): Promise<Token[][] | undefined> {
  const language = languageOf(path);
  if (!language || text.length > LARGEST || slow.has(path)) return undefined;
  const { tokens } = await import("./grammars");
  await idle();
  const start = now();
  const lines = tokens(language, text);
  if (now() - start > LONGEST) slow.add(path);
  return lines;
}
