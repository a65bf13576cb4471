// What a session's process wrote, or the app that was served for it, as it
// came, without colours.
import { useEffect, useRef, useState } from "react";
import { problemOf, query } from "../api/client";
import { readRaw } from "../api/output";
import { follow } from "../api/sse";
import type { Output, Problem, Session } from "../api/schema";
import { bytes, plain } from "../lib/conversation";
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
  const [text, setText] = useState<string>();
  const [cut, setCut] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const box = useRef<HTMLPreElement>(null);

  useEffect(() => {
    const stop = new AbortController();
    const decoder = new TextDecoder();
    const decode = (b: Uint8Array) => decoder.decode(b, { stream: true });
    const run = async () => {
      const got = await readRaw(session.key, kinds, stop.signal);
      setText(plain(got.data.map(decode).join("")).slice(-MOST));
      setCut(got.cut);
      await follow({
        url: `/api/v1/sessions/${session.key}/output/stream` + query({ kinds }),
        place: String(got.last),
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
  }, [session.key, kinds]);

  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);

  if (problem) return <ProblemBox problem={problem} />;
  if (text === undefined) return <Loading what="the output" />;
  return (
    <div className="raw-view">
      {cut && <p className="muted">Only the end is shown; <code>coppice logs {session.key} {kinds === WRITTEN ? "--raw" : "--app"}</code> has the whole.</p>}
      <pre ref={box} className="raw" tabIndex={0} aria-label={name}>{text || nothing}</pre>
    </div>
  );
}
