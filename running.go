package coppice

import "time"

// RunState says how far a command of running work is.
type RunState string

// The states of a command.
const (
	RunWaiting RunState = "waiting" // it has not started
	RunRunning RunState = "running"
	RunEnded   RunState = "ended"
)

// CommandRun is a command of running work: a check, or a command that prepares
// the worktree for checks.
type CommandRun struct {
	Command   string    `json:"command"`
	Setup     bool      `json:"setup,omitempty" doc:"It prepares the worktree and is not a check"`
	State     RunState  `json:"state" enum:"waiting,running,ended"`
	StartedAt time.Time `json:"started_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	Exit      int       `json:"exit" doc:"Its exit code, after it has ended"`
	Signal    string    `json:"signal,omitempty" doc:"The signal that killed it"`
	TimedOut  bool      `json:"timed_out,omitempty" doc:"It was stopped because it took too long"`
	Size      int64     `json:"size" doc:"Bytes of its output so far"`
}

// CommandResult says how a command ended. It is empty while the command has not.
type CommandResult string

// The results of a command.
const (
	ResultPassed   CommandResult = "passed"
	ResultFailed   CommandResult = "failed"
	ResultKilled   CommandResult = "killed" // something else ended it
	ResultTimedOut CommandResult = "timed out"
)

func resultOf(exit int, signal string, timedOut bool) CommandResult {
	switch {
	case signal != "":
		return ResultKilled
	case timedOut:
		return ResultTimedOut
	case exit != 0:
		return ResultFailed
	}
	return ResultPassed
}

// Result says how the command ended.
func (c CommandRun) Result() CommandResult {
	if c.State != RunEnded {
		return ""
	}
	return resultOf(c.Exit, c.Signal, c.TimedOut)
}

// Passed reports whether the command has succeeded.
func (c CommandRun) Passed() bool { return c.Result() == ResultPassed }

// RunPosition is a position in the output of the commands of one run.
type RunPosition struct {
	Command int   // the index of the command
	Offset  int64 // in its output
}

// RunOutput is a piece of the output of a running command, with secrets masked.
// A long output is kept without its middle: then the next piece starts at a
// higher offset.
type RunOutput struct {
	Command int    `json:"command" doc:"The index of its command"`
	Offset  int64  `json:"offset" doc:"Where it starts in the output of the command. A jump means that the middle of a long output was not kept"`
	Data    []byte `json:"data"`
}

// Run is the state of running work and a part of its output.
type Run struct {
	Attempt  int
	Version  int64 // changes with every report
	Ended    bool  // no report follows
	Commands []CommandRun
	Output   []RunOutput
	Next     RunPosition // after Output
}
