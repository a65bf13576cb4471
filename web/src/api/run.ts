// Running commands and their output: the checks of a task, or the app of its
// preview. One stream brings both.
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { bytes } from "../lib/conversation";
import { GrowingLog, type Line } from "../lib/lines";
import { address } from "./client";
import type { RunningChecks, RunOutput } from "./schema";
import { follow, type Message } from "./sse";

type Path = "/api/v1/tasks/{key}/checks/live" | "/api/v1/tasks/{key}/preview/log";

const none: readonly Line[] = [];

// same reports whether two states look the same. The size of the output changes
// with every piece.
function same(a: RunningChecks, b: RunningChecks): boolean {
  const text = (s: RunningChecks) => JSON.stringify(s, (name, value: unknown) => (name === "size" ? undefined : value));
  return text(a) === text(b);
}

// LiveRun follows the commands of a task. A view subscribes to it, and is drawn
// at most once per frame.
export class LiveRun {
  state: RunningChecks = { run: "", commands: [] };
  private logs: GrowingLog[] = [];
  private stop?: AbortController;
  private frame = 0;
  private listeners = new Set<() => void>();

  constructor(
    private path: Path,
    private key: string,
  ) {}

  // lines returns the output of a command so far, if it belongs to this run.
  lines(run: string, command: number): readonly Line[] {
    return (run === this.state.run && this.logs[command]?.lines) || none;
  }

  subscribe = (f: () => void): (() => void) => {
    this.listeners.add(f);
    return () => this.listeners.delete(f);
  };

  // open follows the commands, unless that happens already.
  open(): void {
    if (this.stop) return;
    const stop = (this.stop = new AbortController());
    const over = () => {
      if (this.stop === stop) this.stop = undefined;
    };
    follow({ url: address(this.path, { path: { key: this.key } }), place: "", signal: stop.signal, visible: true, onMessage: (m) => this.take(m) }).then(over, over);
  }

  close(): void {
    this.stop?.abort();
    this.stop = undefined;
  }

  take(m: Message): void {
    if (m.event === "output") {
      const o = JSON.parse(m.data) as RunOutput;
      (this.logs[o.command] ??= new GrowingLog()).add(o.offset, bytes(o.data));
    } else {
      const state = JSON.parse(m.data) as RunningChecks;
      if (same(state, this.state) || (state.commands ?? []).length === 0) return; // a stream without commands ends immediately
      if (state.run !== this.state.run) this.logs = []; // they started again
      this.state = state;
    }
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.frame = 0;
    this.logs.forEach((l) => l.publish());
    this.listeners.forEach((f) => f());
  }
}

// useLiveRun follows the commands of a task while they are on. The stream ends
// with the commands; it is opened again when a newer answer says that they run.
export function useLiveRun(path: Path, key: string, on: boolean, answer: unknown): LiveRun {
  const run = useMemo(() => new LiveRun(path, key), [path, key]);
  useEffect(() => {
    if (on) run.open();
    else run.close();
  }, [run, on, answer]);
  useEffect(() => () => run.close(), [run]);
  return run;
}

// useRunState returns the commands of a run: those of an answer until the stream
// of the same run has brought them.
export function useRunState(run: LiveRun, answer?: RunningChecks): RunningChecks {
  const state = useSyncExternalStore(run.subscribe, () => run.state);
  return answer && answer.run !== state.run ? answer : state;
}

// useLines returns the output of a command so far.
export function useLines(run: LiveRun, state: RunningChecks, command: number): readonly Line[] {
  return useSyncExternalStore(run.subscribe, () => run.lines(state.run, command));
}
