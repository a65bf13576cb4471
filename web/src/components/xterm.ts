// Creates terminals that look like the page and follow its content policy.
import { FitAddon } from "@xterm/addon-fit";
import { Terminal as Xterm, type ITerminalInitOnlyOptions, type ITerminalOptions } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { borrowStyles } from "../lib/borrow";

// colours returns the colours of the box around the terminal.
function colours(el: HTMLElement) {
  const css = getComputedStyle(el);
  return { background: css.backgroundColor, foreground: css.color, cursor: css.color, selectionBackground: css.outlineColor };
}

export function makeTerminal(el: HTMLElement, options: ITerminalOptions & ITerminalInitOnlyOptions): { term: Xterm; fit: FitAddon; close: () => void } {
  const term = new Xterm({ fontFamily: "ui-monospace, Menlo, Consolas, monospace", fontSize: 13, theme: colours(el), screenReaderMode: true, ...options });
  const fit = new FitAddon();
  term.loadAddon(fit);
  const giveBack = borrowStyles(el, () => term.open(el));
  // The theme can change while a terminal is open.
  const looks = matchMedia("(prefers-color-scheme: dark)");
  const repaint = () => (term.options.theme = colours(el));
  const watch = new MutationObserver(repaint);
  watch.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  looks.addEventListener("change", repaint);
  return {
    term,
    fit,
    close: () => {
      watch.disconnect();
      looks.removeEventListener("change", repaint);
      term.dispose();
      giveBack();
    },
  };
}
