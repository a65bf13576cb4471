// Filters by group, label, flag and unread, for every list of tasks.
import type { ReactNode } from "react";
import { useAnswer } from "../api/cache";
import { queries, type Marks } from "../api/queries";
import type { Board } from "../api/schema";
import { useParam } from "../router";
import { Choice } from "../ui/parts";

type Filtered = "/" | "/graph" | "/timeline" | "/landing" | "/inbox" | "/search" | "/usage"; // the pages with these filters

// useMarks reads the filters from the address of a page.
export function useMarks(page: Filtered) {
  const [group, setGroup] = useParam(page, "in");
  const [label, setLabel] = useParam(page, "label");
  const [flagged, setFlagged] = useParam(page, "flagged");
  const [unread, setUnread] = useParam(page, "unread");
  const filter: Marks = { group_id: Number(group) || undefined, label: label || undefined, flagged: flagged !== "" || undefined, unread: unread !== "" || undefined };
  return {
    filter, group, setGroup, label, setLabel, flagged, setFlagged, unread, setUnread,
    any: group + label + flagged + unread !== "",
    clear: () => [setGroup, setLabel, setFlagged, setUnread].forEach((f) => f("")),
  };
}

// useMarkChoices returns the groups and labels to choose from, for pages that do not
// read the board.
export const useMarkChoices = () => useAnswer(queries.board({ limit: 1 })).data;

// MarkFilters shows a choice only if there is something to choose.
export function MarkFilters({ marks: m, choices, children }: { marks: ReturnType<typeof useMarks>; choices?: Pick<Board, "groups" | "labels">; children?: ReactNode }) {
  const groups = choices?.groups ?? [];
  const labels = choices?.labels ?? [];
  const many = new Set(groups.map((g) => g.project)).size > 1;
  return (
    <>
      {(groups.length > 0 || m.group) && <Choice label="Group" value={m.group} set={m.setGroup} options={groups.map((g) => ({ value: String(g.id), name: many ? `${g.project} · ${g.name}` : g.name }))} all="all" />}
      {(labels.length > 0 || m.label) && <Choice label="Label" value={m.label} set={m.setLabel} options={labels} all="all" />}
      <span className="check-row"><label className="check"><input type="checkbox" checked={m.flagged !== ""} onChange={(e) => m.setFlagged(e.target.checked ? "yes" : "")} /> Flagged</label>
      <label className="check"><input type="checkbox" checked={m.unread !== ""} onChange={(e) => m.setUnread(e.target.checked ? "yes" : "")} /> Unread</label>{children}</span>
    </>
  );
}
