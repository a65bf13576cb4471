// Pictures that a session took as evidence: small, and in full size on click.
import { useState } from "react";
import { useAnswer } from "../api/cache";
import { address } from "../api/client";
import { queries } from "../api/queries";
import { clock, plural } from "../lib/format";
import { Dialog } from "../ui/dialog";
import { ProblemBox } from "../ui/parts";

export const pictureURL = (key: string, offset: number) => address("/api/v1/sessions/{key}/images/{offset}", { path: { key, offset } });

export function Picture({ session, offset, at }: { session: string; offset: number; at: string }) {
  const [open, setOpen] = useState(false);
  const [gone, setGone] = useState(false);
  const url = pictureURL(session, offset);
  const name = `Picture taken by ${session}, ${clock(at)}`;
  if (gone) return <p className="muted">This picture is no longer available.</p>;
  return (
    <>
      <button className="picture" onClick={() => setOpen(true)} title="Show it in full size">
        <img src={url} alt={name} loading="lazy" onError={() => setGone(true)} />
      </button>
      {open && (
        <Dialog title={name} onClose={() => setOpen(false)} className="whole-picture">
          <img src={url} alt={name} />
          <p><a href={url} target="_blank" rel="noreferrer">Open it in a new tab</a></p>
        </Dialog>
      )}
    </>
  );
}

// Pictures shows all pictures that a session took.
export function Pictures({ session }: { session: string }) {
  const list = useAnswer(queries.pictures(session));
  if (list.problem) return <ProblemBox problem={list.problem} again={list.again} />;
  const pictures = list.data?.output ?? [];
  if (pictures.length === 0) return null;
  return (
    <div>
      <h4>{plural(pictures.length, "picture")}</h4>
      <div className="pictures">{pictures.map((p) => <Picture key={p.offset} session={session} offset={p.offset} at={p.at} />)}</div>
    </div>
  );
}
