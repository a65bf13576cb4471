// What sessions say while they work, for the cards that show it. It comes on a
// stream of its own, which is open only while somebody looks at the board, and
// stands beside the tasks: a line that changes draws one card anew, nothing else.
import { useCallback, useEffect, useSyncExternalStore } from "react";
import type { Says, Task } from "./schema";
import { follow } from "./sse";

export class Lines {
  private lines = new Map<string, Says>(); // by task, the last of each
  private lookers = new Map<string, Set<() => void>>();

  // take keeps what a session says; one that ended without a word says nothing.
  take(s: Says): void {
    if (s.says === "") this.lines.delete(s.task);
    else this.lines.set(s.task, s);
    this.tell(s.task);
  }

  // clear forgets all: what is so now is about to be told, or nobody looks.
  clear(): void {
    const gone = [...this.lines.keys()];
    this.lines.clear();
    gone.forEach((task) => this.tell(task));
  }

  // of is what the task's newest session says, if that is known.
  of(t: Task): string | undefined {
    const line = this.lines.get(t.key);
    return line && line.session === t.session ? line.says : undefined;
  }

  look(task: string, f: () => void): () => void {
    const all = this.lookers.get(task) ?? new Set();
    this.lookers.set(task, all.add(f));
    return () => {
      all.delete(f);
      if (all.size === 0 && this.lookers.get(task) === all) this.lookers.delete(task);
    };
  }

  private tell(task: string): void {
    this.lookers.get(task)?.forEach((f) => f());
  }
}

const lines = new Lines();

// useLiveLines keeps the lines live while it is used and the page can be seen.
export function useLiveLines(): void {
  useEffect(() => {
    const stop = new AbortController();
    void follow({
      url: "/api/v1/says", place: "", signal: stop.signal, visible: true,
      onOpen: () => lines.clear(),
      onMessage: (m) => lines.take(JSON.parse(m.data) as Says),
    }).catch(() => undefined); // a server without them: cards say what their tasks say
    return () => {
      stop.abort();
      lines.clear();
    };
  }, []);
}

// useSays is what a task's session says: live where that is known.
export function useSays(t: Task): string | undefined {
  const look = useCallback((f: () => void) => lines.look(t.key, f), [t.key]);
  return useSyncExternalStore(look, () => lines.of(t)) ?? t.says;
}
