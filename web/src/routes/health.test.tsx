// @vitest-environment happy-dom
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { show } from "../test/render";
import { Verdict } from "./health";

it("says that the server is healthy", () => {
  show(<Verdict h={{ at: "2026-01-01T10:00:00Z", healthy: true, problems: [] }} />);
  expect(screen.getByRole("status").textContent).toContain("Healthy");
});

it("lists problems in the server's order, each with its fix", () => {
  const problems = [{ kind: "disk" as const, text: "The disk is nearly full.", fix: "free some space", urgent: true }, { kind: "backup" as const, text: "There is no backup.", fix: "run coppice backup" }];
  show(<Verdict h={{ at: "2026-01-01T10:00:00Z", healthy: false, problems }} />);
  expect(screen.getByRole("alert").textContent).toContain("2 problems");
  expect(screen.getAllByRole("listitem").map((l) => l.textContent)).toEqual(["urgent The disk is nearly full.free some space", " There is no backup.run coppice backup"]);
});
