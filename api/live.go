package api

import "coppice"

// RunningChecks are the checks of a landing that wait or run now.
type RunningChecks struct {
	Run      string       `json:"run" doc:"Names this run of the checks. Another name means that they started again"`
	Commands []CommandRun `json:"commands" doc:"The commands in the order in which they run"`
}

// CommandRun is a command of running work.
type CommandRun struct {
	coppice.CommandRun
	Result coppice.CommandResult `json:"result,omitempty" enum:"passed,failed,killed,timed out" doc:"How it ended; absent while it has not"`
}

// Check is a run of a check that has ended.
type Check struct {
	coppice.Check
	Result coppice.CommandResult `json:"result" enum:"passed,failed,killed,timed out" doc:"How it ended. A check that was killed says nothing about the work"`
	Cut    bool                  `json:"cut,omitempty" doc:"The log is only a part; GET /tasks/{key}/checks/{id}/log has the whole log"`
}

// Landing is a landing of a task.
type Landing struct {
	coppice.Landing
	State     coppice.LandingState `json:"state" enum:"landed,conflict,refused,empty,failed,cancelled,waiting,passed,in progress" doc:"How it is now. passed means that every check passed on its candidate"`
	StateText string               `json:"state_text" doc:"What people read as its state: why it waits, or what refused it"`
	Cut       bool                 `json:"cut,omitempty" doc:"The evidence is only a part; GET /tasks/{key}/landings/{id}/evidence has the whole text"`
}

// Now returns the command that runs, or nil.
func (r *RunningChecks) Now() *CommandRun {
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
