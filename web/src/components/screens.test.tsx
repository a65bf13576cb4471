// @vitest-environment happy-dom
// What sessions wrote: as a conversation, as raw output, and as a terminal.
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { agentEvent, session, wrote } from "../test/make";
import { serve, show } from "../test/render";
import { Conversation } from "./conversation";
import { Raw } from "./raw";
import Replay from "./replay";
import Terminal from "./terminal";

// screen of the terminal: what was written, and how a person types.
const term = vi.hoisted(() => ({ written: [] as string[], type: (_: string) => {} }));

vi.mock("./xterm", () => ({
  makeTerminal: () => ({
    term: {
      write: (data: Uint8Array) => term.written.push(new TextDecoder().decode(data)),
      onData: (f: (text: string) => void) => {
        term.type = f;
        return { dispose: () => {} };
      },
      onBinary: () => ({ dispose: () => {} }),
      resize: () => {}, reset: () => {}, focus: () => {},
    },
    fit: { fit: () => {}, proposeDimensions: () => ({ cols: 80, rows: 24 }) },
    close: () => {},
  }),
}));

// Socket is a connection that the test controls.
class Socket {
  static OPEN = 1;
  static last: Socket;
  readyState = 1;
  sent: string[] = [];
  onopen?: () => void;
  onmessage?: (m: { data: unknown }) => void;
  onclose?: () => void;
  constructor(readonly url: string) {
    Socket.last = this;
  }
  send(data: string | Uint8Array) {
    this.sent.push(typeof data === "string" ? data : new TextDecoder().decode(data));
  }
  close() {}
}

beforeEach(() => {
  term.written = [];
  Object.defineProperty(HTMLElement.prototype, "offsetHeight", { configurable: true, get: () => 19 });
});

const ended = session({ n: 1 });
const stream = { "GET /api/v1/sessions/app-1.1/output/stream": "event: end\ndata: {}\n\n" };
const page = (...output: unknown[]) => ({ output, more: false, next: 0, last: 0, first: 0, ended: true });

it("shows what an agent said and did, and finds words in it", async () => {
  serve({ ...stream, "GET /api/v1/sessions/app-1.1/output": page(agentEvent({ kind: "text", text: "I choose seven." }), agentEvent({ kind: "text", text: "It is lucky." })) });
  show(<Conversation session={ended} relative={(s) => s} />);
  expect(await screen.findByText("I choose seven.")).toBeTruthy();
  fireEvent.change(screen.getByLabelText("Search in this session"), { target: { value: "lucky" } });
  expect(await screen.findByText("1 match")).toBeTruthy();
  await waitFor(() => expect(screen.queryByText("I choose seven.")).toBeNull());
  fireEvent.change(screen.getByLabelText("Search in this session"), { target: { value: "nothing" } });
  expect(await screen.findByText("No match")).toBeTruthy();
});

it("shows raw output without colours", async () => {
  serve({ ...stream, "GET /api/v1/sessions/app-1.1/output": page(wrote("stdout", "\x1b[31mred\x1b[0m text")) });
  show(<Raw session={ended} />);
  await waitFor(() => expect(screen.getByLabelText("Raw output").textContent).toBe("red text"));
});

it("replays the terminal of an ended session", async () => {
  serve({ "GET /api/v1/sessions/app-1.1/output": page(wrote("stdout", "bye")) });
  show(<Replay session={ended} />);
  expect(await screen.findByText("The session has ended. This is its output.")).toBeTruthy();
  expect(term.written).toEqual(["bye"]);
});

it("types into a live session, until it ends", async () => {
  serve({});
  vi.stubGlobal("WebSocket", Socket);
  show(<Terminal session="app-1.1" />);
  act(() => Socket.last.onopen!());
  expect(screen.getByText(/^Attached\./)).toBeTruthy();
  expect(Socket.last.url).toContain("/api/v1/sessions/app-1.1/terminal?columns=80&rows=24");
  act(() => Socket.last.onmessage!({ data: new TextEncoder().encode("$ ").buffer }));
  expect(term.written).toEqual(["$ "]);
  term.type("ls");
  expect(Socket.last.sent).toContain("ls");
  act(() => Socket.last.onmessage!({ data: JSON.stringify({ runtime: "pty", read_only: true }) }));
  term.type("rm");
  expect(Socket.last.sent).not.toContain("rm");
  act(() => Socket.last.onmessage!({ data: JSON.stringify({ ended: { code: 2, text: "as it should" } }) }));
  expect(screen.getByText("The session has ended: as it should.")).toBeTruthy();
});

it("says why there is no terminal", async () => {
  serve({ "GET /api/v1/sessions/app-1.1/terminal": { code: "conflict", title: "", status: 409, detail: "it has no screen" } });
  vi.stubGlobal("WebSocket", Socket);
  show(<Terminal session="app-1.1" />);
  act(() => Socket.last.onclose!());
  expect(await screen.findByText("it has no screen")).toBeTruthy();
});
