package coppice

import (
	"encoding/json"
	"time"
)

// FlowKind is a kind of flow. Package flow has the plan of each.
type FlowKind string

// The kinds of flow.
const (
	FlowGoal   FlowKind = "goal"   // a lead hands out work, and the result is verified as a whole
	FlowCycle  FlowKind = "cycle"  // assess, then review and implement until the plan is done
	FlowDebate FlowKind = "debate" // two agents discuss until they agree
	FlowBatch  FlowKind = "batch"  // a list of tasks
)

// FlowKinds lists the kinds of flow.
var FlowKinds = []FlowKind{FlowGoal, FlowCycle, FlowDebate, FlowBatch}

// Flow makes a task a flow: its work is done by other tasks, its steps. Its kind
// plans them. The steps are the tasks below it with a Step. Everything else that a
// flow needs is what any task has: a key, a budget for itself and the tasks below
// it, dependencies, a group, a landing, requests and a status.
type Flow struct {
	Kind FlowKind        `json:"kind"`
	Spec json.RawMessage `json:"spec,omitempty"` // what the kind has to know

	// Agents are those that the project could use when the flow was created, the best
	// lead first. A plan depends on facts only, so it does not look for programs.
	Agents []FlowAgent `json:"agents,omitempty"`

	// Branch says that the steps land on the flow's own branch, which starts at the
	// tip of the branch on which the flow lands. Otherwise they land there.
	Branch  bool      `json:"branch,omitempty"`
	Start   string    `json:"start,omitempty"`    // the commit at which that branch started; empty until it exists
	Dropped time.Time `json:"dropped,omitzero"`   // when it was removed
	DropRef string    `json:"drop_ref,omitempty"` // the ref of the trash to which it is being removed; a failed removal might have had its effect, so it is repeated with the same ref
	Time    Duration  `json:"time,omitempty"`     // how long the whole flow can take; 0 means no limit
	Until   time.Time `json:"until,omitzero"`     // when that time is over, from its first step on
	WrapUp  bool      `json:"wrap_up,omitempty"`  // a person wants to land what is proven, and no further step
	Paused  bool      `json:"paused,omitempty"`   // a person paused it
	Lands   bool      `json:"lands,omitempty"`    // its steps are done, and its branch lands
	Works   int       `json:"works,omitempty"`    // number of work items for its branch; names the next one
	Tries   int       `json:"tries,omitempty"`    // how often they failed in a row
	Resumes int       `json:"resumes,omitempty"`  // how often a person resumed it
	// Left has the ids of steps that no longer count, because a person resumed the
	// flow before them.
	Left   []int64 `json:"left,omitempty"`
	Note   string  `json:"note,omitempty"`   // where it is, in a line
	Result string  `json:"result,omitempty"` // its final words, when it has ended or lands
}

// FlowAgent is an agent that a flow can use.
type FlowAgent struct {
	Name   string `json:"name"`
	Scores Scores `json:"scores"`
	// Limited says that its account was limited when the flow was created: it is chosen
	// only if a person names it, or if there is no other.
	Limited bool `json:"limited,omitempty"`
}

// Step says that a task is a step of a flow.
type Step struct {
	Flow int64  `json:"flow"` // the id of the flow, which is above it, perhaps with a step in between
	Key  string `json:"key"`  // unique among the steps of the flow that count
	// Saw has the versions of the documents that its description contains.
	Saw map[string]int64 `json:"saw,omitempty"`
}

// MaxDocument limits a document of a flow, in bytes. MaxDocuments limits how many
// documents it has, and MaxVersions how many versions of each are kept.
const (
	MaxDocument  = 256 << 10
	MaxDocuments = 200
	MaxVersions  = 100
)

// Document is one version of a text that belongs to a flow, such as its plan. People
// and steps write it. A version is never changed.
type Document struct {
	ID      int64     `json:"id"`
	TaskID  int64     `json:"task_id"` // the flow
	Name    string    `json:"name"`
	Version int64     `json:"version"` // from 1
	Text    string    `json:"text"`    // empty in a list
	Size    int64     `json:"size"`    // bytes of the text
	By      Actor     `json:"by"`
	Step    string    `json:"step,omitempty"` // the key of the step whose result it is
	At      time.Time `json:"at"`
}

// DocumentChange says what an EventDocument is about. It does not have the text.
type DocumentChange struct {
	Name    string `json:"name"`
	Version int64  `json:"version"`
}

// DocumentConflict returns the error of a write that expected another version of a
// document. A version of 0 means that there is none.
func DocumentConflict(name string, expected, current int64) error {
	return Errorf(EConflict, "the document %s has version %d, not %d", name, current, expected).
		WithField("if_version").WithFix("read the document again, and change that version")
}

// IsFlow reports whether the task is a flow.
func (t Task) IsFlow() bool { return t.Flow != nil }

// Planned reports whether the task is a flow that its kind plans: it does not land
// yet.
func (t Task) Planned() bool { return t.Flow != nil && !t.Flow.Lands }

// FlowBranch returns the branch on which the steps of a flow land; empty if they land
// where the flow does.
func (t Task) FlowBranch() string {
	if t.Flow == nil || !t.Flow.Branch {
		return ""
	}
	return TaskBranch(t.Key)
}
