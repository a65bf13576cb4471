// One file of a change: its header, its lines with their comments, and what
// cannot be shown. Its lines are read when they come near the window.
import { memo, useCallback, useEffect, useMemo, useState } from "react";
import { change, useAnswer } from "../api/cache";
import { address, api, dataOf } from "../api/client";
import { queries } from "../api/queries";
import type { Review, ReviewComment, ReviewFile as File, ReviewText } from "../api/schema";
import { plural } from "../lib/format";
import { colour, linesOf, type Token } from "../lib/highlight";
import { layOut, placed, placeOf, visible, type Range, type Shown, type Side } from "../lib/review";
import { usePrefs } from "../state/prefs";
import { useTyped } from "../state/typed";
import { Loading, ProblemBox } from "../ui/parts";
import { Comment, lineForms, NewComment, openLineForm } from "./comment";
import { ReviewLines } from "./reviewlines";

const LONG = 1000; // changed lines of a file that is closed at first
const ROW = 20; // px of a line, to reserve space for lines that are not read yet
const NEAR = "1200px 0px"; // around the window

// useNear reports whether an element has been near the window.
function useNear(): [boolean, (el: HTMLElement | null) => (() => void) | undefined] {
  const [near, setNear] = useState(false);
  const watch = useCallback((el: HTMLElement | null) => {
    if (!el) return undefined;
    const watcher = new IntersectionObserver((seen) => seen.some((s) => s.isIntersecting) && setNear(true), { rootMargin: NEAR });
    watcher.observe(el);
    return () => watcher.disconnect();
  }, []);
  return [near, watch];
}

// useColours returns the coloured lines of both sides. Until the lines of a new
// text are coloured, it returns those of the text before.
function useColours(path: string, text?: ReviewText): Partial<Record<Side, Token[][] | undefined>> | undefined {
  const [colours, setColours] = useState<Partial<Record<Side, Token[][] | undefined>>>();
  useEffect(() => {
    if (!text) return;
    let wanted = true;
    void (async () => {
      const side = (s?: string) => (s === undefined ? undefined : colour(path, s));
      const [before, after] = [await side(text.old), await side(text.new)];
      if (wanted) setColours({ old: before, new: after });
    })();
    return () => {
      wanted = false;
    };
  }, [path, text]);
  return colours;
}

export const markViewed = (task: string, f: File) =>
  change("", () => dataOf(api.PUT("/api/v1/tasks/{key}/viewed", { params: { path: { key: task } }, body: { path: f.path, blob: f.blob, viewed: !f.viewed } })));

interface Props {
  r: Pick<Review, "task" | "base" | "head">;
  f: File;
  comments: ReviewComment[];
}

export const ReviewFile = memo(function ReviewFile({ r, f, comments }: Props) {
  const [opened, setOpened] = useState<{ blob: string; viewed: boolean; open: boolean }>();
  const [near, watch] = useNear();
  // What a person opened or closed stays so until the file or its mark changes.
  const open = opened?.blob === f.blob && opened.viewed === f.viewed ? opened.open : !f.viewed && f.added + f.removed <= LONG;
  return (
    <section ref={watch} className="file review-file" data-row="start" data-path={f.path} aria-label={f.path}>
      <header>
        <button className="file-name" aria-expanded={open} onClick={() => setOpened({ blob: f.blob, viewed: f.viewed, open: !open })} title={f.path}>
          <span aria-hidden="true">{open ? "▾" : "▸"}</span> <code>{f.old_path ? `${f.old_path} → ${f.path}` : f.path}</code>
        </button>
        {f.kind !== "changed" && <span className="tag">{f.kind}</span>}
        {comments.length > 0 && !open && <span className="tag">{plural(comments.length, "comment")}</span>}
        <span className="grow" />
        <span className="file-size"><span className="add-text">+{f.added}</span> <span className="del-text">−{f.removed}</span></span>
        <label className="check"><input type="checkbox" checked={f.viewed} onChange={() => void markViewed(r.task, f)} /> Viewed</label>
      </header>
      {open && <Body r={r} f={f} comments={comments} near={near} />}
    </section>
  );
});

// whyPlain returns why the lines of a file are not shown.
function whyPlain(f: File): string | undefined {
  if (f.binary) return "It is a binary file, which has no lines.";
  return f.large ? "It is too large to show by line." : undefined;
}

function Body({ r, f, comments, near }: Props & { near: boolean }) {
  const why = whyPlain(f);
  const hunks = useAnswer({ ...queries.reviewHunks(r, f.path), enabled: near && !why });
  const whole = useAnswer({ ...queries.reviewText(r, f.path), enabled: near && !why });
  const [shown, setShown] = useState<Record<number, Shown>>({});
  const { wrap } = usePrefs();
  const open = useTyped();
  const colours = useColours(f.path, whole.data);
  const read = hunks.data?.files?.[0];
  const after = whole.data?.blob === read?.blob ? whole.data?.new : undefined; // both are of the same content
  const text = useMemo(() => (after === undefined ? undefined : linesOf(after)), [after]);
  const parts = useMemo(() => layOut(read?.hunks ?? [], text, shown), [read, text, shown]);
  const lines = useMemo(() => visible(parts), [parts]);
  const forms = lineForms(open, r.task, f.path);
  const byLine = placed(comments, placeOf, lines);
  const formsByLine = placed(forms, (x) => x, lines);
  const under = (line: string) => {
    const [found, typed] = [byLine.get(line), formsByLine.get(line)];
    if (!found && !typed) return null;
    return (
      <div className={"thread" + (line ? "" : " loose")}>
        {found?.map((c) => <Comment key={c.id} task={r.task} c={c} at={!line} />)}
        {typed?.map((x) => <NewComment key={`${x.side} ${x.first} ${x.last}`} f={x} />)}
      </div>
    );
  };
  const show = (gap: number, from: keyof Shown, n: number) => setShown((s) => ({ ...s, [gap]: { start: 0, end: 0, ...s[gap], [from]: (s[gap]?.[from] ?? 0) + n } }));
  const onSelect = useCallback((at: Range) => openLineForm({ task: r.task, path: f.path, ...at }, open), [r.task, f.path, open]);
  return (
    <>
      {(read || why || hunks.problem) && under("")}
      {why && <p className="file-note">{why} <a href={address("/api/v1/tasks/{key}/diff", { path: { key: r.task }, query: { since: "base" } })} target="_blank" rel="noreferrer">Open the plain diff</a></p>}
      {!why && hunks.problem && <ProblemBox problem={hunks.problem} again={hunks.again} />}
      {!why && !read && !hunks.problem && <div style={{ minHeight: (f.added + f.removed + 6) * ROW }}><Loading what={f.path} /></div>}
      {read && parts.length === 0 && <p className="file-note">Its lines did not change.</p>}
      {read && parts.length > 0 && <ReviewLines parts={parts} colours={colours} forms={forms} under={under} onSelect={onSelect} show={text && show} wrap={wrap} />}
    </>
  );
}
