// A real terminal on a live session, in a separate chunk. Several viewers can
// type into the same session. After a broken connection it reconnects, and the
// server redraws the screen.
import { useEffect, useRef, useState } from "react";
import { address, get, problemOf } from "../api/client";
import type { Problem } from "../api/schema";
import { ProblemBox } from "../ui/parts";
import { makeTerminal } from "./xterm";

type State = { at: "connecting" | "open" | "lost" } | { at: "ended"; why: string } | { at: "refused"; problem: Problem };

// Control is a text message from the server.
interface Control {
  runtime?: string;
  read_only?: boolean;
  size?: [number, number];
  notice?: string;
  redraw?: boolean;
  ended?: { text: string };
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
        {state.at === "open" && (about.read_only ? "This session has no screen. You see the output of its process. To type, take it over, or send a message." : "Attached. The agent gets what you type. It continues when you leave this page.")}
        {state.at === "lost" && "The connection to the session is lost; reconnecting."}
        {state.at === "ended" && `The session has ended: ${state.why}.`}
        {notice && ` ${notice}`}
      </p>
      {state.at === "refused" && <ProblemBox problem={state.problem} />}
      <div ref={box} className="terminal-box" aria-label="Terminal" role="group" />
    </div>
  );
}

interface Report {
  state: (s: State) => void;
  about: (c: Control) => void;
  notice: (text: string) => void;
}

// open draws a terminal and keeps it connected until it is closed.
function open(el: HTMLElement, session: string, report: Report): { close: () => void } {
  const { term, fit, close: dispose } = makeTerminal(el, { scrollback: 10_000 });
  fit.fit();
  let socket: WebSocket | undefined;
  let lost = 0;
  let over = false;
  let readOnly = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const put = (data: string | Uint8Array<ArrayBuffer>) => socket?.readyState === WebSocket.OPEN && socket.send(data);
  // The server decides the size, because there can be several viewers. It gets
  // the size that fits here.
  const resize = () => {
    const size = fit.proposeDimensions();
    if (size) put(JSON.stringify({ resize: [size.cols, size.rows] }));
  };
  const control = (c: Control) => {
    if (c.runtime) {
      readOnly = c.read_only === true;
      report.about(c);
    }
    if (c.size) term.resize(c.size[0], c.size[1]);
    if (c.redraw) term.reset();
    if (c.notice) report.notice(c.notice);
    if (!c.ended) return;
    over = true;
    report.state({ at: "ended", why: c.ended.text });
  };
  // refused finds out why there is no terminal, because a browser does not
  // report it.
  const refused = async () => {
    const problem = await get("/api/v1/sessions/{key}/terminal", { path: { key: session } }).then(() => undefined, problemOf);
    if (over || !problem || !["conflict", "not_found", "forbidden", "unauthorized"].includes(problem.code)) return false;
    over = true;
    report.state({ at: "refused", problem });
    return true;
  };
  const connect = () => {
    let opened = false;
    const size = fit.proposeDimensions();
    socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}` + address("/api/v1/sessions/{key}/terminal", { path: { key: session }, query: { columns: size?.cols, rows: size?.rows } }));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      opened = true;
      if (lost > 0) term.reset();
      report.state({ at: "open" });
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
        report.state({ at: "lost" });
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
  const watch = new ResizeObserver(resize);
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
