package http

import (
	"strings"

	"coppice"
	"coppice/api"
)

// Limits of the part of a log that explains why a task failed.
const (
	linesBefore = 2   // lines before the first error
	mostLines   = 8   // lines in all
	mostLine    = 300 // bytes of a line
)

// refusedBy returns the failed check of a task's newest candidate, if the task
// failed or needs a person. The logs must be whole.
func refusedBy(d api.TaskDetail) *api.FailedCheck {
	if len(d.Landings) == 0 || d.Status != coppice.StatusFailed && d.Status != coppice.StatusNeedsYou {
		return nil
	}
	tree := d.Landings[len(d.Landings)-1].Tree
	var found *api.Check
	seen := map[string]bool{}
	for i := len(d.CheckRuns) - 1; i >= 0; i-- {
		c := &d.CheckRuns[i]
		if c.Tree != tree || c.Passed() || c.Killed() {
			continue
		}
		if seen[c.Command] { // it belongs to an earlier run
			break
		}
		found, seen[c.Command] = c, true
	}
	if found == nil {
		return nil
	}
	out := api.FailedCheck{ID: found.ID, Command: found.Command, Line: found.ErrorLine}
	out.From, out.Lines = excerpt(found.Log, found.ErrorLine)
	return &out
}

// excerpt returns the lines of a log around a line, or the last ones if the line
// is 0, and the number of the first of them.
func excerpt(log string, line int) (from int, lines []string) {
	lines = []string{}
	if log == "" {
		return 1, lines
	}
	all := strings.Split(strings.TrimRight(log, "\n"), "\n")
	from = len(all) - mostLines
	if line > 0 {
		from = min(line-1-linesBefore, from)
	}
	from = max(from, 0)
	for _, text := range all[from:min(from+mostLines, len(all))] {
		if len(text) > mostLine {
			text = strings.ToValidUTF8(text[:mostLine], "") + "…"
		}
		lines = append(lines, text)
	}
	return from + 1, lines
}
