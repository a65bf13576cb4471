// The forms that any page can open. The palette and the buttons open the same ones.
import type { ReactNode } from "react";
import { useAnswer, type Result } from "../api/cache";
import { queries } from "../api/queries";
import type { Project, TaskDetail } from "../api/schema";
import type { OpenForm } from "../state/dialog";
import { Dialog } from "../ui/dialog";
import { Empty, Loading, ProblemBox } from "../ui/parts";
import { edit } from "./actions";
import { AddProject } from "./addproject";
import { Ask } from "./ask";
import { Config } from "./config";
import { DocumentDialog } from "./documentdialog";
import { EntryDialog, SnoozeDialog } from "./entry";
import { FeatureDialog } from "./featuredialog";
import { NewFlowDialog } from "./newflow";
import { NewScheduleDialog, RemoveScheduleDialog } from "./newschedule";
import { NoteDialog } from "./notedialog";
import { PromptForm } from "./prompts";
import { RemoveDialog } from "./removeproject";
import { RenameDialog } from "./renameproject";
import { SendReview } from "./sendreview";
import { Composer } from "./sessions";
import { Budget, Limits } from "./taskfacts";
import { TemplateDialog } from "./templateform";
import { Tracks } from "./tracks";
import { Trackers } from "./trackers";
import { TrashDialog } from "./trash";

type Close = () => void;

// Read shows a part when its answer is known. Until then it shows a dialog with the
// same title.
function Read<T>({ title, answer, onClose, children }: { title: string; answer: Result<T>; onClose: Close; children: (data: T) => ReactNode }) {
  if (answer.data !== undefined) return children(answer.data);
  return <Dialog title={title} onClose={onClose}>{answer.problem ? <ProblemBox problem={answer.problem} again={answer.again} /> : <Loading what="what the form needs" />}</Dialog>;
}

function OfTask({ title, task, onClose, children }: { title: string; task: string; onClose: Close; children: (t: TaskDetail) => ReactNode }) {
  return <Read title={title} answer={useAnswer(queries.task(task))} onClose={onClose}>{(t) => <Dialog title={title} onClose={onClose}>{children(t)}</Dialog>}</Read>;
}

function OfProject({ title, project, onClose, children }: { title: string; project: string; onClose: Close; children: (p: Project) => ReactNode }) {
  return (
    <Read title={title} answer={useAnswer(queries.projects())} onClose={onClose}>{({ projects }) => {
      const p = projects?.find((x: Project) => x.prefix === project);
      return p ? children(p) : <Gone title={title} onClose={onClose} />;
    }}</Read>
  );
}

function Gone({ title, onClose }: { title: string; onClose: Close }) {
  return <Dialog title={title} onClose={onClose}><Empty title="It does not exist any more" /></Dialog>;
}

function PromptDialog({ project, role, onClose }: { project: string; role: string; onClose: Close }) {
  const title = `The prompt of ${role} in ${project}`;
  return (
    <Read title={title} answer={useAnswer(queries.prompts(project))} onClose={onClose}>{(list) => {
      const p = list.prompts?.find((x) => x.role === role);
      return p ? <Dialog title={title} onClose={onClose} className="wide"><PromptForm project={project} p={p} list={list} onDone={onClose} /></Dialog> : <Gone title={title} onClose={onClose} />;
    }}</Read>
  );
}

function FeatureForm({ project, id, onClose }: { project: string; id?: string; onClose: Close }) {
  const title = id ? `Feature ${id}` : "New feature";
  return (
    <Read title={title} answer={useAnswer(queries.features(project))} onClose={onClose}>{(list) => {
      const feature = list.features?.find((f) => f.id === id);
      return id && !feature ? <Gone title={title} onClose={onClose} /> : <FeatureDialog list={list} feature={feature} onClose={onClose} />;
    }}</Read>
  );
}

function ReviewForm({ task, onClose }: { task: string; onClose: Close }) {
  return <Read title={`Ask for changes to ${task}`} answer={useAnswer(queries.review(task))} onClose={onClose}>{(r) => <SendReview r={r} onClose={onClose} />}</Read>;
}

