// The number of tasks that need you, in the title and on the icon of the tab,
// and as a notification if they are enabled.
import { useEffect, useRef } from "react";
import { useAnswer } from "../api/cache";
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

export function useBadge(page: string): number {
  const { notify } = usePrefs();
  const { data } = useAnswer(queries.board({ status: "needs you" }));
  const column = data?.columns?.find((c) => c.needs);
  const needs = column?.tasks;
  const n = (column?.count ?? 0) + (data?.needs?.length ?? 0);
  const known = useRef<Set<string>>(undefined);

  useEffect(() => {
    document.title = (n > 0 ? `(${n}) ` : "") + page + " · Coppice";
    drawIcon(n).catch(() => (iconAt = -1)); // keep the plain icon
  }, [n, page]);

  useEffect(() => {
    if (!needs) return;
    const before = known.current;
    known.current = new Set(needs.map((t) => t.key));
    if (!before || !notify || document.visibilityState === "visible" || Notification.permission !== "granted") return;
    for (const t of needs) {
      if (before.has(t.key)) continue;
      const note = new Notification(`${t.key} needs you`, { body: t.reason ?? t.title, tag: t.key });
      note.onclick = () => {
        focus();
        navigate(toTask(t.key));
      };
    }
  }, [needs, notify]);
  return n;
}
