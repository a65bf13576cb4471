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
