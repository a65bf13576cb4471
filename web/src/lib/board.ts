// Words on the board and in forms of tasks.
import { priorities } from "../api/tables";

// said reports whether a column's name says a status, so that its cards do not
// repeat it.
export const said = (column: string, status: string) => column.toLowerCase() === status;

// priorityHint describes the field for a priority.
export const priorityHint = `${priorities.least} to ${priorities.most}; higher starts first`;
