// Formats words and numbers for people.
import { useEffect, useState } from "react";

export function span(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s`;
  const m = Math.floor(s / 60);
  if (m < 60) return m < 10 && s % 60 ? `${m} m ${s % 60} s` : `${m} m`;
  const h = Math.floor(m / 60);
  if (h < 48) return h < 10 && m % 60 ? `${h} h ${m % 60} m` : `${h} h`;
  return `${Math.floor(h / 24)} d`;
}

// fine is span with more precision for short times.
export function fine(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : span(ms);
}

export function time(at?: string): number {
  return at ? Date.parse(at) : NaN;
}

export function ago(at: string | undefined, now: number): string {
  const t = time(at);
  return Number.isNaN(t) ? "" : span(now - t);
}

const two = (n: number) => String(n).padStart(2, "0");
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const day = (d: Date) => `${months[d.getMonth()]} ${d.getDate()}`;
const minute = (d: Date) => `${two(d.getHours())}:${two(d.getMinutes())}`;

// clock formats a time: 24 hours, always with the day.
export function clock(at?: string): string {
  const t = time(at);
  if (Number.isNaN(t)) return "";
  const d = new Date(t);
  const year = d.getFullYear() === new Date().getFullYear() ? "" : `${d.getFullYear()} `;
  return `${year}${day(d)} ${minute(d)}:${two(d.getSeconds())}`;
}

// axisTime formats a time on an axis of a length: days if it is long, seconds if
// it is short.
export function axisTime(t: number, length: number): string {
  const d = new Date(t);
  if (length > 36 * 3600_000) return day(d);
  return length < 600_000 ? `${minute(d)}:${two(d.getSeconds())}` : minute(d);
}

export function usd(n?: number): string {
  if (!n) return "$0";
  if (n < 0.01) return "<$0.01";
  return "$" + (n < 100 ? n.toFixed(2) : Math.round(n).toLocaleString("en-US"));
}

// cost formats what was spent, with a ~ if it is an estimate.
export function cost(u: { cost_usd?: number; estimated?: boolean }): string {
  return (u.estimated && u.cost_usd ? "~" : "") + usd(u.cost_usd);
}

export function count(n?: number): string {
  if (!n) return "0";
  if (n < 1000) return String(n);
  if (n < 1_000_000) return (n / 1000).toFixed(n < 10_000 ? 1 : 0) + " k";
  return (n / 1_000_000).toFixed(n < 10_000_000 ? 1 : 0) + " M";
}

// size formats an amount of data.
export function size(bytes?: number): string {
  let n = bytes ?? 0;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let u = 0;
  for (; n >= 1024 && u < units.length - 1; u++) n /= 1024;
  return `${u > 0 && n < 100 && !Number.isInteger(n) ? n.toFixed(1) : Math.round(n)} ${units[u]}`;
}

export function plural(n: number, one: string, many = one + "s"): string {
  return `${n} ${n === 1 ? one : many}`;
}

// useNow ticks, so that relative times stay current.
export function useNow(every = 1000): number {
  const [now, set] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => set(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}
