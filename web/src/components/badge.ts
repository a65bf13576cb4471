// The number of entries in the inbox, in the title and on the icon of the tab,
// and as a notification if they are enabled.
import { useEffect, useRef } from "react";
import { useAnswer, useStatus, useWakes } from "../api/cache";
import { queries } from "../api/queries";
import { navigate, toTask } from "../router";
import { usePrefs } from "../state/prefs";

let iconAt = -1;

async function drawIcon(n: number): Promise<void> {
  if (n === iconAt) return;
  iconAt = n;
  const link = document.getElementById("icon") as HTMLLinkElement | null;
  if (!link) return;
  if (n === 0) {
    link.type = "image/svg+xml";
    link.href = "/favicon.svg";
    return;
  }
  const image = new Image();
  image.src = "/favicon.svg";
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 64;
  const c = canvas.getContext("2d");
  if (!c || n !== iconAt) return;
  c.drawImage(image, 0, 0, 64, 64);
  c.fillStyle = "#d97706";
  c.beginPath();
  c.arc(44, 20, 20, 0, 2 * Math.PI);
  c.fill();
  c.fillStyle = "#fff";
  c.font = "bold 28px sans-serif";
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.fillText(n > 9 ? "9+" : String(n), 44, 21);
  link.type = "image/png";
  link.href = canvas.toDataURL("image/png");
}

// useBadge returns the number of entries in the inbox.
export function useBadge(page: string): number {
  const n = useStatus((s) => s.inbox) ?? 0;
  useWakes();
  useNotes();
  useEffect(() => {
    document.title = (n > 0 ? `(${n}) ` : "") + page + " · Coppice";
    drawIcon(n).catch(() => (iconAt = -1)); // keep the plain icon
  }, [n, page]);
  return n;
}

// useNotes shows a notification for each new entry, if they are enabled. Without
// them the inbox is not read.
function useNotes(): void {
  const { notify } = usePrefs();
  const entries = useAnswer({ ...queries.inbox("", false), enabled: notify }).data?.entries;
  const known = useRef<Set<string>>(undefined);
  useEffect(() => {
    if (!entries) return;
    const before = known.current;
    known.current = new Set(entries.map((e) => e.id));
    if (!before || !notify || document.visibilityState === "visible" || Notification.permission !== "granted") return;
    for (const e of entries) {
      if (before.has(e.id)) continue;
      const note = new Notification(`${e.task ?? e.title} needs you`, { body: e.text, tag: e.id });
      note.onclick = () => {
        focus();
        navigate(e.task ? toTask(e.task) : "/inbox");
      };
    }
  }, [entries, notify]);
}
