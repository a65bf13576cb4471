// @vitest-environment happy-dom
// The small parts that every page uses.
import { fireEvent, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { show } from "../test/render";
import { Dialog } from "./dialog";
import { at, offsets, sizes, VirtualLog } from "./log";
import { Menu } from "./menu";
import { range, VirtualList } from "./virtual";

it("closes a dialog, and gives the focus back", () => {
  const close = vi.fn();
  show(<button>before</button>);
  screen.getByText("before").focus();
  const { unmount } = show(<Dialog title="Really?" onClose={close}><input aria-label="why" /></Dialog>);
  expect(document.activeElement).toBe(screen.getByLabelText("why"));
  fireEvent.click(screen.getByLabelText("Close"));
  expect(close).toHaveBeenCalledTimes(1);
  unmount();
  expect(document.activeElement).toBe(screen.getByText("before"));
});

it("moves in a menu by keys and letters, and runs an entry", () => {
  const run = vi.fn();
  show(<Menu name="More" items={[{ id: "a", name: "Archive", run }, { id: "f", name: "Fork", run: () => {} }, { id: "t", name: "Take over", run: () => {} }]} />);
  fireEvent.keyDown(screen.getByRole("button"), { key: "ArrowDown" });
  const name = () => document.activeElement?.textContent;
  const press = (key: string) => fireEvent.keyDown(document.activeElement!, { key });
  expect(name()).toBe("Archive");
  press("ArrowUp");
  expect(name()).toBe("Take over");
  press("f");
  expect(name()).toBe("Fork");
  press("Home");
  fireEvent.click(document.activeElement!);
  expect(run).toHaveBeenCalled();
  expect(screen.queryByRole("menu")).toBeNull();
  expect(name()).toBe("More ▾");
});

it("draws only the rows around the visible ones", () => {
  expect(range(1000, 200, 20, 10_000)).toEqual([44, 66]);
  expect(range(0, 200, 20, 3)).toEqual([0, 3]);
  show(<VirtualList items={Array.from({ length: 10_000 }, (_, i) => i)} height={20} label="Numbers" id={String} row={(i) => <span>row {i}</span>} />);
  expect(screen.getByText("row 0")).toBeTruthy();
  expect(screen.getAllByText(/^row/).length).toBeLessThan(100);
});

it("finds the row at a position of a log whose rows differ in height", () => {
  const places = offsets(sizes([1, 2, 3], (n) => n, new Map([[2, 100]]), 10));
  expect([...places]).toEqual([0, 10, 110, 120]);
  expect([0, 9, 10, 109, 110, 500].map((p) => at(places, p))).toEqual([0, 0, 1, 1, 2, 2]);
  show(<VirtualLog items={[1, 2]} id={(n) => n} row={(n) => <p>line {n}</p>} label="Log" follow={false} onLeave={() => {}} before={<em>earlier</em>} />);
  expect(screen.getByRole("log").textContent).toBe("earlierline 1line 2");
});

it("follows a log whose box grows, until the user scrolls up", () => {
  const leave = vi.fn();
  show(<VirtualLog items={[1, 2]} id={(n) => n} row={(n) => <p>line {n}</p>} label="Log" follow onLeave={leave} />);
  const box = screen.getByRole("log");
  const scroll = (size: { clientHeight: number; scrollHeight: number; scrollTop: number }) => {
    for (const [name, value] of Object.entries(size)) Object.defineProperty(box, name, { value, writable: true, configurable: true });
    fireEvent.scroll(box);
  };
  scroll({ clientHeight: 400, scrollHeight: 1000, scrollTop: 600 });
  scroll({ clientHeight: 600, scrollHeight: 1000, scrollTop: 400 }); // as the browser scrolls it
  scroll({ clientHeight: 600, scrollHeight: 900, scrollTop: 300 });
  expect(leave).not.toHaveBeenCalled();
  scroll({ clientHeight: 600, scrollHeight: 900, scrollTop: 200 });
  expect(leave).toHaveBeenCalledTimes(1);
});
