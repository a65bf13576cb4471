// @vitest-environment happy-dom
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { pull, task } from "../test/make";
import { show } from "../test/render";
import { ciMark, PullMarks, reviewMark } from "./pullmark";

it("shows the number, CI and the review as text, and opens the forge and the task", () => {
  const t = task({ id: 1, pr: pull({ ci: "failed", failed: ["build", "lint"], review: "changes", open_comments: 2 }) });
  show(<PullMarks t={t} className="" />);
  const [number, ci, review] = screen.getAllByRole("link");
  expect(number!.textContent).toBe("#12");
  expect(["href", "target", "rel"].map((a) => number!.getAttribute(a))).toEqual(["https://forge.example/12", "_blank", "noreferrer"]);
  expect([ci, review].map((a) => a!.getAttribute("href"))).toEqual(["/tasks/app-1?tab=pull", "/tasks/app-1?tab=pull"]);
  expect([ci, review].map((a) => a!.textContent)).toEqual(["✗ CI", "✗ changes"]);
  expect([ci, review].map((a) => a!.getAttribute("aria-label"))).toEqual(["CI failed: build, lint (app-1)", "A reviewer requested changes, 2 open comments (app-1)"]);
  expect(ci!.title).toBe("CI failed: build, lint");
});

it("links only to addresses of the web", () => {
  for (const url of ["javascript:alert(1)", "JAVASCRIPT:alert(1)", " https://x", "file:///etc/passwd", "//x", ""]) {
    const { unmount } = show(<PullMarks t={task({ id: 1, pr: pull({ url }) })} className="" />);
    expect(screen.getByText("#12").closest("a"), url).toBeNull();
    unmount();
  }
});

it("leaves out the badges of a request that has ended, and everything without one", () => {
  const { unmount } = show(<PullMarks t={task({ id: 1, pr: pull({ state: "merged", ci: "passed" }) })} className="" />);
  expect(document.body.textContent).toBe("#12merged");
  unmount();
  show(<PullMarks t={task({ id: 1 })} className="" />);
  expect(document.body.textContent).toBe("");
});

it("has words for every state", () => {
  expect(([undefined, "pending", "passed", "failed"] as const).map((ci) => ciMark({ ci }).text)).toEqual(["– CI", "… CI", "✓ CI", "✗ CI"]);
  expect(([undefined, "approved", "changes"] as const).map((review) => reviewMark({ review }).text)).toEqual(["– review", "✓ approved", "✗ changes"]);
  expect(reviewMark({ draft: true }).text).toBe("draft");
  expect(reviewMark({ draft: true, review: "approved" }).text).toBe("✓ approved");
});
