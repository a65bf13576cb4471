// The last message or action of each running session, for the cards. The lines
// have a separate stream, which is open only while the board is visible. Each
// line has its own entry in the cache, so that a new line redraws only one card.
import { skipToken, useQuery, type QueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { cache } from "./cache";
import { address } from "./client";
import { saysKey, type SaysLine } from "./queries";
import type { Says, Task } from "./schema";
import { follow } from "./sse";

// takeLine stores the line of a session, or removes it if it is empty.
export function takeLine(client: QueryClient, s: Says): void {
  client.setQueryData<SaysLine>(saysKey(s.task), s.says === "" ? null : s);
}

// clearLines removes all lines, because the server is about to send the current
// ones or the board is not visible.
export function clearLines(client: QueryClient): void {
  client.setQueriesData<SaysLine>({ queryKey: ["says"] }, (line) => line && null);
}

// useLiveLines keeps the lines live while it is used and the page is visible.
export function useLiveLines(): void {
  useEffect(() => {
    const stop = new AbortController();
    void follow({
      url: address("/api/v1/says", {}), place: "", signal: stop.signal, visible: true,
      onOpen: () => clearLines(cache),
      onMessage: (m) => takeLine(cache, JSON.parse(m.data) as Says),
    }).catch(() => undefined); // without the stream, cards show the lines of their tasks
    return () => {
      stop.abort();
      clearLines(cache);
    };
  }, []);
}

// useSays returns the line of a task's newest session, live if possible.
export function useSays(t: Task): string | undefined {
  const { data } = useQuery<SaysLine>({ queryKey: saysKey(t.key), queryFn: skipToken, enabled: false });
  return data && data.session === t.session ? data.says : t.says;
}
