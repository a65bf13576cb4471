package api

import (
	"encoding/json"
	"time"

	"coppice"
)

// FlowMark says that a task is a flow.
type FlowMark struct {
	Kind coppice.FlowKind `json:"kind" enum:"goal,cycle,debate,batch"`
	Note string           `json:"note,omitempty" doc:"Where it is, in a line"`
}

// StepMark says that a task is a step of a flow.
type StepMark struct {
	Flow string `json:"flow" doc:"The key of the flow"`
	Key  string `json:"key" doc:"The step's own key, unique among the steps of the flow that count"`
}

// Flow is a flow in a list.
type Flow struct {
	Task  Task             `json:"task" doc:"The flow as a task, without its description"`
	Kind  coppice.FlowKind `json:"kind" enum:"goal,cycle,debate,batch"`
	Note  string           `json:"note,omitempty" doc:"Where it is, in a line"`
	Done  int              `json:"done" doc:"How many of its steps are done"`
	Steps int              `json:"steps" doc:"How many steps it has, without those that no longer count; a plan can add more"`
	Cost  float64          `json:"cost_usd" doc:"What it and everything below it have cost"`
}

// FlowPage is one page of flows, newest first.
type FlowPage struct {
	Flows []Flow `json:"flows"`
	Page
}

// FlowDetail is a flow with its steps and documents.
type FlowDetail struct {
	Task      TaskDetail       `json:"task" doc:"The flow as a task"`
	Kind      coppice.FlowKind `json:"kind" enum:"goal,cycle,debate,batch"`
	Spec      json.RawMessage  `json:"spec,omitempty" doc:"What the kind has to know, with its defaults"`
	Branch    string           `json:"branch,omitempty" doc:"The branch on which its steps land; absent if they land where the flow does"`
	Note      string           `json:"note,omitempty" doc:"Where it is, in a line"`
	Result    string           `json:"result,omitempty" doc:"Its final message, when it has ended or lands"`
	Resumes   int              `json:"resumes,omitempty" doc:"How often a person resumed it"`
	Until     time.Time        `json:"until,omitzero" doc:"When its time is over"`
	Paused    bool             `json:"paused,omitempty"`
	WrapUp    bool             `json:"wrap_up,omitempty" doc:"A person wants no further step"`
	Lands     bool             `json:"lands,omitempty" doc:"Its steps are done, and its branch lands"`
	Done      int              `json:"done" doc:"How many of its steps are done"`
	Of        int              `json:"of" doc:"How many steps count; a plan can add more"`
	Steps     []FlowStep       `json:"steps" doc:"Oldest first, with those that no longer count"`
	Documents []FlowDocument   `json:"documents" doc:"The newest version of each, by name, without the texts"`
	Metrics   FlowMetrics      `json:"metrics"`
	Outline   []FlowPart       `json:"outline" doc:"The steps that count and those that have no task yet, as a graph"`
	Cycles    []FlowCycle      `json:"cycles,omitempty" doc:"What each cycle has done; only of a cycle"`
	Rounds    []FlowRound      `json:"rounds,omitempty" doc:"The rounds of its debates, in the order in which they started"`
	Plan      string           `json:"plan,omitempty" doc:"The document with its plan; absent if there is none"`
	Verdict   string           `json:"verdict,omitempty" doc:"The document with its verdict; absent if there is none"`
	Approves  string           `json:"approves,omitempty" doc:"The document that waits for your approval: resume the flow to approve it, or comment on its lines"`
	Comments  []ReviewComment  `json:"comments,omitempty" doc:"Comments on documents, oldest first, and where their lines are now"`
	Drafts    int              `json:"drafts,omitempty" doc:"How many comments on the document that waits for your approval were not sent"`
}

// FlowPart is a part of the outline of a flow: steps that do the same work, or a step
// that has no task yet.
type FlowPart struct {
	Key   string   `json:"key" doc:"Unique in the outline"`
	Name  string   `json:"name"`
	Agent string   `json:"agent,omitempty" doc:"Who does it, as agent or agent:model, if that is known before"`
	After []string `json:"after,omitempty" doc:"The keys of the parts that come directly before it"`
	Steps []string `json:"steps,omitempty" doc:"The keys of its steps, oldest first; absent if none has a task yet"`
	Runs  int      `json:"runs,omitempty" doc:"How often it has started; a step that repeats another one does not count"`
	Most  int      `json:"most,omitempty" doc:"How often it can start; absent if that is not limited"`
	Maybe bool     `json:"maybe,omitempty" doc:"Whether it starts depends on results"`

	Status coppice.Status `json:"status,omitempty" doc:"The status of its open step, or else of its newest one; absent if none has a task yet"`
}

// FlowRound is a round of a debate.
type FlowRound struct {
	Name  string   `json:"name"`
	Tasks []string `json:"tasks" doc:"For each side, the key of the task with its newest statement; empty if it has made none"`
}

