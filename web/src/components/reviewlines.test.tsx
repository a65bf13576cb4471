// @vitest-environment happy-dom
import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";
import type { DiffLine } from "../api/schema";
import type { Range } from "../lib/review";
import { show } from "../test/render";
import { ReviewLines } from "./reviewlines";

const lines: DiffLine[] = [
  { kind: "same", old: 1, new: 1, text: "package a" },
  { kind: "removed", old: 2, text: "two" },
  { kind: "added", new: 2, text: "zwei" },
  { kind: "added", new: 3, text: "drei" },
  { kind: "same", old: 3, new: 4, text: "four" },
];

let chosen: Range[];
let more: unknown[];
beforeEach(() => {
  chosen = [];
  more = [];
});

function lay(props: Partial<Parameters<typeof ReviewLines>[0]> = {}) {
  return show(
    <ReviewLines parts={[{ gap: { id: 0, lines: 30, above: false, below: true } }, { lines }]} forms={[]} under={() => null} wrap={false}
      onSelect={(r) => chosen.push(r)} show={(...x) => more.push(x)} {...props} />,
  );
}

const line = (n: number, old = false) => screen.getByRole("button", { name: `Comment on line ${n}${old ? " before the change" : ""}` });
const texts = (which: string) => [...document.querySelectorAll(which)].map((l) => l.querySelector(".mark")!.textContent! + l.querySelector("code")!.textContent!);
const marked = () => texts(".ln.on");

it("selects a line with a click", () => {
  lay();
  fireEvent.pointerDown(line(3), { button: 0 });
  fireEvent.pointerUp(line(3));
  fireEvent.click(line(3), { detail: 1 });
  expect(chosen).toEqual([{ side: "new", first: 3, last: 3 }]);
});

it("selects a range of one side by dragging, in both directions", () => {
  lay();
  fireEvent.pointerDown(line(4), { button: 0 });
  fireEvent.pointerOver(line(3));
  fireEvent.pointerOver(line(2));
  fireEvent.pointerOver(line(1, true)); // the other side does not count
  expect(marked()).toEqual(["+zwei", "+drei", " four"]);
  fireEvent.pointerUp(window);
  expect(chosen).toEqual([{ side: "new", first: 2, last: 4 }]);
  expect(marked()).toEqual([]);
});

it("selects nothing if the page scrolls instead", () => {
  lay();
  fireEvent.pointerDown(line(4), { button: 0 });
  fireEvent.pointerCancel(window);
  fireEvent.pointerUp(window);
  expect(chosen).toEqual([]);
});

it("selects with the keyboard: arrows move, Shift extends on one side, Enter opens", () => {
  lay();
  line(1).focus();
  const press = (key: string, shiftKey = false) => fireEvent.keyDown(document.activeElement!, { key, shiftKey });
  press("ArrowDown");
  expect(document.activeElement).toBe(line(2, true)); // the removed line
  press("ArrowDown");
  expect(document.activeElement).toBe(line(2, true).closest(".ln-box")!.nextElementSibling!.querySelector("button"));
  press("ArrowDown", true);
  press("ArrowDown", true);
  expect(document.activeElement).toBe(line(4));
  expect(marked()).toEqual(["+zwei", "+drei", " four"]);
  fireEvent.click(document.activeElement!, { detail: 0 });
  expect(chosen).toEqual([{ side: "new", first: 2, last: 4 }]);
});

it("leaves out the other side of a selection by keys", () => {
  lay();
  line(1).focus();
  fireEvent.keyDown(line(1), { key: "ArrowDown", shiftKey: true });
  expect(document.activeElement).toBe(line(2));
  expect(marked()).toEqual([" package a", "+zwei"]);
  fireEvent.keyDown(document.activeElement!, { key: "Escape" });
  expect(marked()).toEqual([]);
});

it("keeps one line number in the order of the Tab key", () => {
  lay();
  const inOrder = () => [...document.querySelectorAll<HTMLElement>("[data-n]")].filter((b) => b.tabIndex === 0);
  expect(inOrder()).toEqual([line(1)]);
  line(3).focus();
  expect(inOrder()).toEqual([line(3)]);
});

it("uses tokens only if they are the line", () => {
  lay({ colours: { old: undefined, new: [[["hl-keyword", "package"], ["", " a"]], [["hl-keyword", "other"]]] } });
  expect([...document.querySelectorAll(".hl-keyword")].map((x) => x.textContent)).toEqual(["package"]);
  expect(texts(".ln")).toEqual([" package a", "-two", "+zwei", "+drei", " four"]);
});

it("shows more of what did not change", () => {
  lay();
  fireEvent.click(screen.getByText("Show 20 lines above"));
  fireEvent.click(screen.getByText("Show all 30"));
  expect(more).toEqual([[0, "end", 20], [0, "start", 30]]);
});

it("shows what belongs under a line once", () => {
  lay({ under: (at) => (at === "new 2" || at === "old 2" ? <p>{at}</p> : null) });
  expect([...document.querySelectorAll("p")].map((p) => p.textContent)).toEqual(["old 2", "new 2"]);
});
