// Says to the server that a person looks at the page, so that it sends no notification
// about what the page shows.
import { useEffect } from "react";
import { api } from "../api/client";

const every = 20_000; // between two messages to the server, which forgets after 45 seconds
const idle = 120_000; // without a key or a pointer nobody looks, although the page is visible

const signs = ["pointermove", "pointerdown", "keydown", "wheel", "touchstart"] as const;

// watch calls look while the page is visible and used. It returns what ends that.
export function watch(look: () => void, now = () => Date.now()): () => void {
  let used = now();
  let said = 0;
  const say = () => {
    const t = now();
    if (document.visibilityState !== "visible" || !document.hasFocus() || t - used > idle || t - said < every - 1000) return;
    said = t;
    look();
  };
  const use = () => {
    used = now();
    say();
  };
  for (const s of signs) addEventListener(s, use, { passive: true });
  document.addEventListener("visibilitychange", say);
  const timer = setInterval(say, every);
  say();
  return () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", say);
    for (const s of signs) removeEventListener(s, use);
  };
}

export function usePresence(): void {
  useEffect(() => watch(() => void api.POST("/api/v1/presence", {}).catch(() => undefined)), []); // the next one tries again
}
