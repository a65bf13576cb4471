// The terminal of an ended session, byte by byte, in a separate chunk.
import { useEffect, useRef, useState } from "react";
import { problemOf } from "../api/client";
import { readRaw } from "../api/output";
import type { Problem, Session } from "../api/schema";
import { firstScreen } from "../api/tables";
import { ProblemBox } from "../ui/parts";
import { makeTerminal } from "./xterm";

const WRITTEN = ["stdout", "stderr"];

export default function Replay({ session }: { session: Session }) {
  const box = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<{ cut: boolean; size: number }>();
  const [problem, setProblem] = useState<Problem>();

  useEffect(() => {
    const el = box.current;
    if (!el) return;
    const stop = new AbortController();
    // A screen keeps its size. Lines without a screen are wrapped to the width
    // of the page.
    const { term, fit, close } = makeTerminal(el, { scrollback: 50_000, disableStdin: true, convertEol: !session.screen, cursorInactiveStyle: "none", ...firstScreen });
    const watch = new ResizeObserver(() => !session.screen && fit.fit());
    watch.observe(el);
    readRaw(session.key, WRITTEN, stop.signal).then(
      ({ data, cut }) => {
        data.forEach((piece) => term.write(piece));
        setState({ cut, size: data.reduce((n, piece) => n + piece.length, 0) });
      },
      (err: unknown) => !stop.signal.aborted && setProblem(problemOf(err)),
    );
    return () => {
      stop.abort();
      watch.disconnect();
      close();
    };
  }, [session.key, session.screen]);

  return (
    <div className="terminal">
      <p className="muted" role="status">
        {!state && !problem && "Reading its output"}
        {state && (state.size === 0 ? "The session has ended without output." : `The session has ended. This is ${state.cut ? "the end of " : ""}its output.`)}
      </p>
      {problem && <ProblemBox problem={problem} />}
      <div ref={box} className="terminal-box" aria-label="Terminal" role="group" />
    </div>
  );
}
