// A list that draws only the visible rows. Every row has the same height. The list
// scrolls, or the page scrolls if the list is as high as its rows.
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";

interface Props<T> {
  items: T[];
  height: number;
  className?: string;
  label: string;
  row: (item: T, index: number) => ReactNode;
  id: (item: T) => string;
  onEnd?: () => void; // the list was scrolled to its last rows
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
  const [scrolled, setScrolled] = useState(false); // the list itself

  const measure = useCallback(() => {
    const el = box.current;
    if (!el) return;
    setView(Math.min(el.clientHeight || 800, innerHeight));
    setTop(el.scrollTop + Math.max(0, -el.getBoundingClientRect().top));
    setScrolled(el.scrollTop > 0);
  }, []);

  useLayoutEffect(() => {
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(box.current!);
    addEventListener("scroll", measure, { passive: true });
    return () => {
      watch.disconnect();
      removeEventListener("scroll", measure);
    };
  }, [measure]);

  useEffect(measure, [items.length, measure]); // a list that became shorter might be scrolled past its new end

  const [first, last] = range(top, view, height, items.length);
  const rows = items.slice(first, last);
  const atEnd = last === items.length && scrolled;
  useEffect(() => {
    if (atEnd) onEnd?.();
  }, [atEnd, onEnd]);
  return (
    <div ref={box} className={"virtual " + (className ?? "")} role="list" aria-label={label} tabIndex={items.length > 0 ? 0 : -1} onScroll={measure}>
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
