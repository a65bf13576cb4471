package coppice

import (
	"errors"
	"fmt"
	"time"
)

// Class sorts failures by what should follow. The engine has exactly one remedy
// for each class.
type Class string

// The classes of failure.
const (
	ClassRateLimit      Class = "rate_limit"       // the agent's account must wait until a reset
	ClassOverload       Class = "overload"         // the model's service is busy
	ClassAuth           Class = "auth"             // not logged in, or refused
	ClassBilling        Class = "billing"          // no credit
	ClassBudget         Class = "budget"           // the task has used its budget
	ClassDayBudget      Class = "day_budget"       // the project or the account has used its budget for the day
	ClassLimit          Class = "limit"            // the session has used its turns, its time or its own budget
	ClassCapability     Class = "capability"       // the agent is missing or cannot do this
	ClassEnvironment    Class = "environment"      // the machine or the project's setup is the cause
	ClassTestOnly       Class = "test_only"        // the work exists, only its checks fail
	ClassImplementation Class = "implementation"   // the agent did not do the work
	ClassVerification   Class = "verification"     // a verifier refused it
	ClassConflict       Class = "conflict"         // it does not merge with the base
	ClassMemory         Class = "out_of_memory"    // killed because of its memory
	ClassDisk           Class = "disk"             // full or read-only
	ClassContext        Class = "context_overflow" // the conversation is too long for the model
	ClassMCP            Class = "mcp_lost"         // the agent lost its tools
	ClassTimeout        Class = "timeout"          // it took longer than allowed
	ClassLost           Class = "lost"             // its process disappeared without a message
	ClassCancelled      Class = "cancelled"        // a person stopped it
	ClassBase           Class = "base"             // the base fails its checks as well, or the command of one is missing
	ClassUnchanged      Class = "unchanged"        // a session ended without changing anything
	ClassUnknown        Class = "unknown"          // none of the above
)

// Classes lists every class, in the order above.
var Classes = []Class{
	ClassRateLimit, ClassOverload, ClassAuth, ClassBilling, ClassBudget, ClassDayBudget, ClassLimit, ClassCapability, ClassEnvironment, ClassTestOnly,
	ClassImplementation, ClassVerification, ClassConflict, ClassMemory, ClassDisk, ClassContext, ClassMCP,
	ClassTimeout, ClassLost, ClassCancelled, ClassBase, ClassUnchanged, ClassUnknown,
}

// classWords describes each class in a few words, for people.
var classWords = map[Class]string{
	ClassRateLimit: "rate limit", ClassOverload: "service busy", ClassAuth: "not logged in", ClassBilling: "no credit",
	ClassBudget: "budget spent", ClassDayBudget: "day's budget spent", ClassLimit: "limit reached", ClassCapability: "agent not able", ClassEnvironment: "environment",
	ClassTestOnly: "checks failed", ClassImplementation: "work not done", ClassVerification: "not verified", ClassConflict: "merge conflict",
	ClassMemory: "out of memory", ClassDisk: "disk full or read-only", ClassContext: "conversation too long", ClassMCP: "tools lost",
	ClassTimeout: "took too long", ClassLost: "process lost", ClassCancelled: "stopped",
	ClassBase: "checks cannot pass", ClassUnchanged: "nothing changed", ClassUnknown: "unknown cause",
}

// Words describes the class in a few words, for people.
func (c Class) Words() string {
	if words := classWords[c]; words != "" {
		return words
	}
	return string(c)
}

// Failure says why something failed.
type Failure struct {
	Class   Class     `json:"class"`
	Text    string    `json:"text"`              // the cause, for people
	Fix     string    `json:"fix,omitempty"`     // what to do about it, if known
	RetryAt time.Time `json:"retry_at,omitzero"` // no retry before this time, if the failure has one
	Account string    `json:"account,omitempty"` // for a session: the account that failed, if it is not the agent itself
	Of      string    `json:"of,omitempty"`      // the key of the task whose budget is spent, if it is a task above this one
	Diff    string    `json:"diff,omitempty"`    // for a session whose failure is analyzed: the start of what it changed
}

// Failf returns a Failure.
func Failf(class Class, text, fix string) *Failure {
	return &Failure{Class: class, Text: text, Fix: fix}
}

// Killed returns the failure of a command that something else ended by a signal.
// It says nothing about the tree on which the command ran.
func Killed(command, signal string) *Failure {
	fix := "find out what sends this signal to commands on this machine"
	if signal == "SIGKILL" {
		fix = "the machine probably ran out of memory: lower limits.sessions or limits.memory in coppice.yaml, let the command use less, or add memory"
	}
	return Failf(ClassEnvironment, fmt.Sprintf("the command %s was killed by %s", Quote(command), signal), fix)
}

// Error implements error. An executor that knows the class returns the Failure
// itself.
func (f *Failure) Error() string {
	if f.Fix != "" {
		return f.Text + " (" + f.Fix + ")"
	}
	return f.Text
}

// FailedRequest returns a failure of work that a person waits for as an error for that
// person. Other errors stay as they are.
func FailedRequest(err error) error {
	var fail *Failure
	if !errors.As(err, &fail) {
		return err
	}
	code := EUnavailable
	if fail.Class == ClassAuth {
		code = EInvalid
	}
	return Errorf(code, "%s", fail.Text).WithFix("%s", fail.Fix)
}
