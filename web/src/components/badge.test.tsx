// @vitest-environment happy-dom
import { act, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { serve, show } from "../test/render";
import { useBadge } from "./badge";

const status = (inbox: number, wakes_at?: string) => ({ seq: 1, at: "", counts: {}, projects: [], inbox, wakes_at, today_usd: 0 });

function Page() {
  return <output>{useBadge("Board")}</output>;
}

it("shows the number of entries in the title", async () => {
  serve({ "GET /api/v1/status": status(3) });
  show(<Page />);
  await waitFor(() => expect(document.title).toBe("(3) Board · Coppice"));
});

it("reads the inbox only for notifications", async () => {
  const sent = serve({ "GET /api/v1/status": status(0) });
  show(<Page />);
  await waitFor(() => expect(document.title).toBe("Board · Coppice"));
  expect(sent.map((s) => s.path)).toEqual(["/api/v1/status"]);
});

it("counts again when a snooze ends, although no event reports it", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true, now: Date.parse("2026-01-01T10:00:00Z") });
  try {
    const answers = { "GET /api/v1/status": status(1, "2026-01-01T11:00:00Z") };
    serve(answers);
    show(<Page />);
    await waitFor(() => expect(document.title).toBe("(1) Board · Coppice"));
    answers["GET /api/v1/status"] = status(2);
    await act(() => vi.advanceTimersByTimeAsync(3_599_000));
    expect(document.title).toBe("(1) Board · Coppice");
    await act(() => vi.advanceTimersByTimeAsync(2_000));
    await waitFor(() => expect(document.title).toBe("(2) Board · Coppice"));
  } finally {
    vi.useRealTimers();
  }
});
