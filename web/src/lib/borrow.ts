// The page's policy refuses style elements that a script adds. The terminal
// adds some while it is built. It gets substitutes instead. Their text goes
// into style sheets made by script, which the policy allows because no markup
// can make one.
export function borrowStyles(root: HTMLElement, build: () => void): () => void {
  const sheets = new Map<HTMLElement, CSSStyleSheet>();
  const make = document.createElement.bind(document);

  const substitute = () => {
    const el = make("span");
    el.hidden = true;
    const sheet = new CSSStyleSheet();
    sheets.set(el, sheet);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    return el;
  };
  const drop = (el: HTMLElement) => {
    const sheet = sheets.get(el);
    sheets.delete(el);
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((s) => s !== sheet);
  };

  document.createElement = ((name: string, options?: ElementCreationOptions) => (name === "style" ? substitute() : make(name, options))) as typeof document.createElement;
  try {
    build();
  } finally {
    Reflect.deleteProperty(document, "createElement"); // this restores the inherited function
  }

  const sync = (el: HTMLElement) => sheets.get(el)?.replaceSync(el.textContent ?? "");
  [...sheets.keys()].forEach(sync);
  const watch = new MutationObserver((changes) => {
    for (const c of changes) {
      const el = c.target instanceof HTMLElement ? c.target : c.target.parentElement;
      if (el && sheets.has(el)) sync(el);
    }
  });
  // Substitutes can be put anywhere, the head included.
  for (const el of sheets.keys()) watch.observe(el, { childList: true, subtree: true, characterData: true });
  return () => {
    watch.disconnect();
    [...sheets.keys()].forEach((el) => {
      if (!root.contains(el)) el.remove();
      drop(el);
    });
  };
}
