// Links that open a folder or a file of a workspace in the user's editor. They
// work if the browser runs on the machine with the workspace.
export interface Editor {
  id: string;
  name: string;
  template: string; // {path} is the folder or file
}

export const editors: Editor[] = [
  { id: "vscode", name: "VS Code", template: "vscode://file{path}?windowId=_blank" },
  { id: "cursor", name: "Cursor", template: "cursor://file{path}?windowId=_blank" },
  { id: "windsurf", name: "Windsurf", template: "windsurf://file{path}" },
  { id: "zed", name: "Zed", template: "zed://file{path}" },
  { id: "idea", name: "IntelliJ IDEA", template: "idea://open?file={path}" },
  { id: "sublime", name: "Sublime Text", template: "subl://open?url=file://{path}" },
];

// fault returns why a template cannot be used, or "".
export function fault(template: string): string {
  if (!template.includes("{path}")) return "it must contain {path}, which stands for the folder";
  if (!/^[a-z][a-z0-9+.-]*:/i.test(template)) return "it must start with the scheme of your editor, such as vscode:";
  if (/^(javascript|data|vbscript|blob|https?|file):/i.test(template)) return "this scheme opens no editor";
  return "";
}

export function editorLink(template: string, path: string): string | undefined {
  if (fault(template) !== "") return undefined;
  return template.replaceAll("{path}", () => path.split("/").map(encodeURIComponent).join("/"));
}

export function editorName(template: string): string {
  return editors.find((e) => e.template === template)?.name ?? "your editor";
}
