// How many steps of a flow are done, as a bar and in words.
export function StepBar({ done, steps }: { done: number; steps: number }) {
  return (
    <span className="step-bar">
      <span className="group-bar" aria-hidden="true">
        {done > 0 && <i className="part-done" style={{ flexGrow: done }} />}
        {steps > done && <i style={{ flexGrow: steps - done }} />}
      </span>
      <small className="muted">{done} of {steps}</small>
    </span>
  );
}
