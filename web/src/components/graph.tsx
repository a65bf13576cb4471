// A graph from left to right. Each node is a link with a few lines of text.
import { useMemo } from "react";
import { layout, type Item, type Node } from "../lib/graph";
import { navigate } from "../router";

const W = 228;
const LINE = 17; // height of a line of text
const GAPX = 56;
const GAPY = 14;
const MOST = 25; // characters of a line

export interface Shown {
  href: string;
  status: string; // its colour
  title: string; // all that is known, for people who point at it
  lines: string[]; // the second one is its name
  planned?: boolean; // it does not exist yet
  current?: boolean; // it is selected
}

const short = (text: string) => (text.length > MOST ? text.slice(0, MOST - 1).trimEnd() + "…" : text);

export function Graph<T extends Item>({ items, label, lines, show }: { items: T[]; label: string; lines: number; show: (item: T) => Shown }) {
  const g = useMemo(() => layout(items), [items]);
  const h = 12 + lines * LINE;
  const at = (n: Node<T>) => ({ x: 12 + n.x * (W + GAPX), y: 12 + n.y * (h + GAPY) });
  return (
    <div className="graph" tabIndex={0} role="region" aria-label={label}>
      <svg width={24 + g.columns * (W + GAPX) - GAPX} height={24 + g.rows * (h + GAPY) - GAPY} role="list" aria-label={label}>
        <g role="presentation" aria-hidden="true">
          {g.edges.map((e) => {
            const a = at(e.from);
            const b = at(e.to);
            return <path key={e.from.item.key + " " + e.to.item.key} className={e.child ? "edge child" : "edge"} d={`M${a.x + W},${a.y + h / 2} C${a.x + W + GAPX / 2},${a.y + h / 2} ${b.x - GAPX / 2},${b.y + h / 2} ${b.x},${b.y + h / 2}`} />;
          })}
        </g>
        {g.nodes.map((n) => {
          const { x, y } = at(n);
          return <g key={n.item.key} role="listitem" transform={`translate(${x},${y})`}><NodeView id={n.item.key} s={show(n.item)} h={h} /></g>;
        })}
      </svg>
    </div>
  );
}

// NodeView has its lines in an svg, which cuts off a line of wide letters.
function NodeView({ id, s, h }: { id: string; s: Shown; h: number }) {
  const state = `s-${s.status.replace(" ", "-")}${s.planned ? " planned" : ""}${s.current ? " current" : ""}`;
  return (
    <a href={s.href} data-row data-node={id} aria-current={s.current ? "true" : undefined} onClick={(e) => {
      if (e.metaKey || e.ctrlKey) return;
      e.preventDefault();
      navigate(s.href, { replace: s.href.split("?")[0] === location.pathname });
    }}>
      <title>{s.title}</title>
      <rect width={W} height={h} rx={7} className={`node ${state}`} />
      {!s.planned && <rect width={5} height={h} rx={2.5} className={`node-mark ${state}`} />}
      <svg width={W - 6} height={h}>
        {s.lines.map((line, i) => <text key={i} x={15} y={19 + i * LINE} className={i === 1 ? "node-title" : "node-key"}>{short(line)}</text>)}
      </svg>
    </a>
  );
}
