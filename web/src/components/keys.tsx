// The keyboard: what each key does, and the list of keys.
import { useEffect } from "react";
import { Dialog } from "../ui/dialog";
import { commands, goTo, type Command } from "./commands";

function typing(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement && target.type === "checkbox") return false;
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest(".xterm") !== null);
}

// step moves the focus among the rows of a page.
function step(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")];
  if (rows.length === 0) return;
  const at = rows.findIndex((r) => r.contains(document.activeElement));
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + by))]!;
  (next.matches("a,button") ? next : next.querySelector<HTMLElement>("a,button"))?.focus();
  next.scrollIntoView({ block: next.dataset.row === "start" ? "start" : "nearest" });
}

const byKey = new Map<string, Command>([...Object.values<Command>(commands), ...goTo].flatMap((c) => (c.key ? [[c.key, c] as const] : [])));

const moves: Record<string, () => void> = {
  j: () => step(1),
  k: () => step(-1),
  "/": () => document.querySelector<HTMLInputElement>("main input[type=search]")?.focus(),
};

// own are the commands of the open page.
const own = new Set<Command[]>();

// pageCommands returns what the buttons of the open page run.
export const pageCommands = (): Command[] => [...own].flat();

// usePageCommands adds commands while a part of a page is open: for the palette, and
// for the keyboard if they have a key.
export function usePageCommands(list: Command[]): void {
  useEffect(() => {
    own.add(list);
    return () => void own.delete(list);
  }, [list]);
}

const PAIR = 1500; // ms between g and the letter of a page

export function useKeys(): void {
  useEffect(() => {
    let went = -Infinity; // when g was pressed
    const press = (e: KeyboardEvent) => {
      if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
        e.preventDefault();
        commands.palette.run();
        return;
      }
      if (e.ctrlKey || e.metaKey || e.altKey || typing(e.target) || document.querySelector("dialog[open]")) return;
      const page = e.timeStamp - went < PAIR ? byKey.get("g " + e.key)?.run : undefined;
      went = e.key === "g" ? e.timeStamp : -Infinity;
      const run = page ?? pageCommands().find((c) => c.key === e.key)?.run ?? moves[e.key] ?? byKey.get(e.key)?.run;
      if (!run) return;
      e.preventDefault();
      run();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

const list: [string, string][] = [
  ["Ctrl K", "Find a task or run a command"],
  ["j / k", "Next or previous row"],
  ["Enter", "Open it"],
  ["/", "Search on this page"],
  ["Esc", "Close the dialog"],
];

export function Keys() {
  return (
    <dl className="keys">
      {[...list, ...[...pageCommands(), ...byKey.values()].flatMap((c): [string, string][] => (c.key ? [[c.key, c.name]] : []))].map(([key, what]) => (
        <div key={key}>
          <dt><kbd>{key}</kbd></dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Help({ onClose }: { onClose: () => void }) {
  return <Dialog title="Keys" onClose={onClose}><Keys /></Dialog>;
}
