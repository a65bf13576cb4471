// A question that waits for a person: its text, the offered answers and a field
// for another answer. A permission can be granted one time or always, or
// refused with a reason for the agent.
import { useState } from "react";
import type { Question as Asked, Rule } from "../api/schema";
import { Markdown } from "../lib/markdown";
import { answer } from "./actions";

type Question = Pick<Asked, "id" | "kind" | "text" | "options" | "descriptions" | "several" | "rule">;

export function Ask({ task, q, onDone }: { task: string; q: Question; onDone?: () => void }) {
  const [busy, setBusy] = useState(false);
  const say = async (words: string): Promise<boolean> => {
    if (!words.trim() || busy) return false;
    setBusy(true);
    const done = await answer(task, q.id, words);
    setBusy(false);
    if (done) onDone?.();
    return done;
  };
  return q.kind === "permission" ? <Permission key={q.id} q={q} busy={busy} say={say} /> : <Plain key={q.id} q={q} busy={busy} say={say} />;
}

interface Props {
  q: Question;
  busy: boolean;
  say: (words: string) => Promise<boolean>;
}

function Plain({ q, busy, say }: Props) {
  const [text, setText] = useState("");
  const offered = (q.options?.length ?? 0) > 0;
  return (
    <form className="why needs ask" aria-label="Question" onSubmit={(e) => {
      e.preventDefault();
      void say(text).then((done) => done && setText(""));
    }}>
      <div className="ask-text" tabIndex={0} role="region" aria-label="What it asks"><Markdown text={q.text} /></div>
      {offered && (q.several ? <Several q={q} busy={busy} say={say} /> : <div className="options">{q.options!.map((_, i) => <button key={i} type="button" className="button" disabled={busy} onClick={() => void say(String(i + 1))}><Option q={q} i={i} /></button>)}</div>)}
      <div className="ask-line">
        <input value={text} onChange={(e) => setText(e.target.value)} aria-label="Answer" placeholder={offered ? "Or in your own words" : "Your answer"} />
        <button className="button primary" disabled={busy || !text.trim()}>Answer</button>
      </div>
    </form>
  );
}

// Option is the number of an option, which is an answer too, its name and what it
// means.
function Option({ q, i }: { q: Question; i: number }) {
  const about = q.descriptions?.[i];
  return <><span className="muted">{i + 1}.</span> {q.options![i]}{about && <span className="muted option-about">{about}</span>}</>;
}

// Several offers options of which more than one can be chosen.
function Several({ q, busy, say }: Props) {
  const [chosen, setChosen] = useState<number[]>([]);
  const toggle = (i: number) => setChosen((list) => (list.includes(i) ? list.filter((n) => n !== i) : [...list, i].sort((a, b) => a - b)));
  return (
    <div className="options several">
      {q.options!.map((_, i) => <label key={i}><input type="checkbox" checked={chosen.includes(i)} disabled={busy} onChange={() => toggle(i)} /> <span><Option q={q} i={i} /></span></label>)}
      <button type="button" className="button primary" disabled={busy || chosen.length === 0} onClick={() => void say(chosen.map((i) => i + 1).join(", "))}>Answer with these</button>
    </div>
  );
}

function RuleText({ r }: { r: Rule }) {
  return <>{r.tool || "every tool"}{r.match ? <> on <code>{r.match}</code></> : null}</>;
}

function Permission({ q, busy, say }: Props) {
  const [why, setWhy] = useState("");
  const offers = (option: string) => q.options?.includes(option) ?? false;
  const deny = (words: string) => void say(why.trim() ? `${words} because ${why.trim()}` : words);
  return (
    <form className="why needs ask" aria-label="Permission" onSubmit={(e) => {
      e.preventDefault();
      deny("deny");
    }}>
      <div className="ask-text" tabIndex={0} role="region" aria-label="What it asks"><p><span className="tag">permission</span> {q.text}</p></div>
      <div className="options">
        {offers("allow") && <button type="button" className="button primary" disabled={busy} onClick={() => void say("allow")}>Allow</button>}
        {offers("allow always") && <button type="button" className="button" disabled={busy} onClick={() => void say("allow always")}>Allow always</button>}
        <span className="deny">
          <input value={why} onChange={(e) => setWhy(e.target.value)} aria-label="Reason" placeholder="Reason (optional, shown to the agent)" />
          {offers("deny") && <button className="button danger" disabled={busy}>Deny</button>}
          {offers("deny always") && <button type="button" className="button danger" disabled={busy} onClick={() => deny("deny always")}>Deny always</button>}
        </span>
      </div>
      {q.rule && <p className="ask-note">“Always” applies to <RuleText r={q.rule} /> in this project. You can remove it in Settings.</p>}
    </form>
  );
}
