package api

import (
	"time"

	"coppice"
)

// Review is a task's change as a person reads it: its files, what changed in
// them, and the comments on it.
type Review struct {
	Task       string          `json:"task" doc:"The task's key"`
	Base       string          `json:"base" doc:"The commit that the change starts from; empty if there is no change yet"`
	Head       string          `json:"head" doc:"The commit that is reviewed: the candidate, or the head of the task's branch"`
	Files      []ReviewFile    `json:"files"`
	Comments   []ReviewComment `json:"comments" doc:"Oldest first"`
	Viewed     int             `json:"viewed" doc:"How many of the files you have viewed"`
	Drafts     int             `json:"drafts" doc:"How many comments the agent has not received"`
	Approved   string          `json:"approved_by,omitempty" doc:"Who approved this head"`
	ApprovedAt time.Time       `json:"approved_at,omitzero"`
	Landing    int64           `json:"landing,omitempty" doc:"The id of the landing of this head; absent if it has none"`
	Checks     []Check         `json:"checks" doc:"The newest result of each check on the merged tree of that landing, without the logs"`
	Judged     string          `json:"judged_by,omitempty" doc:"The key of the newest verifier that judged a candidate of that landing"`
	Follows    string          `json:"follows,omitempty" doc:"What follows if comments are sent now"`
	Refused    string          `json:"refused,omitempty" doc:"Why comments cannot be sent now, and what to do instead"`
}

// The kinds of change of a file.
const (
	FileAdded   = "added"
	FileChanged = "changed"
	FileRemoved = "removed"
	FileRenamed = "renamed"
)

// ReviewFile is a file that a change touches.
type ReviewFile struct {
	Path    string `json:"path"`
	OldPath string `json:"old_path,omitempty" doc:"Before the change, if it was renamed"`
	Kind    string `json:"kind" enum:"added,changed,removed,renamed"`
	Added   int    `json:"added" doc:"Lines"`
	Removed int    `json:"removed" doc:"Lines"`
	Binary  bool   `json:"binary,omitempty" doc:"It has no lines"`
	Large   bool   `json:"large,omitempty" doc:"It has more than 512 KiB or 5,000 changed lines; its hunks are left out"`
	Blob    string `json:"blob" doc:"The git id of its content; of the old content if it was removed"`
	Viewed  bool   `json:"viewed" doc:"You have viewed this content"`
	LeftOut bool   `json:"left_out,omitempty" doc:"Its hunks are not part of this response; request them with path"`
	Hunks   []Hunk `json:"hunks,omitempty"`
}

// Hunk is a part of a file in which lines changed, with the lines around them.
type Hunk struct {
	Old     int        `json:"old" doc:"Its first line before the change"`
	New     int        `json:"new" doc:"Its first line after the change"`
	Section string     `json:"section,omitempty" doc:"The function or heading that it is in"`
	Lines   []DiffLine `json:"lines"`
}

// The kinds of line of a hunk.
const (
	LineSame    = "same"
	LineAdded   = "added"
	LineRemoved = "removed"
)

// DiffLine is one line of a hunk.
type DiffLine struct {
	Kind  string `json:"kind" enum:"same,added,removed"`
	Old   int    `json:"old,omitempty" doc:"Its number before the change"`
	New   int    `json:"new,omitempty" doc:"Its number after the change"`
	Text  string `json:"text"`
	NoEnd bool   `json:"no_end,omitempty" doc:"It is the last line of its file and has no line break"`
}

// ReviewText is a file of a change, whole.
type ReviewText struct {
	Path string  `json:"path"`
	Blob string  `json:"blob" doc:"The blob of the file, as the review has it"`
	Old  *string `json:"old,omitempty" doc:"Its text before the change; left out if it did not exist"`
	New  *string `json:"new,omitempty" doc:"Its text after the change; left out if it was removed"`
}

// ReviewComment is a comment, and where its code is now.
type ReviewComment struct {
	coppice.Comment
	At       *Place `json:"at,omitempty" doc:"Where its code is now"`
	File     string `json:"file,omitempty" doc:"The path of the file of the change that it is about; absent if the change does not touch that file any more"`
	Outdated bool   `json:"outdated,omitempty" doc:"Its code is not in the file any more; code has it"`

	Can []coppice.CommentVerb `json:"can,omitempty" enum:"edit,delete,resolve,reopen" doc:"What can be done with it now"`
}

// Place is a range of lines of a file.
type Place struct {
	Path  string `json:"path"`
	First int    `json:"first"`
	Last  int    `json:"last"`
}

// NewComment is a person's comment on lines of a task's change or of a flow's document.
// The server reads the code that it is about.
type NewComment struct {
	Path  string       `json:"path" minLength:"1" maxLength:"4096"`
	Side  coppice.Side `json:"side,omitempty" enum:"old,new,document" doc:"The file before or after the change, or the document of a flow that path names; the default is new"`
	First int          `json:"first" minimum:"1" doc:"Its first line, counted from 1"`
	Last  int          `json:"last,omitempty" minimum:"0" doc:"Its last line; the default is the first one"`
	Text  string       `json:"text" minLength:"1"`
}

// CommentChange changes a comment. A nil field stays as it is.
type CommentChange struct {
	Text     *string `json:"text,omitempty" doc:"Makes it a draft again"`
	Resolved *bool   `json:"resolved,omitempty" doc:"Whether you are satisfied; only for a comment that was sent"`
}

// ViewedFile says whether a person has viewed a content of a file.
type ViewedFile struct {
	Path   string `json:"path" minLength:"1" maxLength:"4096"`
	Blob   string `json:"blob" maxLength:"64" doc:"The blob of the file, as the review has it"`
	Viewed bool   `json:"viewed"`
}

// ReviewPart says which part of a review is requested.
type ReviewPart struct {
	FilesOnly bool   // the files without their hunks
	Path      string // only this file
}
