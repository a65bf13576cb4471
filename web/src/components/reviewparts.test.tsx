// @vitest-environment happy-dom
// The parts of a review: the list of files, and one file.
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { comment, file, review } from "../test/make";
import { serve, show } from "../test/render";
import { ReviewFile } from "./reviewfile";
import { ReviewFiles } from "./reviewfiles";

// Every file is near the window.
beforeEach(() => {
  vi.stubGlobal("IntersectionObserver", class {
    constructor(private seen: (list: { isIntersecting: boolean }[]) => void) {}
    observe() {
      this.seen([{ isIntersecting: true }]);
    }
    disconnect() {}
  });
});

it("lists files with what is viewed and commented, and filters", () => {
  const setFilter = vi.fn();
  const files = [file({ path: "web/a.ts", viewed: true }), file({ path: "b.go", kind: "added", added: 7 })];
  show(<ReviewFiles files={files} all={3} viewed={1} open={(f) => (f.path === "b.go" ? 2 : 0)} filter="" setFilter={setFilter} />);
  const [first, second] = screen.getAllByRole("button");
  expect(first!.textContent).toBe("Ma.ts web+1−0✓");
  expect(second!.textContent).toBe("Ab.go2+7−0");
  expect(screen.getByText("1 of 3 viewed")).toBeTruthy();
  fireEvent.change(screen.getByLabelText("Filter by path"), { target: { value: "web" } });
  expect(setFilter).toHaveBeenCalledWith("web");
});

it("marks a file as viewed, and closes it", async () => {
  const sent = serve({ "PUT /api/v1/tasks/app-1/viewed": {} });
  const { rerender } = show(<ReviewFile r={review()} f={file({ path: "a.go" })} comments={[]} />);
  const name = () => screen.getByTitle("a.go");
  expect(name().getAttribute("aria-expanded")).toBe("true");
  fireEvent.click(screen.getByLabelText("Viewed"));
  await waitFor(() => expect(sent).toContainEqual({ method: "PUT", path: "/api/v1/tasks/app-1/viewed", body: { path: "a.go", blob: "b1", viewed: true } }));
  rerender(<></>);
  show(<ReviewFile r={review()} f={file({ path: "a.go", viewed: true })} comments={[comment({ id: 1 })]} />);
  expect(name().getAttribute("aria-expanded")).toBe("false");
  expect(screen.getByText("1 comment")).toBeTruthy();
});

it.each([
  ["a binary file", { binary: true }, /binary file/],
  ["a large file", { large: true }, /too large to show by line/],
])("says why %s has no lines", (_, change, text) => {
  show(<ReviewFile r={review()} f={file({ path: "a.bin", ...change })} comments={[]} />);
  expect(screen.getByText(text)).toBeTruthy();
  expect(screen.getByText("Open the plain diff").getAttribute("href")).toBe("/api/v1/tasks/app-1/diff?since=base");
});

it("shows its lines with their comments", async () => {
  const hunks = [{ old_start: 1, old_lines: 1, new_start: 1, new_lines: 2, lines: [{ kind: "same", text: "one", old: 1, new: 1 }, { kind: "added", text: "two", new: 2 }] }];
  serve({
    "GET /api/v1/tasks/app-1/review": review({ files: [file({ path: "a.go", hunks: hunks as never })] }),
    "GET /api/v1/tasks/app-1/review/text": { path: "a.go", blob: "b1", old: "one\n", new: "one\ntwo\n" },
  });
  show(<ReviewFile r={review()} f={file({ path: "a.go" })} comments={[comment({ id: 1, text: "why?" })]} />);
  expect(await screen.findByText("why?")).toBeTruthy();
  expect(screen.getByLabelText("Comment on line 2")).toBeTruthy();
});
