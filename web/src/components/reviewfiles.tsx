// The list of the files of a change: what changed, what a person has viewed, and
// where open comments are.
import type { ReactNode } from "react";
import type { ReviewFile } from "../api/schema";
import { plural } from "../lib/format";

const letters: Record<string, string> = { added: "A", changed: "M", removed: "D", renamed: "R" };

// goToFile moves the focus and the window to a file.
export function goToFile(path: string): void {
  const el = document.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`);
  el?.querySelector<HTMLElement>("button")?.focus({ preventScroll: true });
  el?.scrollIntoView({ block: "start" });
}

interface Props {
  files: ReviewFile[]; // those that fit the filter
  all: number;
  viewed: number;
  open: (f: ReviewFile) => number; // its open comments
  filter: string;
  setFilter: (text: string) => void;
  children?: ReactNode;
}

export function ReviewFiles({ files, all, viewed, open, filter, setFilter, children }: Props) {
  return (
    <details className="review-list" open={innerWidth > 1000}>
      <summary>
        <span>Files</span>
        <span className="grow" />
        <span className="muted">{viewed} of {all} viewed</span>
        <progress value={viewed} max={all} aria-label={`${viewed} of ${all} files viewed`} />
      </summary>
      <div className="review-tools">
        <input type="search" placeholder="Filter by path" aria-label="Filter by path" value={filter} onChange={(e) => setFilter(e.target.value)} />
        {children}
      </div>
      <nav aria-label="Files">
        {files.map((f) => {
          const cut = f.path.lastIndexOf("/") + 1;
          const n = open(f);
          return (
            <button key={f.path} className={"review-entry" + (f.viewed ? " viewed" : "")} title={f.old_path ? `${f.old_path} → ${f.path}` : f.path} onClick={() => goToFile(f.path)}>
              <span className={"kind k-" + f.kind} title={f.kind}>{letters[f.kind]}</span>
              <span className="path"><span className="name">{f.path.slice(cut)}</span>{cut > 0 && <small className="muted"> {f.path.slice(0, cut - 1)}</small>}</span>
              {n > 0 && <span className="tag" title={plural(n, "open comment")}>{n}</span>}
              <small className="add-text">+{f.added}</small><small className="del-text">−{f.removed}</small>
              <span className="seen" aria-label={f.viewed ? "viewed" : undefined}>{f.viewed ? "✓" : ""}</span>
            </button>
          );
        })}
        {files.length === 0 && <p className="muted">No file matches.</p>}
      </nav>
    </details>
  );
}
