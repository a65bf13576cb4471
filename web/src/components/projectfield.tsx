// The choice of the project to which a new flow or schedule belongs.
export function ProjectField({ id, names, project, choose }: { id: string; names: string[]; project: string; choose: (name: string) => void }) {
  return (
    <div className="field">
      <label htmlFor={id}>Project</label>
      <select id={id} value={project} onChange={(e) => choose(e.target.value)}>{names.map((n) => <option key={n} value={n}>{n}</option>)}</select>
    </div>
  );
}
