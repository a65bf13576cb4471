// @vitest-environment happy-dom
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { show } from "../test/render";
import { Markdown } from "./markdown";

it("shows the fields below an element of a list as nested", () => {
  show(<Markdown text={"- [x] lexer: Write it\n  - after: parser\n- [ ] docs"} />);
  expect(screen.getAllByRole("listitem").map((li) => [li.className, li.textContent])).toEqual([["", "☑ lexer: Write it"], ["nested", "after: parser"], ["", "☐ docs"]]);
});
