// Images that a person attaches to a task or a message: pasted, dropped or
// chosen. The server stores each immediately, and checks it.
import { useId, useState, type ClipboardEvent, type DragEvent } from "react";
import { address, api, ApiError, dataOf, problemOf } from "../api/client";
import type { Image, Problem } from "../api/schema";
import { images as limits } from "../api/tables";
import { plural, size } from "../lib/format";
import { FormProblem } from "../ui/parts";
import { useAgent } from "./agentfields";

const { size: LARGEST, most: MOST, types: TYPES } = limits; // the server refuses more too, but only after it was sent

export const imageURL = (id: string) => address("/api/v1/images/{id}", { path: { id } });

type Attached = Image & { name: string };

export interface Images {
  list: Attached[];
  problem?: Problem;
  busy: boolean;
  add: (files: Iterable<File>) => void;
  remove: (id: string) => void;
  clear: () => void;
  ids: { images?: string[] }; // for a request
  take: { onPaste: (e: ClipboardEvent) => void; onDrop: (e: DragEvent) => void; onDragOver: (e: DragEvent) => void };
}

function refused(detail: string, fix: string): ApiError {
  return new ApiError({ status: 422, code: "invalid", title: "Invalid", detail, fix, field: "images" });
}

async function upload(file: File): Promise<Attached> {
  if (file.size > LARGEST) throw refused(`${file.name} has ${size(file.size)}, ${size(LARGEST)} are allowed`, "Use a smaller one, or JPEG or WebP.");
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  const made = await dataOf(api.POST("/api/v1/images", { body: { data: btoa(text) } }));
  return { ...made, name: file.name };
}

export function useImages(): Images {
  const [list, setList] = useState<Attached[]>([]);
  const [problem, setProblem] = useState<Problem>();
  const [waiting, setWaiting] = useState(0);
  const add = (files: Iterable<File>) => {
    const all = [...files];
    setProblem(undefined);
    if (list.length + all.length > MOST) {
      setProblem(problemOf(refused(`A message has at most ${MOST} images`, "Remove some, or send them with another message.")));
      return;
    }
    for (const file of all) {
      setWaiting((n) => n + 1);
      void upload(file)
        .then((a) => setList((now) => (now.some((o) => o.id === a.id) ? now : [...now, a])))
        .catch((err: unknown) => setProblem(problemOf(err)))
        .finally(() => setWaiting((n) => n - 1));
    }
  };
  const files = (d: DataTransfer | null) => [...(d?.files ?? [])];
  return {
    list, problem, busy: waiting > 0, add,
    remove: (id) => setList((now) => now.filter((a) => a.id !== id)),
    clear: () => {
      setList([]);
      setProblem(undefined);
    },
    ids: list.length > 0 ? { images: list.map((a) => a.id) } : {},
    take: {
      onPaste: (e) => {
        const found = files(e.clipboardData);
        if (found.length === 0) return;
        e.preventDefault();
        add(found);
      },
      onDrop: (e) => {
        const found = files(e.dataTransfer);
        if (found.length === 0) return;
        e.preventDefault();
        add(found);
      },
      onDragOver: (e) => {
        if (e.dataTransfer.types.includes("Files")) e.preventDefault();
      },
    },
  };
}

// Attachments shows the images of a form, with a button to add some, and says if
// the agent cannot see them.
export function Attachments({ images, project, agent, small }: { images: Images; project: string; agent?: string; small?: boolean }) {
  const id = useId();
  const of = useAgent(project, agent);
  const blind = of && !of.can?.includes("images");
  return (
    <div className={"attachments" + (small ? " small" : "")}>
      {images.list.map((a) => <Thumb key={a.id} image={a} name={a.name} onRemove={() => images.remove(a.id)} />)}
      <input id={id} className="sr-only" type="file" accept={TYPES.join(",")} multiple onChange={(e) => {
        images.add(e.target.files ?? []);
        e.target.value = "";
      }} />
      <label className="button small attach" htmlFor={id}>{images.busy ? "Uploading" : "Add image"}</label>
      {!small && images.list.length === 0 && <small className="muted">Or paste or drop it here: PNG, JPEG, GIF or WebP, at most {size(LARGEST)}</small>}
      {images.list.length > 0 && blind && <small className="warn-text">{agent} cannot see images; it only gets the text.</small>}
      {images.problem && <FormProblem problem={images.problem} />}
    </div>
  );
}

export function Thumb({ image, name, onRemove }: { image: Image; name: string; onRemove?: () => void }) {
  const url = imageURL(image.id);
  return (
    <span className="thumb">
      <a href={url} target="_blank" rel="noreferrer" title={`${name}, ${size(image.size)}`}><img src={url} alt={name} loading="lazy" /></a>
      {onRemove && <button type="button" className="button icon" aria-label={`Remove ${name}`} onClick={onRemove}>✕</button>}
    </span>
  );
}

// TaskImages shows the images of a task, and whether its agent sees them.
export function TaskImages({ images, project, agent }: { images: Image[]; project: string; agent: string }) {
  const of = useAgent(project, agent);
  if (images.length === 0) return null;
  return (
    <section>
      <h2>{plural(images.length, "image")}</h2>
      <div className="attachments">{images.map((i, n) => <Thumb key={i.id} image={i} name={`Image ${n + 1}`} />)}</div>
      {of && <p className="muted">{of.can?.includes("images") ? `${agent} sees ${images.length === 1 ? "it" : "them"}.` : `${agent} cannot see images; it only gets the text.`}</p>}
    </section>
  );
}
