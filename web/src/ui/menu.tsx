// A menu behind a button, as the WAI-ARIA pattern describes it: arrow keys move,
// the first letter finds, Escape closes and returns the focus.
import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";

export interface MenuItem {
  id: string;
  name: string;
  about?: string;
  danger?: boolean;
  run: () => void;
}

interface Props {
  name: string;
  label?: string; // what it is, if its name does not say it
  small?: boolean;
  float?: boolean; // above everything, for menus in lists that scroll
  items: MenuItem[] | (() => MenuItem[]);
}

// place puts the list next to its button, inside the window.
function place(list: HTMLElement, button: DOMRect): void {
  list.showPopover?.();
  const below = button.bottom + 4 + list.offsetHeight < innerHeight;
  list.style.left = `${Math.max(8, button.right - list.offsetWidth)}px`;
  list.style.top = `${Math.max(8, below ? button.bottom + 4 : button.top - 4 - list.offsetHeight)}px`;
}

export function Menu({ name, label, small, float, items }: Props) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const entries = () => [...(list.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];

  useEffect(() => {
    if (!open) return;
    if (float && list.current && button.current) place(list.current, button.current.getBoundingClientRect());
    entries()[0]?.focus({ preventScroll: true });
    if (!float) return;
    const leave = () => setOpen(false);
    addEventListener("scroll", leave, true);
    return () => removeEventListener("scroll", leave, true);
  }, [open, float]);

  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const press = (e: KeyboardEvent) => {
    const all = entries();
    const at = all.findIndex((x) => x === document.activeElement);
    const letter = (x: HTMLElement) => x.textContent?.toLowerCase().startsWith(e.key.toLowerCase());
    const next: Record<string, HTMLElement | undefined> = { ArrowDown: all[(at + 1) % all.length], ArrowUp: all[(at - 1 + all.length) % all.length], Home: all[0], End: all.at(-1) };
    const target = next[e.key] ?? (e.key.length === 1 ? [...all.slice(at + 1), ...all].find(letter) : undefined);
    if (e.key === "Escape") close();
    else if (e.key === "Tab") setOpen(false);
    else target?.focus();
    if (e.key !== "Tab" && (target || e.key === "Escape")) {
      e.preventDefault();
      e.stopPropagation();
    }
  };
  return (
    <div className="menu-box" onBlur={(e) => !e.currentTarget.contains(e.relatedTarget) && setOpen(false)}>
      <button ref={button} className={"button" + (small ? " small" : float ? " icon" : "")} aria-label={label} title={label} aria-haspopup="menu" aria-expanded={open} aria-controls={open ? id : undefined} onClick={() => setOpen(!open)}
        onKeyDown={(e) => {
          if (e.key !== "ArrowDown") return;
          e.preventDefault();
          setOpen(true);
        }}>
        {name}{!float && <> <span aria-hidden="true">▾</span></>}
      </button>
      {open && (
        <div ref={list} id={id} role="menu" popover={float ? "manual" : undefined} aria-label={label ?? name} onKeyDown={press}>
          {(typeof items === "function" ? items() : items).map((i) => (
            <button key={i.id} role="menuitem" tabIndex={-1} className={"button ghost" + (i.danger ? " danger" : "")} title={i.about} onClick={() => {
              close();
              i.run();
            }}>{i.name}</button>
          ))}
        </div>
      )}
    </div>
  );
}
