package tools

import (
	"strings"

	"coppice"
	"coppice/store"
)

type readOutputIn struct {
	workerIn
	Lines int `json:"tail_lines,omitempty" jsonschema:"how many lines: 80 if absent, at most 1000"`
}

// WorkerOutput is the answer of read_worker_output.
type WorkerOutput struct {
	ID    string `json:"worker_id"`
	State string `json:"state"`
	Lines string `json:"output"`
}

func readWorkerOutput(c *call, r store.Reader, in readOutputIn) (WorkerOutput, error) {
	g, err := c.goal(r)
	if err != nil {
		return WorkerOutput{}, err
	}
	w, err := g.worker(in.ID)
	if err != nil {
		return WorkerOutput{}, err
	}
	out := WorkerOutput{ID: w.key, State: w.state()}
	if in.Lines == 0 {
		in.Lines = defaultTail
	}
	if in.Lines < 1 || in.Lines > mostTail {
		return out, coppice.Errorf(coppice.EInvalid, "%d is not a valid value for tail_lines", in.Lines).WithFix("use 1 to %d", mostTail).WithField("tail_lines")
	}
	if w.task == nil {
		return out, nil
	}
	s, err := r.Sessions.Last(w.task.ID)
	if err != nil || s == nil {
		return out, err
	}
	pieces, err := r.Outputs.Before(s.ID, s.Cursor, in.Lines, coppice.OutputEvent)
	if err == nil && len(pieces) == 0 { // an agent without events
		pieces, err = r.Outputs.Before(s.ID, s.Cursor, in.Lines, coppice.OutputStdout, coppice.OutputStderr)
	}
	if err != nil {
		return out, err
	}
	var lines []string
	for _, p := range pieces {
		lines = append(lines, outputLines(p)...)
	}
	out.Lines = strings.Join(lines[max(0, len(lines)-in.Lines):], "\n")
	return out, nil
}

// outputLines returns a piece of output as lines: what the agent says in full, and
// what it does in a line.
func outputLines(p coppice.Output) []string {
	text := string(p.Data)
	if p.Kind == coppice.OutputEvent {
		e, ok := coppice.ReadAgentEvent(p.Data)
		switch {
		case !ok:
			return nil
		case e.Kind == coppice.KindText:
			text = e.Text
		default:
			text = e.Line()
		}
	}
	if text = strings.TrimRight(coppice.Printable(text), "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
