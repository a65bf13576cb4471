// A modal dialog on the browser's own element, which keeps the focus inside.
import { useEffect, useRef, type ReactNode } from "react";

export function Dialog({ title, onClose, children, className }: { title: string; onClose: () => void; children: ReactNode; className?: string }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    ref.current?.querySelector<HTMLElement>("input, textarea, select")?.focus(); // not the button that closes it
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={ref} className={"dialog " + (className ?? "")} aria-label={title} onClose={onClose} onCancel={onClose} onClick={(e) => e.target === ref.current && onClose()}>
      <div className="dialog-body">
        <header>
          <h2>{title}</h2>
          <button className="button icon" aria-label="Close" onClick={onClose}>✕</button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
