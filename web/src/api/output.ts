// A session's output: its end first, older parts when asked for, and what is
// written from then on, live.
import { useEffect, useRef, useState } from "react";
import { Builder, bytes, type Block } from "../lib/conversation";
import { get, problemOf, query } from "./client";
import { follow } from "./sse";
import type { Output, OutputPage, Problem, Session } from "./schema";

const TAIL = 256 << 10; // bytes of the spool that are read at first
const KINDS = ["event", "stderr", "host"];

export interface Conversation {
  blocks: Block[];
  loading: boolean;
  ended: boolean;
  earlier: boolean; // there is more before
  problem?: Problem;
  more: () => void;
}

// pages reads everything after a place, up to another one.
async function pages(key: string, after: number, upto: number, kinds: string[], signal: AbortSignal): Promise<Output[]> {
  const out: Output[] = [];
  for (let at = after; ; ) {
    const page = await get<OutputPage>(`/sessions/${key}/output` + query({ after: at, limit: 1000, kinds }), signal);
    for (const o of page.output ?? []) if (o.offset <= upto) out.push(o);
    if (!page.more || page.next >= upto) return out;
    at = page.next;
  }
}

interface Shown {
  from: number; // everything after this offset is there
  pieces: Output[];
  builder: Builder;
}

export function useConversation(key: string): Conversation {
  const [blocks, setBlocks] = useState<Block[]>([]);
  const [status, setStatus] = useState({ loading: true, ended: false, earlier: false });
  const [problem, setProblem] = useState<Problem>();
  const shown = useRef<Shown>({ from: -1, pieces: [], builder: new Builder() });
  const more = useRef(() => {});

  useEffect(() => {
    const stop = new AbortController();
    const now: Shown = { from: -1, pieces: [], builder: new Builder() };
    shown.current = now;
    setBlocks([]);
    setProblem(undefined);
    setStatus({ loading: true, ended: false, earlier: false });
    let pending: Output[] = [];
    let frame = 0;
    const draw = () => {
      frame = 0;
      now.pieces.push(...pending);
      if (now.builder.add(pending)) setBlocks(now.builder.blocks);
      pending = [];
    };
    const run = async () => {
      const session = await get<Session>("/sessions/" + key, stop.signal);
      now.from = session.cursor > TAIL ? session.cursor - TAIL : -1;
      now.pieces = await pages(key, now.from, Infinity, KINDS, stop.signal);
      now.builder.add(now.pieces);
      setBlocks(now.builder.blocks);
      setStatus({ loading: false, ended: !!session.ended_at, earlier: now.from >= 0 });
      await follow({
        url: `/api/v1/sessions/${key}/output/stream` + query({ kinds: KINDS }),
        place: String(now.pieces.at(-1)?.offset ?? now.from),
        signal: stop.signal,
        visible: true,
        onMessage: (m) => {
          if (m.event === "end") setStatus((s) => ({ ...s, ended: true }));
          else pending.push(JSON.parse(m.data) as Output);
          if (pending.length > 0 && !frame) frame = requestAnimationFrame(draw);
        },
      });
    };
    more.current = () => void earlier(key, now, stop.signal).then((left) => {
      setBlocks(now.builder.blocks);
      setStatus((s) => ({ ...s, earlier: left }));
    }, (err: unknown) => !stop.signal.aborted && setProblem(problemOf(err)));
    run().catch((err: unknown) => {
      if (stop.signal.aborted) return;
      setProblem(problemOf(err));
      setStatus((s) => ({ ...s, loading: false }));
    });
    return () => {
      stop.abort();
      cancelAnimationFrame(frame);
    };
  }, [key]);

  return { blocks, ...status, problem, more: () => more.current() };
}

// earlier reads the part before what is shown, and builds the whole anew: a
// call may stand in one part and its result in the next.
async function earlier(key: string, now: Shown, signal: AbortSignal): Promise<boolean> {
  const upto = now.from;
  const from = upto > TAIL * 4 ? upto - TAIL * 4 : -1;
  const before = await pages(key, from, upto, KINDS, signal);
  now.pieces = [...before, ...now.pieces];
  now.from = from;
  now.builder = new Builder();
  now.builder.add(now.pieces);
  return from >= 0;
}

// readRaw reads the end of what a session's process wrote, as it came.
export async function readRaw(key: string, signal: AbortSignal): Promise<{ data: Uint8Array[]; cut: boolean; last: number }> {
  const session = await get<Session>("/sessions/" + key, signal);
  const from = session.cursor > 2 * TAIL ? session.cursor - 2 * TAIL : -1;
  const pieces = await pages(key, from, Infinity, ["stdout", "stderr"], signal);
  return { data: pieces.map((p) => bytes(p.data ?? "")), cut: from >= 0, last: pieces.at(-1)?.offset ?? from };
}
