// @vitest-environment happy-dom
import { fireEvent, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { show } from "../test/render";
import { ProjectField } from "./projectfield";

it("offers the projects and reports the choice", () => {
  const choose = vi.fn();
  show(<ProjectField id="p" names={["app", "web"]} project="app" choose={choose} />);
  const field = screen.getByLabelText<HTMLSelectElement>("Project");
  expect(field.value).toBe("app");
  fireEvent.change(field, { target: { value: "web" } });
  expect(choose).toHaveBeenCalledWith("web");
});
