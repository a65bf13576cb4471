// Searches tasks, the output of sessions and the logs of checks while the user
// types.
import { useDeferredValue } from "react";
import { useAnswer, useProjects } from "../api/cache";
import { queries } from "../api/queries";
import type { Hit } from "../api/schema";
import { MarkFilters, useMarkChoices, useMarks } from "../components/markfilters";
import { placeOf, sourceOf } from "../lib/hits";
import { marked } from "../lib/marks";
import { ago, plural, useNow } from "../lib/format";
import { Link, useParam, type Param } from "../router";
import { Choice, Empty, Filters, ProblemBox, StatusBadge } from "../ui/parts";

const MOST = 50;
const BEHIND = 1000; // ms until the newest output is looked for again

const kinds: [Param<"/search", "kind">, string][] = [["", "all"], ["task", "tasks"], ["output", "output"], ["check", "checks"]];

export default function SearchPage() {
  const projects = useProjects();
  const [text, setText] = useParam("/search", "q");
  const [kind, setKind] = useParam("/search", "kind");
  const [project, setProject] = useParam("/search", "project");
  const marks = useMarks("/search");
  const choices = useMarkChoices();
  const words = useDeferredValue(text).trim();
  const options = queries.search({ q: words, kinds: kind ? [kind] : undefined, project: project || undefined, most: MOST, ...marks.filter });
  const { data: found, problem } = useAnswer({ ...options, enabled: words !== "", staleTime: 0, refetchInterval: (q) => (q.state.data?.behind ? BEHIND : false) });
  const hits = words ? (found?.hits ?? []) : [];
  return (
    <div className="page">
      <div className="page-head">
        <h1>Search</h1>
        <span className="grow" />
        <div className="segments" role="group" aria-label="Where to search">{kinds.map(([id, name]) => <button key={id} aria-pressed={kind === id} onClick={() => setKind(id)}>{name}</button>)}</div>
      </div>
      <input type="search" className="big-search" autoFocus placeholder="Words in tasks, in the output of sessions, and in logs of checks" aria-label="Search" value={text} onChange={(e) => setText(e.target.value)} />
      <Filters on={marks.any || project !== ""}>
        {projects.length > 1 && <Choice label="Project" value={project} set={setProject} options={projects} all="all" />}
        <MarkFilters marks={marks} choices={choices} />
      </Filters>
      {problem && <ProblemBox problem={problem} />}
      {!words && <Empty title="Search everything"><p>All words must match, in any order; the start of a word is enough. <code>"two words"</code> match as a phrase, <code>-word</code> must not occur.</p></Empty>}
      {words && found && hits.length === 0 && <Empty title="No match"><p>{found.behind ? "The newest output is still being indexed; the results update automatically." : marks.any || project ? "Try fewer words, or clear the filters." : "Try fewer words, or the start of one."}</p></Empty>}
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
  return (
    <li>
      <Link href={placeOf(h)} data-row>
        <span className="hit-head">
          <span className="key">{h.session ?? h.task}</span> <strong>{h.title}</strong> {h.status && <StatusBadge status={h.status} />} {sourceOf(h) && <span className="tag">{sourceOf(h)}</span>}
          <span className="grow" />
          <span className="muted">{whens[h.kind]} {ago(h.at, now)} ago</span>
        </span>
        {h.snippet && <span className="snippet">{marked(h.snippet, h.marks ?? []).map((p, i) => (p.hit ? <mark key={i}>{p.text}</mark> : p.text))}</span>}
      </Link>
    </li>
  );
}
