// A session as a conversation, with search, follow and a jump to what went
// wrong. Only the last part is drawn; the rest comes when asked for.
import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useConversation } from "../api/output";
import type { Session } from "../api/schema";
import { searchText, type Block } from "../lib/conversation";
import { plural } from "../lib/format";
import { setPrefs, usePrefs } from "../state/prefs";
import { Empty, Loading, ProblemBox } from "../ui/parts";
import { BlockView } from "./block";

const DRAWN = 400; // blocks

const View = memo(BlockView);

export function Conversation({ session }: { session: Session }) {
  const c = useConversation(session.key);
  const { follow } = usePrefs();
  const [search, setSearch] = useState("");
  const [drawn, setDrawn] = useState(DRAWN);
  const [mark, setMark] = useState(-1);
  const box = useRef<HTMLDivElement>(null);

  const found = useMemo(() => {
    const words = search.trim().toLowerCase();
    return words ? c.blocks.filter((b) => searchText(b).includes(words)) : c.blocks;
  }, [c.blocks, search]);
  const shown = found.slice(-drawn);
  const bad = useMemo(() => shown.filter((b) => b.bad), [shown]);

  useLayoutEffect(() => {
    const el = box.current;
    if (el && follow && !search) el.scrollTop = el.scrollHeight;
  }, [c.blocks, follow, search]);

  useEffect(() => {
    box.current?.querySelector(`[data-block="${mark}"]`)?.scrollIntoView({ block: "center" });
  }, [mark]);

  const nextError = () => {
    const at = bad.findIndex((b) => b.id === mark);
    const next = bad[(at + 1) % bad.length];
    setPrefs({ follow: false });
    if (next) setMark(next.id);
  };

  if (c.problem && c.blocks.length === 0) return <ProblemBox problem={c.problem} />;
  if (c.loading) return <Loading what="the conversation" />;
  return (
    <div className="conversation">
      <div className="toolbar">
        <input type="search" placeholder="Search in this session" aria-label="Search in this session" value={search} onChange={(e) => setSearch(e.target.value)} />
        {search && <span className="muted" role="status">{plural(found.length, "match", "matches")}</span>}
        <span className="grow" />
        {bad.length > 0 && <button className="button small" onClick={nextError}>Next error ({bad.length})</button>}
        <button className="button small" aria-pressed={follow} onClick={() => setPrefs({ follow: !follow })}>{follow ? "Following" : "Follow"}</button>
      </div>
      <div className="blocks" ref={box} tabIndex={0} role="log" aria-label="Conversation" onWheel={(e) => e.deltaY < 0 && follow && setPrefs({ follow: false })}>
        {found.length > shown.length ? (
          <button className="button small" onClick={() => setDrawn(drawn + DRAWN)}>Show {Math.min(DRAWN, found.length - shown.length)} earlier of {found.length}</button>
        ) : c.earlier && <button className="button small" onClick={c.more}>Read what came before</button>}
        {shown.length === 0 && (search ? <Empty title="No match" /> : <Empty title={c.ended ? "It said nothing" : "Nothing said yet"}><p>{c.ended ? "The raw view has all that its process wrote." : "What it says shows up here at once."}</p></Empty>)}
        {shown.map((b: Block) => <View key={b.id} b={b} marked={b.id === mark} />)}
      </div>
      {c.problem && <ProblemBox problem={c.problem} />}
    </div>
  );
}
