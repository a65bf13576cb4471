// One group of tasks: its counts, its cost, and its tasks with their actions.
import { useState } from "react";
import { useAnswer } from "../api/cache";
import { queries } from "../api/queries";
import { GroupBar } from "../components/groupbar";
import { Table } from "../components/table";
import { clock, cost, plural } from "../lib/format";
import { Link, to } from "../router";
import { Empty, Loading, ProblemBox } from "../ui/parts";

const FIRST = 200; // tasks of each status in the first read
const MOST = 500;

export default function GroupPage({ id }: { id: string }) {
  const [whole, setWhole] = useState(false);
  const group = useAnswer(queries.group(id));
  const g = group.data;
  const board = useAnswer({ ...queries.board({ group_id: g?.id, limit: whole ? MOST : FIRST }), enabled: g !== undefined });
  if (!g) {
    if (group.problem?.code === "not_found") return <Empty title="There is no such group"><p>A group is removed with its last task. <Link href="/groups">See all groups</Link>.</p></Empty>;
    return group.problem ? <ProblemBox problem={group.problem} again={group.again} /> : <Loading what="the group" />;
  }
  const archived = g.archived ?? 0;
  return (
    <div className="page board-page">
      <div className="page-head">
        <p className="crumbs"><Link href="/groups">Groups</Link> / {g.project}</p>
        <h1>{g.name}</h1>
        <span className="muted">{plural(g.tasks, "task")} · {cost(g.usage)} · created {clock(g.created_at)}{g.created_by ? ` by ${g.created_by}` : ""}</span>
        <span className="grow" />
        <Link href={to("/", { in: String(g.id) })} className="button small">Show on the board</Link>
      </div>
      <div className="group-head">
        {g.title && <p>{g.title}</p>}
        <GroupBar g={g} />
        {archived > 0 && <p><Link href={to("/", { in: String(g.id), archived: "only" })}>{plural(archived, "archived task")}</Link></p>}
      </div>
      {board.problem && <ProblemBox problem={board.problem} again={board.again} />}
      {!board.data && !board.problem && <Loading what="the tasks" />}
      {board.data && board.data.count > 0 && <Table list={board.data.columns ?? []} entries={[]} all more={whole ? undefined : () => setWhole(true)} />}
    </div>
  );
}
