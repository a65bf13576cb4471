// A list that grows at both ends, with rows of any height. It draws only the
// visible rows and some around them. The visible rows stay where they are when
// others are measured or added before them.
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, type ReactNode } from "react";

interface Props<T> {
  items: readonly T[];
  id: (item: T) => number;
  row: (item: T) => ReactNode;
  label: string;
  follow: boolean; // the end stays visible
  onLeave: () => void; // the user scrolled away from the end
  onEnd?: () => void; // the user scrolled to the end
  onTop?: () => void; // the first rows are visible
  show?: number; // the id of the row to scroll to
  className?: string;
  before?: ReactNode; // shown above all rows
  guess?: number; // px of a row that was not measured
}

const GUESS = 44; // px
const AROUND = 700; // px drawn beyond the edges

// sizes returns the heights of rows, with a guess for those not measured.
export function sizes<T>(items: readonly T[], id: (item: T) => number, heights: ReadonlyMap<number, number>, guess = GUESS): Float64Array {
  const out = new Float64Array(items.length);
  for (let i = 0; i < items.length; i++) out[i] = heights.get(id(items[i]!)) ?? guess;
  return out;
}

// grown returns the heights of a list that grew at one end, from its old
// heights.
export function grown<T>(items: readonly T[], id: (item: T) => number, heights: ReadonlyMap<number, number>, old: { items: readonly T[]; high: Float64Array }, guess = GUESS): Float64Array {
  const more = items.length - old.items.length;
  if (more < 0 || old.items.length === 0) return sizes(items, id, heights, guess);
  const before = items[more] !== undefined && id(items[more]) === id(old.items[0]!) ? more : 0; // how many came before
  if (id(items[before]!) !== id(old.items[0]!) || id(items[before + old.items.length - 1]!) !== id(old.items.at(-1)!)) return sizes(items, id, heights, guess);
  const out = new Float64Array(items.length);
  out.set(sizes(items.slice(0, before), id, heights, guess));
  out.set(old.high, before);
  out.set(sizes(items.slice(before + old.items.length), id, heights, guess), before + old.items.length);
  return out;
}

// offsets returns where rows start, and where the last one ends. It writes into
// a given list of the right length.
export function offsets(sizes: Float64Array, into?: Float64Array): Float64Array {
  const out = into?.length === sizes.length + 1 ? into : new Float64Array(sizes.length + 1);
  for (let i = 0; i < sizes.length; i++) out[i + 1] = out[i]! + sizes[i]!;
  return out;
}

// at returns the row at a position.
export function at(places: Float64Array, place: number): number {
  let low = 0;
  let high = Math.max(0, places.length - 2);
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (places[mid]! <= place) low = mid;
    else high = mid - 1;
  }
  return low;
}

// find returns the index of the row with an id, or of the row after it. Ids
// grow, so it can use binary search.
export function find<T>(items: readonly T[], id: (item: T) => number, wanted: number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (id(items[mid]!) < wanted) low = mid + 1;
    else high = mid;
  }
  return low;
}

export function VirtualLog<T>({ items, id, row, label, follow, onLeave, onEnd, onTop, show, className, before, guess = GUESS }: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const heights = useRef(new Map<number, number>()).current;
  const anchor = useRef<{ id: number; at: number }>(undefined); // the row at the upper edge, and where it started
  const target = useRef<number>(undefined); // the row to scroll to
  const was = useRef({ top: 0, height: 0, view: 0 });
  const [measured, remeasured] = useReducer((n: number) => n + 1, 0);
  const [, again] = useReducer((n: number) => n + 1, 0);
  const known = useRef<{ items: readonly T[]; high: Float64Array }>({ items: [], high: new Float64Array(0) });
  const high = useMemo(() => grown(items, id, heights, known.current, guess), [items, id, heights, guess]);
  known.current = { items, high };
  const buffer = useRef<Float64Array>(undefined);
  const places = useMemo(() => (buffer.current = offsets(high, buffer.current)), [high, measured]);
  const all = places[items.length]!;

  const el = box.current;
  const view = el?.clientHeight || 800;
  const placeOf = (wanted: number) => places[find(items, id, wanted)]!;
  // How far the visible rows have moved since the user last saw them.
  const moved = () => (anchor.current ? placeOf(anchor.current.id) - anchor.current.at : 0);
  let top = Math.max(0, all - view);
  if (target.current !== undefined) top = placeOf(target.current) - view / 3;
  else if (!follow && el && list.current && anchor.current) top = el.scrollTop - list.current.offsetTop + moved();
  const first = at(places, top - AROUND);
  const last = Math.min(items.length, at(places, top + view + AROUND) + 1);
  const rows = items.slice(first, last);

  // note stores which row is at the upper edge.
  const note = () => {
    const el = box.current;
    const inside = list.current;
    if (!el || !inside || items.length === 0) return;
    was.current = { top: el.scrollTop, height: el.scrollHeight, view: el.clientHeight };
    const i = at(places, el.scrollTop - inside.offsetTop);
    anchor.current = { id: id(items[i]!), at: places[i]! };
  };

  // Rows are measured before they are visible. Then the box is scrolled by as
  // much as the visible rows have moved, never to a position, because the user
  // might be scrolling.
  useLayoutEffect(() => {
    const el = box.current;
    const inside = list.current;
    if (!el || !inside) return;
    let changed = false;
    for (let i = 0; i < inside.children.length; i++) {
      const h = (inside.children[i] as HTMLElement).offsetHeight;
      if (high[first + i] === h) continue;
      high[first + i] = h;
      heights.set(id(items[first + i]!), h);
      changed = true;
    }
    if (changed) {
      remeasured();
      return;
    }
    const by = moved();
    if (target.current !== undefined) el.scrollTop = inside.offsetTop + placeOf(target.current) - el.clientHeight / 3;
    else if (follow) el.scrollTop = el.scrollHeight;
    else if (by !== 0) el.scrollTop += by;
    target.current = undefined;
    note();
    if (!follow && onTop && first === 0 && el.scrollTop < AROUND) onTop();
  });

  const scrolled = () => {
    const el = box.current;
    if (!el) return;
    // The browser scrolls too: when the box grows, or the rows shrink.
    const away = el.scrollTop < was.current.top - 2 && el.scrollHeight >= was.current.height && el.clientHeight <= was.current.view;
    const down = el.scrollTop > was.current.top && el.scrollHeight - el.scrollTop - el.clientHeight < 2;
    note();
    if (follow && away) onLeave();
    if (!follow && down) onEnd?.();
    again();
  };

  useEffect(() => {
    if (show === undefined) return;
    target.current = show;
    again();
  }, [show]); // on request, not when rows arrive

  useLayoutEffect(() => {
    // The log's own rows that come and go are ignored.
    let view = 0;
    const watch = new ResizeObserver(() => {
      const [b, l, p] = [box.current, list.current, buffer.current];
      if (b && l && p && b.clientHeight === view && Math.abs(l.offsetHeight - p.at(-1)!) < 1) return;
      view = b?.clientHeight ?? 0;
      again();
    });
    if (box.current) watch.observe(box.current);
    if (list.current) watch.observe(list.current);
    return () => watch.disconnect();
  }, []);

  return (
    <div className={"log " + (className ?? "")} ref={box} tabIndex={0} role="log" aria-label={label} onScroll={scrolled}>
      {before}
      <div ref={list} style={{ paddingTop: places[first], paddingBottom: all - places[last]! }}>
        {rows.map((item) => <div key={id(item)} className="log-row">{row(item)}</div>)}
      </div>
    </div>
  );
}
