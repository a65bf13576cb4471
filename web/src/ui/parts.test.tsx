// @vitest-environment happy-dom
import { fireEvent, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { show } from "../test/render";
import { Filters } from "./parts";

const all = () => document.querySelector(".filters-all")!.className;

it("opens the filters with a button, and from the start if one is on", () => {
  const { unmount } = show(<Filters on={false} first={<input aria-label="Words" />}><label>Project</label></Filters>);
  expect(all()).toBe("filters-all");
  fireEvent.click(screen.getByRole("button", { name: "Filters" }));
  expect(all()).toContain("open");
  expect(screen.getByRole("button").getAttribute("aria-expanded")).toBe("true");
  unmount();
  show(<Filters on><label>Project</label></Filters>);
  expect(all()).toContain("open");
  expect(screen.getByRole("button").textContent).toBe("Filters (on)");
});
