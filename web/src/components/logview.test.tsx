// @vitest-environment happy-dom
import { fireEvent, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { linesOf } from "../lib/lines";
import { show } from "../test/render";
import { LogView } from "./logview";

// Rows have a height, as in a browser.
Object.defineProperty(HTMLElement.prototype, "offsetHeight", { get: () => 19 });

const drawn = () => document.querySelectorAll(".log-line").length;

it("draws little of 200,000 lines, and searches all of them", async () => {
  const lines = linesOf(Array.from({ length: 200_000 }, (_, i) => `line ${i + 1}`).join("\n"));
  show(<LogView name="make" lines={lines} />);
  expect(screen.getByText("line 1")).toBeTruthy();
  expect(drawn()).toBeLessThan(200);
  const field = screen.getByLabelText("Search in the log of make");
  fireEvent.change(field, { target: { value: "line 123456" } });
  expect(await screen.findByText("1 found")).toBeTruthy();
  fireEvent.keyDown(field, { key: "Enter" });
  expect((await screen.findByText("line 123456")).tagName).toBe("MARK");
  expect(drawn()).toBeLessThan(200);
});

it("follows a log that grows until somebody looks elsewhere", () => {
  const text = Array.from({ length: 500 }, (_, i) => `line ${i + 1}`).join("\n");
  const { rerender } = show(<LogView name="make" live lines={linesOf(text)} />);
  expect(screen.getByText("line 500")).toBeTruthy();
  rerender(<LogView name="make" live lines={linesOf(text + "\nnew")} />);
  expect(screen.getByText("new")).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Following" }));
  expect(screen.getByRole("button", { name: "Follow" }).getAttribute("aria-pressed")).toBe("false");
});

it("shows paths relative to the workspace, and keeps them for a copy and the search", async () => {
  const relative = (text: string) => text.replace("/s/coppice-1/", "");
  show(<LogView name="make" lines={linesOf("FAIL /s/coppice-1/web/a.ts")} relative={relative} />);
  expect(screen.getByText("FAIL web/a.ts")).toBeTruthy();
  fireEvent.change(screen.getByLabelText("Search in the log of make"), { target: { value: "web/a" } });
  expect(await screen.findByText("1 found")).toBeTruthy();
  expect(screen.getByText("web/a").tagName).toBe("MARK");
});