// FlowCycle says what one cycle has done.
type FlowCycle struct {
	Cycle int      `json:"cycle" doc:"From 1"`
	Found string   `json:"found,omitempty" doc:"What its review found, at most 4 KiB"`
	Done  []string `json:"done,omitempty" doc:"The milestones that the next review has checked off"`
	Left  int      `json:"left" doc:"How many milestones are open after it"`
	Of    int      `json:"of" doc:"How many milestones there are; 0 until a review has ended"`
	Known bool     `json:"known,omitempty" doc:"The next review has ended, so done and left are final"`
	None  string   `json:"none,omitempty" enum:"nothing,nothing was left to do,not reviewed yet" doc:"What people read if done is empty"`
	Steps []string `json:"steps" doc:"The keys of its steps, oldest first"`
	Cost  float64  `json:"cost_usd" doc:"What these steps have cost"`
}

// FlowStep is a step of a flow.
type FlowStep struct {
	Key       string           `json:"key" doc:"The step's own key"`
	Group     string           `json:"group,omitempty" doc:"What it shares with other steps, such as Cycle 3 or Loop 1, round 2"`
	Name      string           `json:"name" doc:"Its name in the group"`
	Phase     string           `json:"phase" doc:"The kind of work, such as review or round"`
	Side      int              `json:"side,omitempty" doc:"The side that made a statement in a round of a debate, from 1"`
	Said      *FlowStatement   `json:"said,omitempty" doc:"That statement"`
	Task      string           `json:"task" doc:"The key of its task"`
	TaskID    int64            `json:"task_id" doc:"The number that events about the task have"`
	Title     string           `json:"title"`
	State     string           `json:"state" enum:"open,done,failed,cancelled"`
	Status    coppice.Status   `json:"status" doc:"The status of its task"`
	Waits     string           `json:"waits,omitempty" doc:"Why an open step does not work"`
	Fix       string           `json:"fix,omitempty" doc:"What a person can do about that"`
	Says      string           `json:"says,omitempty" doc:"What its session said or did last, in one line"`
	Agent     string           `json:"agent"`
	Model     string           `json:"model,omitempty"`
	Cost      float64          `json:"cost_usd" doc:"What it and the tasks below it have cost"`
	CreatedAt time.Time        `json:"created_at"`
	Started   time.Time        `json:"started,omitzero" doc:"When its first session started"`
	Ended     time.Time        `json:"ended,omitzero"`
	Took      coppice.Duration `json:"took" doc:"How long its sessions worked"`
	Landed    string           `json:"landed,omitempty" doc:"The commit of its work"`
	Result    string           `json:"result,omitempty" doc:"What an ended step says, at most 4 KiB"`
	Below     string           `json:"below,omitempty" doc:"The key of the step whose task it is below; absent if that is the flow"`
	Left      bool             `json:"left,omitempty" doc:"It no longer counts, because a person resumed the flow before it"`
	Resumes   bool             `json:"can_resume,omitempty" doc:"The flow can be resumed from it now"`

	Saw map[string]int64 `json:"saw,omitempty" doc:"The versions of the documents that its description contains"`
}

// FlowStatement is what a side of a debate said in a round. Each text has at most 4 KiB.
type FlowStatement struct {
	Verdict  string `json:"verdict" enum:"agree,disagree,partial"`
	Summary  string `json:"summary"`
	Position string `json:"position"`
	Changed  string `json:"changed,omitempty" doc:"What changed the side's view"`
}

// FlowDocument is a version of a document of a flow.
type FlowDocument struct {
	Name    string    `json:"name"`
	Version int64     `json:"version" doc:"From 1; each write adds one"`
	Size    int64     `json:"size" doc:"Bytes of the text"`
	By      string    `json:"by" doc:"Who wrote it: person, engine:flow, or session: and the session's key"`
	At      time.Time `json:"at"`
	Step    string    `json:"step,omitempty" doc:"The key of the step whose result it is"`
	Text    string    `json:"text,omitempty" doc:"Absent in a list, and if it is empty"`
}

// DocumentVersions are the versions of a document that are kept.
type DocumentVersions struct {
	Versions []FlowDocument `json:"versions" doc:"The newest first, without the texts"`
}

// DocumentWrite writes a document of a flow.
type DocumentWrite struct {
	Text      string `json:"text" doc:"The text, at most 256 KiB"`
	IfVersion *int64 `json:"if_version,omitempty" minimum:"0" doc:"The version that you have changed; 0 means that the document must not exist. The write is refused if the document has another one. Without it, the text becomes the newest version"`
}

// FlowMetrics say where the time and the money of a flow went. Steps that no longer
// count are included.
type FlowMetrics struct {
	Queued coppice.Duration `json:"queued" doc:"How long steps waited for their first session, in total"`
	Worked coppice.Duration `json:"worked" doc:"How long the sessions of steps worked, in total"`
	Cost   float64          `json:"cost_usd" doc:"What the flow and everything below it have cost"`
	Phases []FlowPhase      `json:"phases" doc:"In the order in which they started"`
}

// FlowPhase is the steps of a flow whose keys name the same phase.
type FlowPhase struct {
	Name   string           `json:"name"`
	Steps  int              `json:"steps"`
	Queued coppice.Duration `json:"queued"`
	Worked coppice.Duration `json:"worked"`
	Cost   float64          `json:"cost_usd"`
}
