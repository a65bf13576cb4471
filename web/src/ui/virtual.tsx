// A list that draws only the visible rows. Every row has the same height.
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";

interface Props<T> {
  items: T[];
  height: number;
  className?: string;
  label: string;
  row: (item: T, index: number) => ReactNode;
  id: (item: T) => string;
  onEnd?: () => void; // the last rows are visible
}

const AROUND = 6; // rows drawn beyond the edge, so that focus can move on

export function range(top: number, view: number, height: number, all: number): [number, number] {
  const first = Math.max(0, Math.min(Math.floor(top / height), all) - AROUND);
  const last = Math.min(all, Math.ceil((top + view) / height) + AROUND);
  return [first, last];
}

export function VirtualList<T>({ items, height, className, label, row, id, onEnd }: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [view, setView] = useState(800);

  useLayoutEffect(() => {
    const el = box.current;
    if (!el) return;
    const measure = () => setView(el.clientHeight || 800);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(el);
    return () => watch.disconnect();
  }, []);

  useEffect(() => {
    // A list that became shorter might be scrolled past its new end.
    const el = box.current;
    if (el && top > 0 && el.scrollTop !== top) setTop(el.scrollTop);
  }, [items.length, top]);

  const [first, last] = range(top, view, height, items.length);
  const rows = items.slice(first, last);
  const atEnd = last === items.length && top > 0;
  useEffect(() => {
    if (atEnd) onEnd?.();
  }, [atEnd, onEnd]);
  return (
    <div ref={box} className={"virtual " + (className ?? "")} role="list" aria-label={label} tabIndex={items.length > 0 ? 0 : -1} onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
      <div role="presentation" style={{ height: items.length * height, position: "relative" }}>
        {rows.map((item, i) => (
          <div key={id(item)} role="listitem" className="virtual-row" style={{ top: (first + i) * height, height }}>
            {row(item, first + i)}
          </div>
        ))}
      </div>
    </div>
  );
}
