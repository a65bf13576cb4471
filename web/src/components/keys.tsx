// The keyboard: what each key does, and the list of keys.
import { useEffect } from "react";
import { navigate } from "../router";
import { Dialog } from "../ui/dialog";
import { pages } from "./shell";

export interface Actions {
  palette: () => void;
  help: () => void;
  create: () => void;
}

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest(".xterm") !== null);
}

// step moves the focus among the rows of a page.
function step(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")];
  if (rows.length === 0) return;
  const at = rows.findIndex((r) => r.contains(document.activeElement));
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + by))]!;
  (next.matches("a,button") ? next : next.querySelector<HTMLElement>("a,button"))?.focus();
  next.scrollIntoView({ block: "nearest" });
}

export function useKeys(actions: Actions): void {
  useEffect(() => {
    let went = 0; // when g was pressed
    const press = (e: KeyboardEvent) => {
      if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
        e.preventDefault();
        actions.palette();
        return;
      }
      if (e.ctrlKey || e.metaKey || e.altKey || typing(e.target) || document.querySelector("dialog[open]")) return;
      if (Date.now() - went < 1500) {
        went = 0;
        const page = pages.find((p) => p.key === e.key);
        if (page) {
          e.preventDefault();
          navigate(page.path);
          return;
        }
      }
      const keys: Record<string, () => void> = {
        g: () => (went = Date.now()),
        j: () => step(1),
        k: () => step(-1),
        n: actions.create,
        "?": actions.help,
        "/": () => document.querySelector<HTMLInputElement>("main input[type=search]")?.focus(),
      };
      const run = keys[e.key];
      if (!run) return;
      e.preventDefault();
      run();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [actions]);
}

const list: [string, string][] = [
  ["Ctrl K", "Find a task or run a command"],
  ["j / k", "Next or previous row"],
  ["Enter", "Open it"],
  ["n", "New task"],
  ["/", "Search on this page"],
  ["Esc", "Close the dialog"],
  ["?", "This list"],
];

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {[...list, ...pages.map((p): [string, string] => ["g " + p.key, p.name])].map(([key, what]) => (
          <div key={key}>
            <dt><kbd>{key}</kbd></dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
