// The last message or action of each running session, for the cards. The lines
// have a separate stream, which is open only while the board is visible. They
// are stored apart from the tasks, so that a new line redraws only one card.
import { useCallback, useEffect, useSyncExternalStore } from "react";
import type { Says, Task } from "./schema";
import { follow } from "./sse";

export class Lines {
  private lines = new Map<string, Says>(); // by task, the last of each
  private viewers = new Map<string, Set<() => void>>();

  // take stores the line of a session, or removes it if it is empty.
  take(s: Says): void {
    if (s.says === "") this.lines.delete(s.task);
    else this.lines.set(s.task, s);
    this.notify(s.task);
  }

  // clear removes all lines, because the server is about to send the current
  // ones or the board is not visible.
  clear(): void {
    const gone = [...this.lines.keys()];
    this.lines.clear();
    gone.forEach((task) => this.notify(task));
  }

  // of returns the line of the task's newest session, if it is known.
  of(t: Task): string | undefined {
    const line = this.lines.get(t.key);
    return line && line.session === t.session ? line.says : undefined;
  }

  look(task: string, f: () => void): () => void {
    const all = this.viewers.get(task) ?? new Set();
    this.viewers.set(task, all.add(f));
    return () => {
      all.delete(f);
      if (all.size === 0 && this.viewers.get(task) === all) this.viewers.delete(task);
    };
  }

  private notify(task: string): void {
    this.viewers.get(task)?.forEach((f) => f());
  }
}

const lines = new Lines();

// useLiveLines keeps the lines live while it is used and the page is visible.
export function useLiveLines(): void {
  useEffect(() => {
    const stop = new AbortController();
    void follow({
      url: "/api/v1/says", place: "", signal: stop.signal, visible: true,
      onOpen: () => lines.clear(),
      onMessage: (m) => lines.take(JSON.parse(m.data) as Says),
    }).catch(() => undefined); // without the stream, cards show the lines of their tasks
    return () => {
      stop.abort();
      lines.clear();
    };
  }, []);
}

// useSays returns the line of a task's session, live if possible.
export function useSays(t: Task): string | undefined {
  const look = useCallback((f: () => void) => lines.look(t.key, f), [t.key]);
  return useSyncExternalStore(look, () => lines.of(t)) ?? t.says;
}
