// The output of a session's process, or of the app that was served for it,
// without colours.
import { useEffect, useRef, useState } from "react";
import { address, problemOf } from "../api/client";
import { readAround, readRaw } from "../api/output";
import { follow } from "../api/sse";
import type { Output, Problem, Session } from "../api/schema";
import { bytes, plain } from "../lib/conversation";
import { useParam } from "../router";
import { Loading, ProblemBox } from "../ui/parts";

const MOST = 600_000; // characters kept on the page

interface Props {
  session: Session;
  kinds?: string[];
  name?: string;
  nothing?: string;
}

const WRITTEN = ["stdout", "stderr"];

export function Raw({ session, kinds = WRITTEN, name = "Raw output", nothing = "It wrote nothing yet." }: Props) {
  const [place, setPlace] = useParam("/tasks/{key}", "at"); // the position of a search result
  const [lead, setLead] = useState<{ before: string; piece: string }>();
  const [text, setText] = useState<string>();
  const [cut, setCut] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const box = useRef<HTMLPreElement>(null);
  const mark = useRef<HTMLElement>(null);

  useEffect(() => {
    const stop = new AbortController();
    const decoder = new TextDecoder();
    const decode = (b: Uint8Array) => decoder.decode(b, { stream: true });
    const open = async (): Promise<number | undefined> => {
      if (place !== "") {
        const got = await readAround(session.key, kinds, Number(place), stop.signal);
        const before = plain(got.before.map(decode).join(""));
        const [piece = "", ...rest] = got.data.map((b) => plain(decode(b)));
        setLead({ before, piece });
        setText(rest.join(""));
        setCut(got.cut);
        return got.last;
      }
      const got = await readRaw(session.key, kinds, stop.signal);
      setLead(undefined);
      setText(plain(got.data.map(decode).join("")).slice(-MOST));
      setCut(got.cut);
      return got.last;
    };
    const run = async () => {
      const last = await open();
      if (last === undefined) return; // far from the end, which is read on request
      await follow({
        url: address("/api/v1/sessions/{key}/output/stream", { path: { key: session.key }, query: { kinds } }),
        place: String(last),
        signal: stop.signal,
        visible: true,
        onMessage: (m) => {
          if (m.event === "end") return;
          const more = plain(decode(bytes((JSON.parse(m.data) as Output).data ?? "")));
          setText((t) => ((t ?? "") + more).slice(-MOST));
        },
      });
    };
    run().catch((err: unknown) => !stop.signal.aborted && setProblem(problemOf(err)));
    return () => stop.abort();
  }, [session.key, kinds, place]);

  useEffect(() => {
    mark.current?.scrollIntoView({ block: "center" });
  }, [lead]);
  useEffect(() => {
    if (box.current && !lead) box.current.scrollTop = box.current.scrollHeight;
  }, [text, lead]);

  if (problem) return <ProblemBox problem={problem} />;
  if (text === undefined) return <Loading what="the output" />;
  return (
    <div className="raw-view">
      {lead && <p className="muted">{cut && "This is only the part around a match. "}<button className="button small" onClick={() => setPlace("")}>Go to the end</button></p>}
      {cut && !lead && <p className="muted">This is only the end. <code>coppice logs {session.key} {kinds === WRITTEN ? "--raw" : "--app"}</code> prints everything.</p>}
      <pre ref={box} className="raw" tabIndex={0} aria-label={name}>{lead && <>{lead.before}<mark ref={mark}>{lead.piece}</mark></>}{text || (lead ? "" : nothing)}</pre>
    </div>
  );
}
