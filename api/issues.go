package api

import (
	"time"

	"coppice"
)

// Issues are the sources of issues of a project, and the issues that wait or became tasks.
type Issues struct {
	Sources []IssueSource `json:"sources" doc:"The entries of tracker in coppice.yaml"`
	Issues  []Issue       `json:"issues" doc:"Newest first"`
	Page
}

// IssueSource is a source of issues.
type IssueSource struct {
	Name     string           `json:"name"`
	Kind     string           `json:"kind" doc:"auto is the project's forge"`
	Active   int              `json:"active" doc:"Its tasks that are active"`
	Most     int              `json:"most" doc:"How many can be active at the same time"`
	Waiting  int              `json:"waiting" doc:"Its issues that wait to become tasks"`
	Matching int              `json:"matching" doc:"Its open issues that matched in the last full pass"`
	Manual   bool             `json:"manual,omitempty" doc:"Only people import its issues"`
	Text     string           `json:"text,omitempty" doc:"How many issues wait, and why"`
	ReadAt   time.Time        `json:"read_at,omitzero" doc:"When it was last read"`
	NextAt   time.Time        `json:"next_at,omitzero" doc:"When it is read next"`
	Failure  *coppice.Failure `json:"failure,omitempty" doc:"Why it could not be read"`
	Problem  string           `json:"problem,omitempty" doc:"Why none of its issues becomes a task"`
}

// Issue is an issue of a tracker.
type Issue struct {
	ID       int64               `json:"id" doc:"Its place in the list"`
	Tracker  string              `json:"tracker" doc:"The name of the source"`
	Issue    string              `json:"issue" doc:"How the tracker names it: 123, or ENG-12"`
	Name     string              `json:"name" doc:"How people call it: #123, or ENG-12"`
	Title    string              `json:"title"`
	URL      string              `json:"url,omitempty"`
	Author   string              `json:"author,omitempty"`
	Closed   bool                `json:"closed,omitempty"`
	Status   coppice.IssueStatus `json:"status,omitempty" enum:"waiting,working,review,done,failed,stopped" doc:"Of its task; absent while it waits to become one"`
	Task     string              `json:"task,omitempty" doc:"The key of its task"`
	Why      string              `json:"why,omitempty" doc:"Why it waits, or what a person has to decide about it"`
	Problem  string              `json:"problem,omitempty" doc:"Why its status could not be written"`
	Held     bool                `json:"held,omitempty" doc:"Its text changed in the tracker, and a person has to accept that"`
	Reopened bool                `json:"reopened,omitempty" doc:"Somebody reopened it after its task had ended; it can be imported again"`
	Can      []string            `json:"can" enum:"import,accept" doc:"What a person can request now"`
	EndedAt  time.Time           `json:"ended_at,omitzero"`
}

// IssueTexts are the texts of an issue that somebody changed whose edits do not count.
type IssueTexts struct {
	Task    IssueText `json:"task" doc:"What the task has"`
	Tracker IssueText `json:"tracker" doc:"What the task gets if a person accepts it"`
}

// IssueText is the title and the description of an issue.
type IssueText struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// ImportIssues asks for the tasks of issues.
type ImportIssues struct {
	Tracker string           `json:"tracker,omitempty" maxLength:"64" doc:"The name of the source; needed if several can have the issues"`
	Issues  []string         `json:"issues" minItems:"1" maxItems:"100" doc:"As 123, #123, ENG-12 or an address"`
	Task    *coppice.NewTask `json:"task,omitempty" doc:"Fields of the tasks, such as agent and priority; the title and the description are those of the issue"`
}

// AcceptIssue accepts the text of an issue that somebody changed.
type AcceptIssue struct {
	Tracker string `json:"tracker,omitempty" maxLength:"64"`
	Issue   string `json:"issue" maxLength:"500"`
}
