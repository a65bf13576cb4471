// The grammars of the highlighter, as one chunk. lowlight builds a tree, never
// HTML text.
import { createLowlight } from "lowlight";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import clojure from "highlight.js/lib/languages/clojure";
import cmake from "highlight.js/lib/languages/cmake";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import dart from "highlight.js/lib/languages/dart";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import elixir from "highlight.js/lib/languages/elixir";
import erlang from "highlight.js/lib/languages/erlang";
import fsharp from "highlight.js/lib/languages/fsharp";
import go from "highlight.js/lib/languages/go";
import graphql from "highlight.js/lib/languages/graphql";
import groovy from "highlight.js/lib/languages/groovy";
import haskell from "highlight.js/lib/languages/haskell";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import julia from "highlight.js/lib/languages/julia";
import kotlin from "highlight.js/lib/languages/kotlin";
import less from "highlight.js/lib/languages/less";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import nginx from "highlight.js/lib/languages/nginx";
import nix from "highlight.js/lib/languages/nix";
import objectivec from "highlight.js/lib/languages/objectivec";
import ocaml from "highlight.js/lib/languages/ocaml";
import perl from "highlight.js/lib/languages/perl";
import php from "highlight.js/lib/languages/php";
import powershell from "highlight.js/lib/languages/powershell";
import properties from "highlight.js/lib/languages/properties";
import protobuf from "highlight.js/lib/languages/protobuf";
import python from "highlight.js/lib/languages/python";
import r from "highlight.js/lib/languages/r";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import scala from "highlight.js/lib/languages/scala";
import scss from "highlight.js/lib/languages/scss";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { Token } from "./highlight";

const grammars = {
  bash, c, clojure, cmake, cpp, csharp, css, dart, diff, dockerfile, elixir, erlang, fsharp, go, graphql, groovy,
  haskell, ini, java, javascript, json, julia, kotlin, less, lua, makefile, markdown, nginx, nix, objectivec, ocaml,
  perl, php, powershell, properties, protobuf, python, r, ruby, rust, scala, scss, sql, swift, typescript, xml, yaml,
};

const highlighter = createLowlight(grammars);

type Node = ReturnType<typeof highlighter.highlight>["children"][number];

// tokens returns the coloured parts of each line of a text. A part that spans
// lines is split. Of nested parts, the innermost one counts.
export function tokens(language: string, text: string): Token[][] {
  const lines: Token[][] = [[]];
  const add = (nodes: readonly Node[], kind: string) => {
    for (const n of nodes) {
      if (n.type === "element") add(n.children, kindOf(n.properties.className));
      if (n.type !== "text") continue;
      n.value.split("\n").forEach((part, i) => {
        if (i > 0) lines.push([]);
        if (part) lines.at(-1)!.push([kind, part]);
      });
    }
  };
  add(highlighter.highlight(language, text, { prefix: PREFIX }).children, "");
  if (lines.at(-1)!.length === 0) lines.pop(); // after the last line break
  return lines;
}

const PREFIX = "hl-";

// kindOf returns the classes of a part. The part of an embedded language has none.
function kindOf(names: unknown): string {
  return Array.isArray(names) && String(names[0]).startsWith(PREFIX) ? names.join(" ") : "";
}
