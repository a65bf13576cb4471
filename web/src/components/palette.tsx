// The command palette: every page, every task, and the commands of this page.
import { useMemo, useState } from "react";
import { useTasks } from "../api/live";
import { order } from "../lib/board";
import { navigate } from "../router";
import { Dialog } from "../ui/dialog";
import { actionsOf, type TaskAction } from "./actions";
import { pages } from "./shell";

interface Command {
  id: string;
  name: string;
  hint: string;
  run: () => void;
}

// fits reports whether the text contains every word.
export function fits(text: string, words: string): boolean {
  const low = text.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((w) => low.includes(w));
}

const SHOWN = 12;

export function Palette({ onClose, extra }: { onClose: () => void; extra: Command[] }) {
  const tasks = useTasks();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const here = /^\/tasks\/([a-z0-9-]+)$/.exec(location.pathname)?.[1];

  const found = useMemo(() => {
    const out: Command[] = [];
    const task = tasks.find((t) => t.key === here);
    if (task) for (const a of actionsOf(task).filter((x: TaskAction) => !x.needsText || x.bare)) out.push({ id: a.id, name: `${a.name} ${task.key}`, hint: "this task", run: () => void a.run(task.key, "") });
    out.push(...extra, ...pages.map((p) => ({ id: p.path, name: p.name, hint: "page", run: () => navigate(p.path) })));
    const some = out.filter((c) => fits(c.name, text));
    for (const t of text ? [...tasks].sort(order) : []) {
      if (some.length >= SHOWN) break;
      if (fits(`${t.key} ${t.title}`, text)) some.push({ id: t.key, name: `${t.key} ${t.title}`, hint: t.status, run: () => navigate("/tasks/" + t.key) });
    }
    if (text) some.push({ id: "search", name: `Search for “${text}”`, hint: "search", run: () => navigate("/search?q=" + encodeURIComponent(text)) });
    return some.slice(0, SHOWN + 1);
  }, [tasks, text, here, extra]);

  const choose = (c: Command | undefined) => {
    if (!c) return;
    onClose();
    c.run();
  };
  return (
    <Dialog title="Search or run" onClose={onClose} className="palette">
      <input
        type="text" autoFocus placeholder="A task, a page, a command" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-label="Command"
        aria-activedescendant={found[at] ? "palette-" + at : undefined} value={text}
        onChange={(e) => {
          setText(e.target.value);
          setAt(0);
        }}
        onKeyDown={(e) => {
          if (e.key === "ArrowDown") setAt(Math.min(at + 1, found.length - 1));
          else if (e.key === "ArrowUp") setAt(Math.max(at - 1, 0));
          else if (e.key === "Enter") choose(found[at]);
          else return;
          e.preventDefault();
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Matches">
        {found.map((c, i) => (
          <li key={c.id} id={"palette-" + i} role="option" aria-selected={i === at} onClick={() => choose(c)} onMouseMove={() => setAt(i)}>
            <span>{c.name}</span>
            <small>{c.hint}</small>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
