// What the board does with the columns that the server sends.
import type { BoardColumn } from "../api/schema";
import { priorities } from "../api/tables";

// said reports whether a column's name says a status, so that its cards do not
// repeat it.
export const said = (column: string, status: string) => column.toLowerCase() === status;

// shownColumns leaves out columns that are empty, unless the server shows them.
export function shownColumns(list: BoardColumn[], needs: number): BoardColumn[] {
  return list.filter((c) => c.count > 0 || c.shown || (c.needs && needs > 0));
}

// priorityHint describes the field for a priority.
export const priorityHint = `${priorities.least} to ${priorities.most}; higher starts first`;
