// The dialog that is open above every page.
import { lazy, Suspense } from "react";
import { closeDialog, useDialog } from "../state/dialog";
import { ActionDialog } from "./actiondialog";
import { Help } from "./keys";
import { MarksDialog } from "./marks";
import { NewTaskDialog } from "./newtask";
import { Palette } from "./palette";

const Form = lazy(() => import("./forms"));

export function Dialogs() {
  const open = useDialog();
  if (open === undefined) return null;
  if (open === "palette") return <Palette />;
  if (open === "help") return <Help onClose={closeDialog} />;
  if (open === "new") return <NewTaskDialog onClose={closeDialog} />;
  if (typeof open === "string") return <MarksDialog task={open.slice("marks ".length)} onClose={closeDialog} />;
  if ("form" in open) return <Suspense fallback={null}><Form key={JSON.stringify(open)} open={open} onClose={closeDialog} /></Suspense>;
  return <ActionDialog t={open.task} action={open.action} text={open.text} onClose={closeDialog} />;
}
