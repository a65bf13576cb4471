// @vitest-environment happy-dom
import { afterEach, expect, it, vi } from "vitest";
import { watch } from "./presence";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it("says that a person looks, as long as the page is visible and used", () => {
  vi.useFakeTimers();
  const focus = vi.spyOn(document, "hasFocus").mockReturnValue(true);
  const visible = vi.spyOn(document, "visibilityState", "get").mockReturnValue("visible");
  let looks = 0;
  const end = watch(() => looks++);
  expect(looks).toBe(1);
  dispatchEvent(new Event("pointermove")); // too soon
  expect(looks).toBe(1);
  vi.advanceTimersByTime(60_000);
  expect(looks).toBe(4);
  vi.advanceTimersByTime(600_000); // nobody moves anything
  const idle = looks;
  expect(idle).toBeLessThan(9);
  dispatchEvent(new Event("keydown"));
  expect(looks).toBe(idle + 1);
  visible.mockReturnValue("hidden");
  vi.advanceTimersByTime(60_000);
  expect(looks).toBe(idle + 1);
  visible.mockReturnValue("visible");
  focus.mockReturnValue(false);
  document.dispatchEvent(new Event("visibilitychange"));
  expect(looks).toBe(idle + 1);
  focus.mockReturnValue(true);
  document.dispatchEvent(new Event("visibilitychange"));
  expect(looks).toBe(idle + 2);
  end();
  vi.advanceTimersByTime(60_000);
  dispatchEvent(new Event("keydown"));
  expect(looks).toBe(idle + 2);
});
