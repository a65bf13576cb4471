// Searches tasks, the output of sessions and the logs of checks while the user
// types.
import { useEffect, useState } from "react";
import { get, problemOf, query } from "../api/client";
import { useTasks } from "../api/live";
import type { Hit, Problem, SearchPage as Found } from "../api/schema";
import { placeOf, sourceOf } from "../lib/hits";
import { marked } from "../lib/marks";
import { values } from "../lib/board";
import { ago, plural, useNow } from "../lib/format";
import { Link, useParam } from "../router";
import { Empty, ProblemBox, StatusBadge } from "../ui/parts";

const SOON = 150; // ms without a key before the request
const MOST = 50;

interface Answer {
  words: string; // the words of the request
  found?: Found;
  problem?: Problem;
}

// useSearch asks the server. Typing cancels the previous request.
function useSearch(words: string, kinds: string, project: string): Answer {
  const [answer, setAnswer] = useState<Answer>({ words: "" });
  const [again, setAgain] = useState(0);
  useEffect(() => {
    if (words === "") {
      setAnswer({ words });
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      get<Found>("/search" + query({ q: words, kinds: kinds || undefined, project, most: MOST }), stop.signal).then(
        (found) => {
          setAnswer({ words, found });
          if (found.behind) later = setTimeout(() => setAgain(again + 1), 1000);
        },
        (err: unknown) => !stop.signal.aborted && setAnswer({ words, problem: problemOf(err) }),
      );
    }, SOON);
    let later: ReturnType<typeof setTimeout> | undefined;
    return () => {
      clearTimeout(timer);
      clearTimeout(later);
      stop.abort();
    };
  }, [words, kinds, project, again]);
  return answer;
}

const kinds: [string, string][] = [["", "all"], ["task", "tasks"], ["output", "output"], ["check", "checks"]];

export default function SearchPage() {
  const tasks = useTasks();
  const [text, setText] = useParam("q");
  const [kind, setKind] = useParam("kind");
  const [project, setProject] = useParam("project");
  const words = text.trim();
  const { found, problem, words: asked } = useSearch(words, kind, project);
  const projects = values(tasks, (t) => t.project);
  const hits = words ? (found?.hits ?? []) : [];
  return (
    <div className="page">
      <div className="page-head">
        <h1>Search</h1>
        <span className="grow" />
        {projects.length > 1 && <label className="choice"><span>Project</span><select value={project} onChange={(e) => setProject(e.target.value)}><option value="">all</option>{projects.map((p) => <option key={p}>{p}</option>)}</select></label>}
        <div className="segments" role="group" aria-label="Where to search">{kinds.map(([id, name]) => <button key={id} aria-pressed={kind === id} onClick={() => setKind(id)}>{name}</button>)}</div>
      </div>
      <input type="search" className="big-search" autoFocus placeholder="Words in tasks, in the output of sessions, and in logs of checks" aria-label="Search" value={text} onChange={(e) => setText(e.target.value)} />
      {problem && <ProblemBox problem={problem} />}
      {!words && <Empty title="Search everything"><p>All words must match, in any order; the start of a word is enough. <code>"two words"</code> match as a phrase, <code>-word</code> must not occur.</p></Empty>}
      {words && found && asked === words && hits.length === 0 && <Empty title="No match"><p>{found.behind ? "The newest output is still being indexed; the results update automatically." : "Try fewer words, or the start of one."}</p></Empty>}
      {hits.length > 0 && (
        <>
          <p className="muted" role="status">{found!.more ? `The first ${plural(hits.length, "match", "matches")}` : plural(hits.length, "match", "matches")}{found!.behind && " · the newest output is still being indexed"}</p>
          <ul className="hits">{hits.map((h) => <HitView key={`${h.kind} ${h.task} ${h.session} ${h.offset} ${h.check}`} h={h} />)}</ul>
        </>
      )}
    </div>
  );
}

const whens = { task: "created", output: "written", check: "ended" };

function HitView({ h }: { h: Hit }) {
  const now = useNow(5000);
  const tasks = useTasks();
  const status = tasks.find((t) => t.key === h.task)?.status;
  return (
    <li>
      <Link href={placeOf(h)} data-row>
        <span className="hit-head">
          <span className="key">{h.session ?? h.task}</span> <strong>{h.title}</strong> {status && <StatusBadge status={status} />} {sourceOf(h) && <span className="tag">{sourceOf(h)}</span>}
          <span className="grow" />
          <span className="muted">{whens[h.kind]} {ago(h.at, now)} ago</span>
        </span>
        {h.snippet && <span className="snippet">{marked(h.snippet, h.marks ?? []).map((p, i) => (p.hit ? <mark key={i}>{p.text}</mark> : p.text))}</span>}
      </Link>
    </li>
  );
}
