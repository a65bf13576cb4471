// Package verb describes what can be asked of a task: one table says for each
// verb when it fits, which arguments it takes, who may use it, which open
// requests it withdraws, and its words for people. The engine, the HTTP routes,
// the client, the command line and the dashboard read this table.
package verb

import (
	"slices"
	"time"

	"coppice"
)

// Info describes one verb.
type Info struct {
	Verb coppice.Verb
	// Event is what the log says when the verb is asked for.
	Event coppice.EventKind
	// Reason is the reason of that event where the request has no text.
	Reason string
	// Text names the text argument in requests, "" when the verb takes none.
	Text string
	// Staff says that an agent and a model can be named.
	Staff bool
	// By lists who may use the verb besides a person.
	By []coppice.ActorKind
	// Withdraws lists the verbs whose open requests this one withdraws.
	Withdraws []coppice.Verb
	// Fits says why a task cannot be asked for this now, nil when it can.
	Fits func(Facts) error
	// Check says why a request is invalid for a task that it fits. Optional.
	Check func(Facts, Request) error
	// Hidden says that the dashboard does not offer the verb though it fits.
	// Optional.
	Hidden func(Facts) bool

	Route   Route
	Command Command
	Button  Button
}

// Route describes the verb's endpoint, /tasks/{key}/<verb>.
type Route struct {
	ID    string // the operation's id; "" when the verb has no endpoint of this form
	About string
}

// Command describes the verb on the command line.
type Command struct {
	Use, Short, Long, Example string
	Many                      bool   // it takes several keys
	Note                      string // the help of --note, where the text is a flag
	Done                      string // what is printed about a task that was asked
}

// Button describes the verb in the dashboard.
type Button struct {
	Name   string
	About  string
	Prompt string // what the text is, "" when none is asked for
	Bare   bool   // the palette offers it without its text too
	Danger bool
	More   bool // stands behind "More"
	Done   string
}

// Facts are what a verb is judged by. Session, Landing and Asks may be those of
// an older moment: the engine judges again in the transaction that stores the
// request.
type Facts struct {
	Now     time.Time
	Task    coppice.Task
	Session *coppice.Session // the newest
	Landing *coppice.Landing // the newest
	Asks    []coppice.Ask    // the open ones
	Branch  bool             // the task has a branch, or its trash does
	Moving  bool             // the base is being moved to its commit, or may have been
}

// Request is what is asked, besides the verb.
type Request struct {
	Text  string
	Staff coppice.Staff
}

// Of returns the description of a verb, nil when there is none.
func Of(v coppice.Verb) *Info {
	for i := range Table {
		if Table[i].Verb == v {
			return &Table[i]
		}
	}
	return nil
}

// May tells whether an author may use the verb.
func (i *Info) May(by coppice.Actor) bool {
	return by.Kind == coppice.ActorPerson || slices.Contains(i.By, by.Kind)
}

// Can lists the verbs that the dashboard offers for a task.
func Can(f Facts) []coppice.Verb {
	var can []coppice.Verb
	for _, i := range Table {
		if i.Fits(f) == nil && (i.Hidden == nil || !i.Hidden(f)) {
			can = append(can, i.Verb)
		}
	}
	return can
}

// asked tells whether an open request has one of the verbs.
func (f Facts) asked(verbs ...coppice.Verb) bool { return coppice.Asked(f.Asks, verbs...) != nil }

// live returns the running session, nil when none runs.
func (f Facts) live() *coppice.Session {
	if f.Task.Stage != coppice.StageSession || f.Session == nil || !f.Session.State.Live() {
		return nil
	}
	return f.Session
}

// PutOff tells whether the task's landing was put off. A person may have it
// tried at once.
func (f Facts) PutOff() bool {
	t, l := f.Task, f.Landing
	return (t.Stage == coppice.StageChecking || t.Stage == coppice.StageLanding) &&
		l != nil && l.Round == t.Round && l.EndedAt.IsZero() && l.RetryAt.After(f.Now)
}
