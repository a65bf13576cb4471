// A session's output: first its end, older parts on request, and new output
// live.
import { useCallback, useEffect, useRef, useState } from "react";
import { Builder, bytes, type Block } from "../lib/conversation";
import { address, get, problemOf } from "./client";
import { follow } from "./sse";
import type { Output, OutputPage, Problem } from "./schema";

const FIRST = 300; // pieces in the first read
const MORE = 1000; // pieces per read when the user scrolls up
const RAW = 512 << 10; // bytes of raw output to read
const KINDS = ["event", "stderr", "host", "image"];

export interface Conversation {
  blocks: Block[];
  loading: boolean;
  ended: boolean;
  earlier: boolean; // there is older output
  problem?: Problem;
  more: () => void; // reads a part of the older output
  whole: () => void; // reads all older output
}

// back reads a page from the end, or from before a position.
async function back(key: string, before: number | undefined, limit: number, kinds: string[], signal: AbortSignal): Promise<OutputPage> {
  return get("/api/v1/sessions/{key}/output", { path: { key }, query: { before: before?.toString(), tail: before === undefined ? true : undefined, limit, kinds } }, { signal });
}

// Shown is the part of a session's output that was read.
class Shown {
  builder = new Builder();
  before?: number; // output before this offset was not read
  last = -1; // the newest offset
  private busy = false;

  constructor(
    private key: string,
    private signal: AbortSignal,
  ) {}

  // open reads the end, or back to a position.
  async open(place: number): Promise<boolean> {
    const page = await back(this.key, undefined, FIRST, KINDS, this.signal);
    this.builder.add(page.output ?? []);
    this.before = page.prev;
    this.last = page.next;
    while (this.before !== undefined && this.before > place) await this.earlier();
    return page.ended;
  }

  // earlier reads the part before the current one, and returns whether it did.
  async earlier(): Promise<boolean> {
    if (this.busy || this.before === undefined) return false;
    this.busy = true;
    try {
      const page = await back(this.key, this.before, MORE, KINDS, this.signal);
      this.builder.prepend(page.output ?? []);
      this.before = page.prev;
      return true;
    } finally {
      this.busy = false;
    }
  }
}

// useConversation reads a session, at least back to a position.
export function useConversation(key: string, place = Infinity): Conversation {
  const [blocks, setBlocks] = useState<Block[]>([]);
  const [status, setStatus] = useState({ loading: true, ended: false, earlier: false });
  const [problem, setProblem] = useState<Problem>();
  const read = useRef<(all: boolean) => void>(() => {});

  useEffect(() => {
    const stop = new AbortController();
    const now = new Shown(key, stop.signal);
    setBlocks([]);
    setProblem(undefined);
    setStatus({ loading: true, ended: false, earlier: false });
    let pending: Output[] = [];
    let frame = 0;
    const draw = () => {
      frame = 0;
      if (now.builder.add(pending)) setBlocks(now.builder.blocks);
      pending = [];
    };
    const fail = (err: unknown) => {
      if (stop.signal.aborted) return;
      setProblem(problemOf(err));
      setStatus((s) => ({ ...s, loading: false }));
    };
    const run = async () => {
      const ended = await now.open(place);
      setBlocks(now.builder.blocks);
      setStatus({ loading: false, ended, earlier: now.before !== undefined });
      await follow({
        url: address("/api/v1/sessions/{key}/output/stream", { path: { key }, query: { kinds: KINDS } }),
        place: String(now.last),
        signal: stop.signal,
        visible: true,
        onMessage: (m) => {
          if (m.event === "end") setStatus((s) => ({ ...s, ended: true }));
          else pending.push(JSON.parse(m.data) as Output);
          if (pending.length > 0 && !frame) frame = requestAnimationFrame(draw);
        },
      });
    };
    read.current = (all) => {
      const step = async (): Promise<void> => {
        if (!(await now.earlier())) return;
        if (all && now.before !== undefined) return step();
        setBlocks(now.builder.blocks);
        setStatus((s) => ({ ...s, earlier: now.before !== undefined }));
      };
      step().catch(fail);
    };
    run().catch(fail);
    return () => {
      stop.abort();
      cancelAnimationFrame(frame);
    };
  }, [key, place]);

  const more = useCallback(() => read.current(false), []);
  const whole = useCallback(() => read.current(true), []);
  return { blocks, ...status, problem, more, whole };
}

const LEAD = 200; // pieces to read before a position

// Around is the output around a position: before it, the piece at it, and after
// it.
export interface Around {
  before: Uint8Array[];
  data: Uint8Array[]; // the first is the piece at the position
  cut: boolean; // there is more output before or after
  last?: number; // the newest offset, if nothing follows
}

// readAround reads raw output around a position.
export async function readAround(key: string, kinds: string[], place: number, signal: AbortSignal): Promise<Around> {
  const lead = await back(key, place, LEAD, kinds, signal);
  const data: Uint8Array[] = [];
  let size = 0;
  for (let after = place - 1; ; ) {
    const page = await get("/api/v1/sessions/{key}/output", { path: { key }, query: { after: String(after), limit: MORE, kinds } }, { signal });
    for (const p of page.output ?? []) size += data[data.push(bytes(p.data ?? "")) - 1]!.length;
    after = page.next;
    if (page.more && size < RAW) continue;
    return { before: (lead.output ?? []).map((p) => bytes(p.data ?? "")), data, cut: page.more || lead.prev !== undefined, last: page.more ? undefined : after };
  }
}

// readRaw reads the end of the output of a session's process, unchanged.
export async function readRaw(key: string, kinds: string[], signal: AbortSignal): Promise<{ data: Uint8Array[]; cut: boolean; last: number }> {
  let page = await back(key, undefined, MORE, kinds, signal);
  const last = page.next;
  let data = (page.output ?? []).map((p) => bytes(p.data ?? ""));
  const size = () => data.reduce((n, piece) => n + piece.length, 0);
  while (page.prev !== undefined && size() < RAW) {
    page = await back(key, page.prev, MORE, kinds, signal);
    data = [...(page.output ?? []).map((p) => bytes(p.data ?? "")), ...data];
  }
  return { data, cut: page.prev !== undefined, last };
}
