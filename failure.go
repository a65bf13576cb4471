package coppice

import (
	"fmt"
	"time"
)

// Class sorts failures by what should follow. Each class has exactly one
// policy in the engine.
type Class string

// The classes of failure.
const (
	ClassRateLimit      Class = "rate_limit"       // the agent's account must wait until a reset
	ClassOverload       Class = "overload"         // the model's service is busy
	ClassAuth           Class = "auth"             // not logged in, or refused
	ClassBilling        Class = "billing"          // no credit
	ClassBudget         Class = "budget"           // the task has cost what it may
	ClassDayBudget      Class = "day_budget"       // the project has spent what it may in a day
	ClassCapability     Class = "capability"       // the agent is missing or cannot do this
	ClassEnvironment    Class = "environment"      // the machine or the project's set-up is at fault
	ClassTestOnly       Class = "test_only"        // the work is there, only its checks fail
	ClassImplementation Class = "implementation"   // the agent did not do the work
	ClassVerification   Class = "verification"     // a verifier went against it
	ClassConflict       Class = "conflict"         // it does not merge with the base
	ClassMemory         Class = "out_of_memory"    // killed for memory
	ClassDisk           Class = "disk"             // no room, or read-only
	ClassContext        Class = "context_overflow" // the conversation outgrew the model
	ClassMCP            Class = "mcp_lost"         // the agent lost its tools
	ClassTimeout        Class = "timeout"          // took longer than allowed
	ClassLost           Class = "lost"             // its process vanished without a word
	ClassCancelled      Class = "cancelled"        // a person stopped it
	ClassUnknown        Class = "unknown"          // nothing above
)

// Classes lists every class, in the order above.
var Classes = []Class{
	ClassRateLimit, ClassOverload, ClassAuth, ClassBilling, ClassBudget, ClassDayBudget, ClassCapability, ClassEnvironment, ClassTestOnly,
	ClassImplementation, ClassVerification, ClassConflict, ClassMemory, ClassDisk, ClassContext, ClassMCP,
	ClassTimeout, ClassLost, ClassCancelled, ClassUnknown,
}

// Failure says why something did not work.
type Failure struct {
	Class   Class     `json:"class"`
	Text    string    `json:"text"`              // the cause, for people
	Fix     string    `json:"fix,omitempty"`     // the way out, if one is known
	RetryAt time.Time `json:"retry_at,omitzero"` // not before this moment, if the failure told one
	Account string    `json:"account,omitempty"` // of a session's: which account met it, where that is not the agent itself
}

// Failf is a shorthand used where failures are made.
func Failf(class Class, text, fix string) *Failure {
	return &Failure{Class: class, Text: text, Fix: fix}
}

// Killed is the failure of a command that something else ended by a signal. It
// says nothing about what the command was run on.
func Killed(command, signal string) *Failure {
	fix := "find out what sends this signal to commands on this machine"
	if signal == "SIGKILL" {
		fix = "the machine probably ran out of memory: lower limits.sessions or limits.memory in coppice.yaml, let the command use less, or add memory"
	}
	return Failf(ClassEnvironment, fmt.Sprintf("the command %s was killed by %s", Quote(command), signal), fix)
}

// Error makes a Failure usable where an error is returned: an executor that
// knows the class returns the Failure itself.
func (f *Failure) Error() string {
	if f.Fix != "" {
		return f.Text + " (" + f.Fix + ")"
	}
	return f.Text
}
