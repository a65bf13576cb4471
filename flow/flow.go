// Package flow plans. A flow is a task whose work is done by other tasks, its steps.
// The engine calls Next of the flow's kind after every change, and carries out what
// it returns: it creates steps, stores documents, and lands or ends the flow.
//
// A plan depends only on the View, so after a crash Next returns the same plan. A
// step whose key exists is not created again. Nothing here uses a clock, a file or
// the network.
package flow

import (
	"encoding/json"
	"fmt"
	"strings"

	"coppice"
)

// Kind is a kind of flow.
type Kind interface {
	// Check returns why a spec is not valid, with the field and a fix. It also fills
	// in the defaults: what it returns is stored.
	Check(spec json.RawMessage, agents []Agent) (json.RawMessage, error)
	// Branch reports whether the steps land on the flow's own branch.
	Branch(spec json.RawMessage) bool
	// Next returns what follows.
	Next(View) (Plan, error)
	// Outline returns the steps as parts, with those that can follow: see the function
	// of this name.
	Outline(View) ([]Part, error)
}

// kinds has the kinds of flow.
var kinds = map[coppice.FlowKind]Kind{}

// Of returns the kind of a name. It fails with code invalid.
func Of(name coppice.FlowKind) (Kind, error) {
	if k := kinds[name]; k != nil {
		return k, nil
	}
	return nil, coppice.Errorf(coppice.EInvalid, "there is no kind of flow %s", coppice.Quote(string(name))).
		WithFix("use one of: %s", joinKinds()).WithField("kind")
}

// Agent is an agent that the flow can use.
type Agent = coppice.FlowAgent

// View is what a kind sees: the flow and its steps, at one moment.
type View struct {
	Key, Title, Body string
	Spec             json.RawMessage
	Steps            []Step                      // those that count, oldest first
	Docs             map[string]coppice.Document // the newest version of each, with its text
	Asks             []coppice.Ask               // open requests of the flow's sessions, oldest first
	WrapUp           bool                        // a person wants no further step
	Resumes          int                         // how often a person resumed the flow, also to approve what it waited for
	Agents           []Agent                     // the best lead first
	// Prompts has the project's own texts of prompts, by name.
	Prompts map[string]string
}

// Step is a step as its flow sees it.
type Step struct {
	Key     string
	Task    string          // the key of its task
	Title   string          // of its task
	State   State           // open, or how it ended
	Waits   string          // why an open step does not work; empty if it does
	Result  string          // what an ended step says: its answer or final message, or why it failed
	Answer  json.RawMessage // of a step that asked for JSON, if it is done
	Landed  string          // the commit, if its work landed
	Class   coppice.Class   // of a step that failed
	Agent   string
	Model   string
	CostUSD float64
	Saw     map[string]int64 // the versions of documents that its description contains
}

// State is the state of a step.
type State string

// The states of a step.
const (
	Open      State = "open"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Plan is what follows. Its zero value means that the flow waits for its steps.
type Plan struct {
	Steps  []NewStep
	Docs   []NewDoc
	Stop   []string  // keys of open steps that are no longer needed
	Settle []Settled // requests that the plan has taken into account
	Note   string    // where the flow is, in a line for people
	Block  *Block    // it cannot continue without a person
	End    *End      // it has ended, or lands
}

// NewStep is a step to create.
type NewStep struct {
	Key  string
	Task coppice.NewTask
	Saw  []string // the documents that its description contains
	// Below is the key of the step whose task the new one is below; empty for the
	// flow itself.
	Below string
}

// NewDoc is a version of a document. If the document's current version is not After,
// the plan is refused and the flow waits for a person: the text is made from another
// version and would replace what somebody wrote.
type NewDoc struct {
	Name, Text string
	After      int64
	Step       string
}

// Settled is a request that a plan has taken into account.
type Settled struct {
	ID      int64
	Outcome string
}

// Block says why a flow cannot continue without a person.
type Block struct {
	Class coppice.Class
	Text  string
	Fix   string
}

// End says how a flow ends.
type End struct {
	// Failed says that it did not reach its goal. Its branch stays for a person.
	Failed bool
	// Land says that what is on the flow's branch lands. The flow is done when it has.
	Land   bool
	Result string
}

// Step returns a step by its key, or nil.
func (v View) Step(key string) *Step {
	for i := range v.Steps {
		if v.Steps[i].Key == key {
			return &v.Steps[i]
		}
	}
	return nil
}

// Next returns the plan of a flow. A kind that panics blocks its own flow, and no
// other.
func Next(kind coppice.FlowKind, v View) (p Plan, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = Plan{}, fmt.Errorf("flow: the plan of a %s panicked: %v", kind, r)
		}
	}()
	k, err := Of(kind)
	if err != nil {
		return Plan{}, err
	}
	return k.Next(v)
}

func joinKinds() string {
	names := make([]string, len(coppice.FlowKinds))
	for n, k := range coppice.FlowKinds {
		names[n] = string(k)
	}
	return strings.Join(names, ", ")
}