type Forms = { [F in OpenForm["form"]]: (o: OpenForm<F>, onClose: Close) => ReactNode };

// forms is the table of forms. A test compares it with the commands of the palette.
export const forms: Forms = {
  "add project": (_, close) => <Dialog title="Add a project" onClose={close}><AddProject onDone={close} /></Dialog>,
  "remove project": (o, close) => <OfProject title={`Remove ${o.project}`} project={o.project} onClose={close}>{(p) => <RemoveDialog p={p} close={close} />}</OfProject>,
  "rename project": (o, close) => <OfProject title={`Rename ${o.project}`} project={o.project} onClose={close}>{(p) => <RenameDialog p={p} close={close} />}</OfProject>,
  tracks: (o, close) => <Dialog title={`Tracks of ${o.project}`} onClose={close} className="wide"><Tracks project={o.project} onDone={close} /></Dialog>,
  "new track": (o, close) => <Dialog title={`Tracks of ${o.project}`} onClose={close} className="wide"><Tracks project={o.project} add onDone={close} /></Dialog>,
  trackers: (o, close) => <Dialog title={`Trackers of ${o.project}`} onClose={close} className="wide"><Trackers project={o.project} onDone={close} /></Dialog>,
  "new tracker": (o, close) => <Dialog title={`Trackers of ${o.project}`} onClose={close} className="wide"><Trackers project={o.project} add onDone={close} /></Dialog>,
  settings: (o, close) => <Dialog title={`Settings of ${o.project}`} onClose={close} className="wide"><Config project={o.project} /></Dialog>,
  prompt: (o, close) => <PromptDialog project={o.project} role={o.role} onClose={close} />,
  feature: (o, close) => <FeatureForm project={o.project} id={o.id} onClose={close} />,
  note: (o, close) => <NoteDialog project={o.project} task={o.task} note={o.note} onClose={close} />,
  "new flow": (o, close) => <NewFlowDialog project={o.project} onClose={close} />,
  document: (o, close) => <DocumentDialog flow={o.task} name={o.name} onClose={close} />,
  "new schedule": (o, close) => <NewScheduleDialog project={o.project} onClose={close} />,
  "remove schedule": (o, close) => <RemoveScheduleDialog project={o.project} name={o.name} onClose={close} />,
  template: (o, close) => <TemplateDialog project={o.project} name={o.name} onClose={close} />,
  message: (o, close) => <OfTask title={`Message to ${o.task}`} task={o.task} onClose={close}>{(t) => (t.can_send ? <Composer t={t} session={t.history?.at(-1)} onSent={close} /> : <Empty title="It takes no message now" />)}</OfTask>,
  answer: (o, close) => <OfTask title={`Answer ${o.task}`} task={o.task} onClose={close}>{(t) => (t.question?.open ? <Ask task={t.key} q={t.question} onDone={close} /> : <Empty title="It has no open question" />)}</OfTask>,
  limits: (o, close) => (
    <OfTask title={`Budget and limits of ${o.task}`} task={o.task} onClose={close}>{(t) => (
      <div className="form">
        <div className="field"><span>Budget</span><Budget t={t} onBudget={(budget) => void edit(t.key, { budget }, `${t.key} has the budget ${budget}`).then(close)} /></div>
        <div className="field"><span>Turns and time of a session</span><Limits t={t} onLimits={(change) => void edit(t.key, change, `${t.key} has new limits`).then(close)} /></div>
      </div>
    )}</OfTask>
  ),
  review: (o, close) => <ReviewForm task={o.task} onClose={close} />,
  trash: (o, close) => <TrashDialog task={o.task} onClose={close} />,
  entry: (o, close) => <EntryDialog e={o.entry} a={o.action} onClose={close} />,
  snooze: (o, close) => <SnoozeDialog e={o.entry} onClose={close} />,
};

export default function Form({ open, onClose }: { open: OpenForm; onClose: Close }) {
  const part = forms[open.form] as (o: OpenForm, onClose: Close) => ReactNode;
  return <>{part(open, onClose)}</>;
}
