// The dialog that is open above the page. Only one is open at a time.
import { useSyncExternalStore } from "react";
import type { InboxAction, InboxEntry, Task } from "../api/schema";
import type { TaskAction } from "../components/actions";

interface OfProject {
  project: string;
}

interface OfTask {
  task: string;
}

// Forms are the forms that any page can open, and what each is about.
interface Forms {
  "add project": object;
  "remove project": OfProject;
  "rename project": OfProject;
  tracks: OfProject;
  "new track": OfProject;
  trackers: OfProject;
  "new tracker": OfProject;
  settings: OfProject;
  prompt: OfProject & { role: string };
  feature: OfProject & { id?: string };
  note: OfProject & { task?: string; note?: string };
  "new flow": Partial<OfProject>;
  document: OfTask & { name: string };
  "new schedule": Partial<OfProject>;
  "remove schedule": OfProject & { name: string };
  template: OfProject & { name?: string };
  message: OfTask;
  answer: OfTask;
  limits: OfTask;
  review: OfTask;
  trash: Partial<OfTask>;
  entry: { entry: InboxEntry; action: InboxAction };
  snooze: { entry: InboxEntry };
}

export type OpenForm<F extends keyof Forms = keyof Forms> = { [N in F]: { form: N } & Forms[N] }[F];

export type OpenDialog = "palette" | "help" | "new" | `marks ${string}` | { task: Task; action: TaskAction; text?: string } | OpenForm | undefined;

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
