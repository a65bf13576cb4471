// A session as a conversation, with search, follow and a jump to errors. Only
// the visible part is drawn. Older output is read when the user scrolls up.
import { memo, useCallback, useDeferredValue, useMemo, useState } from "react";
import { useConversation } from "../api/output";
import type { Session } from "../api/schema";
import { searchText, type Block } from "../lib/conversation";
import { plural } from "../lib/format";
import type { Relative } from "../lib/relative";
import { useParam } from "../router";
import { setPrefs, usePrefs } from "../state/prefs";
import { VirtualLog } from "../ui/log";
import { Empty, Loading, ProblemBox } from "../ui/parts";
import { BlockView } from "./block";

const View = memo(BlockView);
const idOf = (b: Block) => b.id;
const leave = () => setPrefs({ follow: false });

export function Conversation({ session, relative }: { session: Session; relative: Relative }) {
  const [place, setPlace] = useParam("/tasks/{key}", "at"); // the position of a search result
  const [first] = useState(place === "" ? undefined : Number(place));
  const c = useConversation(session.key, first);
  const { follow } = usePrefs();
  const [search, setSearch] = useParam("/tasks/{key}", "find");
  const [mark, setMark] = useState(first);
  const words = useDeferredValue(search).trim().toLowerCase();

  const found = useMemo(() => (words ? c.blocks.filter((b) => searchText(b).includes(words)) : c.blocks), [c.blocks, words]);
  const bad = useMemo(() => found.filter((b) => b.bad), [found]);
  const wanted = useMemo(() => near(c.blocks, mark), [c.blocks, mark]);
  const row = useCallback((b: Block) => <View b={b} session={session.key} marked={b.id === wanted} relative={relative} />, [session.key, wanted, relative]);

  const nextError = () => {
    const at = bad.findIndex((b) => b.id === wanted);
    const next = bad[(at + 1) % bad.length];
    leave();
    if (next) setMark(next.id);
  };

  const following = follow && place === "";
  const toggle = () => {
    setPrefs({ follow: !following });
    setPlace("");
  };

  if (c.problem && c.blocks.length === 0) return <ProblemBox problem={c.problem} />;
  if (c.loading) return <Loading what="the conversation" />;
  return (
    <div className="conversation">
      <div className="toolbar">
        <input type="search" placeholder="Search in this session" aria-label="Search in this session" value={search} onChange={(e) => setSearch(e.target.value)} />
        {words && <span className="muted" role="status">{plural(found.length, "match", "matches")}{c.earlier && " in the loaded part"}</span>}
        {words && c.earlier && <button className="button small" onClick={c.whole}>Search everything</button>}
        <span className="grow" />
        {bad.length > 0 && <button className="button small" onClick={nextError}>Next error ({bad.length})</button>}
        <button className="button small" aria-pressed={following} onClick={toggle}>{following ? "Following" : "Follow"}</button>
      </div>
      {found.length === 0 ? (
        <div className="blocks" role="log" aria-label="Conversation" tabIndex={0}>
          {words ? <Empty title="No match" /> : <Empty title={c.ended ? "No output" : "No output yet"}><p>{c.ended ? "The raw view has everything that its process wrote." : "Its output appears here immediately."}</p></Empty>}
        </div>
      ) : (
        <VirtualLog items={found} id={idOf} row={row} className="blocks" label="Conversation" follow={following && !words} onLeave={leave}
          onTop={c.earlier && !words ? c.more : undefined} show={wanted}
          before={c.earlier && !words && <p className="muted earlier">Reading earlier output</p>} />
      )}
      {c.problem && <ProblemBox problem={c.problem} />}
    </div>
  );
}

// near returns the id of the block at a position of the output.
function near(blocks: Block[], place: number | undefined): number | undefined {
  if (place === undefined || Number.isNaN(place)) return undefined;
  let last: Block | undefined;
  for (const b of blocks) {
    if (b.id > place) break;
    last = b;
  }
  return last?.id ?? blocks[0]?.id;
}
