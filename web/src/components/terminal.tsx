// A real terminal on a live session, in a chunk of its own. Several may look at
// and type into the same session; a line that breaks is taken up again, and the
// server then draws the screen anew.
import { useEffect, useRef, useState } from "react";
import { get, problemOf, query } from "../api/client";
import type { Problem } from "../api/schema";
import { ProblemBox } from "../ui/parts";
import { makeTerminal } from "./xterm";

type State = { at: "connecting" | "open" | "lost" } | { at: "ended"; why: string } | { at: "refused"; problem: Problem };

// Control is a text message of the server's.
interface Control {
  runtime?: string;
  read_only?: boolean;
  size?: [number, number];
  notice?: string;
  redraw?: boolean;
  ended?: { code: number; signal?: string; stopped?: boolean; done?: boolean; failure?: string };
}

function endOf(e: NonNullable<Control["ended"]>): string {
  if (e.failure) return e.failure;
  if (e.stopped) return "it was stopped";
  if (e.done) return "it had nothing more to do";
  return e.signal ? `ended by ${e.signal}` : `exit code ${e.code}`;
}

const PAUSES = [300, 1000, 2000, 4000];

export default function Terminal({ session }: { session: string }) {
  const box = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<State>({ at: "connecting" });
  const [about, setAbout] = useState<Control>({});
  const [notice, setNotice] = useState("");

  useEffect(() => {
    const el = box.current;
    if (!el) return;
    const view = open(el, session, { state: setState, about: setAbout, notice: setNotice });
    return () => view.close();
  }, [session]);

  return (
    <div className="terminal">
      <p className="muted" role="status">
        {state.at === "connecting" && "Connecting to the session"}
        {state.at === "open" && (about.read_only ? "This session has no screen; what its process writes is shown as it comes. To type, take it over, or send a message." : "Attached. What you type goes to the agent; leaving this page leaves it running.")}
        {state.at === "lost" && "The line to the session is gone; trying again."}
        {state.at === "ended" && `The session has ended: ${state.why}.`}
        {notice && ` ${notice}`}
      </p>
      {state.at === "refused" && <ProblemBox problem={state.problem} />}
      <div ref={box} className="terminal-box" aria-label="Terminal" role="group" />
    </div>
  );
}

interface Tell {
  state: (s: State) => void;
  about: (c: Control) => void;
  notice: (text: string) => void;
}

// open draws a terminal and keeps it connected until it is closed.
function open(el: HTMLElement, session: string, tell: Tell): { close: () => void } {
  const { term, fit, close: dispose } = makeTerminal(el, { scrollback: 10_000 });
  fit.fit();
  let socket: WebSocket | undefined;
  let lost = 0;
  let over = false;
  let readOnly = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const path = `/sessions/${session}/terminal`;
  const put = (data: string | Uint8Array<ArrayBuffer>) => socket?.readyState === WebSocket.OPEN && socket.send(data);
  // The server decides the size, because several may look: it is told what
  // there is room for here.
  const room = () => {
    const size = fit.proposeDimensions();
    if (size) put(JSON.stringify({ resize: [size.cols, size.rows] }));
  };
  const control = (c: Control) => {
    if (c.runtime) {
      readOnly = c.read_only === true;
      tell.about(c);
    }
    if (c.size) term.resize(c.size[0], c.size[1]);
    if (c.redraw) term.reset();
    if (c.notice) tell.notice(c.notice);
    if (!c.ended) return;
    over = true;
    tell.state({ at: "ended", why: endOf(c.ended) });
  };
  // refused finds out why there is no terminal; a browser does not tell.
  const refused = async () => {
    const problem = await get("/sessions/" + session + "/terminal").then(() => undefined, problemOf);
    if (over || !problem || !["conflict", "not_found", "forbidden", "unauthorized"].includes(problem.code)) return false;
    over = true;
    tell.state({ at: "refused", problem });
    return true;
  };
  const connect = () => {
    let opened = false;
    const size = fit.proposeDimensions();
    socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/v1${path}` + query({ columns: size?.cols, rows: size?.rows }));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      opened = true;
      if (lost > 0) term.reset();
      tell.state({ at: "open" });
    };
    socket.onmessage = (m: MessageEvent<ArrayBuffer | string>) => {
      lost = 0;
      if (typeof m.data === "string") control(JSON.parse(m.data) as Control);
      else term.write(new Uint8Array(m.data));
    };
    socket.onclose = () => {
      if (over) return;
      const again = () => {
        if (over) return;
        tell.state({ at: "lost" });
        timer = setTimeout(connect, PAUSES[Math.min(lost++, PAUSES.length - 1)]);
      };
      if (opened) again();
      else void refused().then((no) => !no && again());
    };
  };
  connect();

  const encoder = new TextEncoder();
  const typed = term.onData((text) => !readOnly && put(encoder.encode(text)));
  const raw = term.onBinary((text) => !readOnly && put(Uint8Array.from(text, (c) => c.charCodeAt(0))));
  const watch = new ResizeObserver(room);
  watch.observe(el);
  term.focus();
  return {
    close: () => {
      over = true;
      clearTimeout(timer);
      watch.disconnect();
      typed.dispose();
      raw.dispose();
      socket?.close(1000);
      dispose();
    },
  };
}
