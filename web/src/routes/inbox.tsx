// The inbox: everything that needs a person, in the server's order.
import { useAnswer, useProjects } from "../api/cache";
import { queries } from "../api/queries";
import type { InboxEntry } from "../api/schema";
import { isSnoozed } from "../components/commands";
import { Entry } from "../components/entry";
import { MarkFilters, useMarkChoices, useMarks } from "../components/markfilters";
import { plural, useNow } from "../lib/format";
import { useParam } from "../router";
import { Choice, Empty, Filters, Loading, ProblemBox } from "../ui/parts";

const headings: Record<InboxEntry["blocks"], string> = { agent: "An agent waits for you", work: "Work is blocked", nothing: "Results" };

// parts groups entries by what they block. The server has sorted them.
export function parts(list: InboxEntry[]): { blocks: InboxEntry["blocks"]; list: InboxEntry[] }[] {
  const out: ReturnType<typeof parts> = [];
  for (const e of list) {
    if (out.at(-1)?.blocks !== e.blocks) out.push({ blocks: e.blocks, list: [] });
    out.at(-1)!.list.push(e);
  }
  return out;
}

export default function InboxPage() {
  const now = useNow(5000);
  const projects = useProjects();
  const [project, setProject] = useParam("/inbox", "project");
  const [view, setView] = useParam("/inbox", "view");
  const marks = useMarks("/inbox");
  const { data, problem, again } = useAnswer(queries.inbox(project, true, marks.filter));
  const choices = useMarkChoices();
  const all = data?.entries ?? [];
  if (!data) return problem ? <ProblemBox problem={problem} again={again} /> : <Loading what="the inbox" />;
  const open = all.filter((e) => !isSnoozed(e));
  const shown = view === "snoozed" ? all.filter(isSnoozed) : open;
  return (
    <div className="page">
      <div className="page-head">
        <h1>Inbox</h1>
        <span className="muted" aria-live="polite">{open.length === 0 ? "nothing needs you" : plural(open.length, "entry", "entries")}</span>
        <span className="grow" />
        <div className="segments" role="group" aria-label="View">
          <button aria-pressed={view === "open"} onClick={() => setView("open")}>open</button>
          <button aria-pressed={view === "snoozed"} onClick={() => setView("snoozed")}>snoozed {data.snoozed}</button>
        </div>
      </div>
      <Filters on={marks.any || project !== ""}>
        {projects.length > 1 && <Choice label="Project" value={project} set={setProject} options={projects} all="all" />}
        <MarkFilters marks={marks} choices={choices} />
      </Filters>
      {problem && <ProblemBox problem={problem} again={again} />}
      {shown.length === 0 && marks.any && <Empty title="No matching entries"><p>Entries about projects and agents have no labels and no group.</p></Empty>}
      {shown.length === 0 && !marks.any && <Nothing snoozed={view === "snoozed"} />}
      {parts(shown).map((p) => (
        <section key={p.blocks} className="entry-part">
          <h2>{headings[p.blocks]} <span className="muted">{p.list.length}</span></h2>
          <ul className="entries">{p.list.map((e) => <Entry key={e.id} e={e} now={now} />)}</ul>
        </section>
      ))}
      {data.more && <p className="muted">There are more entries. Act on these first, or archive failed tasks.</p>}
    </div>
  );
}

function Nothing({ snoozed }: { snoozed: boolean }) {
  if (snoozed) return <Empty title="Nothing is snoozed"><p>“Snooze” hides an entry until a time, or until something happens to a task. Questions cannot be snoozed, because an agent waits for the answer.</p></Empty>;
  return <Empty title="Nothing needs you"><p>Questions of agents, blocked work, results that wait for you and failed tasks appear here.</p></Empty>;
}
