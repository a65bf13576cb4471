// Finds tasks by what was asked, why they stand where they stand, and what they
// asked. Older tasks than the page holds are found by the server.
import { useDeferredValue, useMemo } from "react";
import { get, query } from "../api/client";
import { useFeed, useTasks } from "../api/live";
import { useQuery } from "../api/query";
import type { Task, TaskPage } from "../api/schema";
import { line } from "../components/card";
import { fits } from "../components/palette";
import { order } from "../lib/board";
import { ago, plural, useNow } from "../lib/format";
import { Link, useParam } from "../router";
import { Empty, ProblemBox, StatusBadge } from "../ui/parts";

const MOST = 100;

const textOf = (t: Task) => [t.key, t.title, t.reason, t.question?.text, t.failure?.text, t.warning, t.agent, t.model, t.track, t.landed].filter(Boolean).join(" ");

export default function SearchPage() {
  const tasks = useTasks();
  const { truncated } = useFeed();
  const now = useNow(5000);
  const [text, setText] = useParam("q");
  const words = useDeferredValue(text).trim();
  const here = useMemo(() => (words ? tasks.filter((t) => fits(textOf(t), words)).sort(order) : []), [tasks, words]);
  const older = useQuery(truncated && words.length > 1 ? "search:" + words : "", () => get<TaskPage>("/tasks" + query({ text: words, limit: MOST })));
  const known = new Set(here.map((t) => t.key));
  const found = [...here, ...(older.data?.tasks ?? []).filter((t) => !known.has(t.key))];
  return (
    <div className="page">
      <div className="page-head"><h1>Search</h1></div>
      <input type="search" className="big-search" autoFocus placeholder="A key, words of a title, a reason, a question, a commit" aria-label="Search tasks" value={text} onChange={(e) => setText(e.target.value)} />
      {older.problem && <ProblemBox problem={older.problem} again={older.again} />}
      {!words && <Empty title="Search all tasks"><p>Words may stand in any order. To search in what a session wrote, open it and use the search above its conversation.</p></Empty>}
      {words && found.length === 0 && <Empty title="No match"><p>Try fewer words.</p></Empty>}
      {found.length > 0 && (
        <>
          <p className="muted" role="status">{plural(found.length, "match", "matches")}{found.length > MOST && `, the first ${MOST}`}</p>
          <ul className="hits">
            {found.slice(0, MOST).map((t) => (
              <li key={t.key}>
                <Link href={"/tasks/" + t.key} data-row>
                  <StatusBadge status={t.status} /> <span className="key">{t.key}</span> <strong>{t.title}</strong>
                  <span className="muted">{line(t)}</span>
                  <span className="muted">{ago(t.ended_at ?? t.since, now)}{t.ended_at ? " ago" : ""}</span>
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
