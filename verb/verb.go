// Package verb describes the requests to a task. One table says for each verb
// when it applies, which arguments it takes, who can use it, which open requests
// it withdraws, and its texts for people. The engine, the HTTP routes, the
// client, the command line and the dashboard read this table.
package verb

import (
	"slices"
	"time"

	"coppice"
)

// Info describes one verb.
type Info struct {
	Verb coppice.Verb
	// Event is the event of a request with the verb.
	Event coppice.EventKind
	// Reason is the reason of that event if the request has no text.
	Reason string
	// Text names the text argument in requests; "" if the verb has none.
	Text string
	// Staff says that a request can name an agent, a model and an effort.
	Staff bool
	// Images says that images can belong to the text.
	Images bool
	// Head says that a request can name the commit that the person has read.
	Head bool
	// By lists who can use the verb besides a person.
	By []coppice.ActorKind
	// Withdraws lists the verbs whose open requests this one withdraws.
	Withdraws []coppice.Verb
	// Fits says why the verb does not apply to a task now; nil if it does.
	Fits func(Facts) error
	// Check says why a request is not valid for a task to which the verb
	// applies. Optional.
	Check func(Facts, Request) error
	// Hidden says that the dashboard does not offer the verb although it
	// applies. Optional.
	Hidden func(Facts) bool
	// Primary says that it is what a person most likely wants if the dashboard
	// offers it. Optional.
	Primary func(Facts) bool

	Route   Route
	Command Command
	Button  Button
}

// Route describes the verb's endpoint, /tasks/{key}/<verb>.
type Route struct {
	ID    string // the operation's id; "" if the verb has no endpoint of this form
	About string
}

// Command describes the verb on the command line.
type Command struct {
	Name                      string // below coppice, if it is not the name of the verb
	Use, Short, Long, Example string
	Many                      bool             // it takes several keys; the dashboard offers it for selected tasks
	All                       []coppice.Status // the statuses of the tasks that --all selects; empty if there is no --all
	Note                      string           // the help of --note, if the text is a flag
	Done                      string           // printed for each task
}

// Button describes the verb in the dashboard.
type Button struct {
	Name   string
	About  string
	Prompt string // asks for the text; "" if there is none
	Bare   bool   // it can be run without asking for the text
	Danger bool
	More   bool // it is behind "More"
	Done   string
	// Undo is the verb that undoes it. The message that it was done offers it.
	Undo coppice.Verb
	// Required says that the text cannot be empty.
	Required bool
	// Method and Path are those of its route below the task, if it is not a POST
	// to the name of the verb.
	Method, Path string
}

// Facts are what the table decides by. Session, Landing and Asks can be
// outdated: the engine checks again in the transaction that stores the request.
type Facts struct {
	Now     time.Time
	Task    coppice.Task
	Session *coppice.Session // the newest
	Landing *coppice.Landing // the newest
	Asks    []coppice.Ask    // the open requests
	Branch  bool             // the task has a branch, or its trash has one
	// Conversation says that a session has a conversation that can continue.
	Conversation bool
	Moving       bool // the base is being moved to its commit, or might have been

	Pull *coppice.PullMark // its pull request; nil if it has none

	Serves    bool             // the project says how its app is served
	Workspace bool             // the task has a workspace that is not being removed
	Trashed   bool             // its workspace is in the trash
	Preview   *coppice.Preview // the newest
}

// Request is a request, without its verb.
type Request struct {
	Text   string
	Staff  coppice.Staff
	Images []string // ids of uploaded images, for a verb with Images
	Head   string   // the commit that the person has read, or its first characters, for a verb with Head
}

// Of returns the description of a verb, or nil.
func Of(v coppice.Verb) *Info {
	for i := range Table {
		if Table[i].Verb == v {
			return &Table[i]
		}
	}
	return nil
}

// May reports whether an author can use the verb.
func (i *Info) May(by coppice.Actor) bool {
	return by.Kind == coppice.ActorPerson || slices.Contains(i.By, by.Kind)
}

// asked reports whether an open request has one of the verbs.
func (f Facts) asked(verbs ...coppice.Verb) bool { return coppice.Asked(f.Asks, verbs...) != nil }

// live returns the running session, or nil.
func (f Facts) live() *coppice.Session {
	if f.Task.Stage != coppice.StageSession || f.Session == nil || !f.Session.State.Live() {
		return nil
	}
	return f.Session
}

// Candidate returns the open landing of the task's current round, or nil.
func (f Facts) Candidate() *coppice.Landing {
	if l := f.Landing; l != nil && l.Round == f.Task.Round && l.EndedAt.IsZero() {
		return l
	}
	return nil
}

// reverting reports whether the task's landing is being taken off its branch, or
// soon will be, or will be when a person has decided about a check.
func (f Facts) reverting() bool {
	l := f.Candidate()
	return l != nil && l.Reverts != "" || f.asked(coppice.VerbRevert) || Blocked(f) && f.Landing.Reverts != ""
}

// PutOff reports whether the task's landing was postponed. A person can retry it
// immediately.
func (f Facts) PutOff() bool {
	t, l := f.Task, f.Candidate()
	return (t.Stage == coppice.StageChecking || t.Stage == coppice.StageLanding) && l != nil && l.RetryAt.After(f.Now)
}
