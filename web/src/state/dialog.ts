// The dialog that is open above the page. Only one is open at a time.
import { useSyncExternalStore } from "react";
import type { Task } from "../api/schema";
import type { TaskAction } from "../components/actions";

export type OpenDialog = "palette" | "help" | "new" | `marks ${string}` | { task: Task; action: TaskAction } | undefined;

let open: OpenDialog;
const listeners = new Set<() => void>();

export function openDialog(d: OpenDialog): void {
  open = d;
  listeners.forEach((f) => f());
}

export const closeDialog = () => openDialog(undefined);

export function useDialog(): OpenDialog {
  return useSyncExternalStore(
    (f) => {
      listeners.add(f);
      return () => listeners.delete(f);
    },
    () => open,
  );
}
