// What the board does with the columns that the server sends.
import type { BoardColumn, Task } from "../api/schema";
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

// priorityBetween returns the priority that puts a task between two others of a
// list that is sorted by priority and then by id.
export function priorityBetween(t: Task, above: Task | undefined, below: Task | undefined): number {
  const clamp = (n: number) => Math.max(priorities.least, Math.min(priorities.most, n));
  if (!above && !below) return t.priority;
  if (!above) return t.priority >= below!.priority && (t.priority > below!.priority || t.id < below!.id) ? t.priority : clamp(below!.priority + (t.id < below!.id ? 0 : 1));
  if (!below) return t.priority <= above.priority && (t.priority < above.priority || t.id > above.id) ? t.priority : clamp(above.priority - (t.id > above.id ? 0 : 1));
  if (t.id < below.id) return below.priority;
  if (t.id > above.id) return above.priority;
  return clamp(Math.min(above.priority, below.priority + 1));
}
