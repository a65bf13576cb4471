package api

import "coppice"

// RunningChecks are the checks of a landing that wait or run now.
type RunningChecks struct {
	Run      string               `json:"run" doc:"Names this run of the checks. Another name means that they started again"`
	Commands []coppice.CommandRun `json:"commands" doc:"The commands in the order in which they run"`
}

// Now returns the command that runs, or nil.
func (r *RunningChecks) Now() *coppice.CommandRun {
	if r == nil {
		return nil
	}
	for i, c := range r.Commands {
		if c.State == coppice.RunRunning {
			return &r.Commands[i]
		}
	}
	return nil
}

// FailedCheck is a failed check with a part of its log.
type FailedCheck struct {
	ID      int64    `json:"id"`
	Command string   `json:"command"`
	Line    int      `json:"line,omitempty" doc:"The line of the whole log at which the first error starts, from 1; absent if none was found"`
	From    int      `json:"from" doc:"The number of the first of these lines in the whole log, from 1"`
	Lines   []string `json:"lines" doc:"The lines around the first error, or the last ones; at most 8, each of at most 300 bytes"`
}
