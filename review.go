package coppice

import (
	"slices"
	"strings"
	"time"
)

// Limits of review comments.
const (
	MaxComment      = 4 << 10  // bytes of a comment's text
	MaxComments     = 200      // comments of a task
	MaxCommentLines = 500      // lines that one comment is about
	MaxCommentCode  = 64 << 10 // bytes of these lines
)

// Side is the version of a file that a comment is about.
type Side string

// The sides of a change.
const (
	SideOld Side = "old" // before the change
	SideNew Side = "new" // after it
	// SideDocument means that the comment is about a document of a flow: Path is its
	// name, and Blob the version.
	SideDocument Side = "document"
)

// Reviewing says whether a person can review the change of a task. It is empty if
// there is none.
type Reviewing string

// What a review is for a task.
const (
	ReviewPossible Reviewing = "possible"
	ReviewWanted   Reviewing = "wanted" // the task waits for it
)

// CommentState says where a comment is between its author and the agent.
type CommentState string

// The states of a comment.
const (
	CommentDraft    CommentState = "draft"    // the agent has not received it
	CommentSent     CommentState = "sent"     // the agent has it, or its next session will
	CommentResolved CommentState = "resolved" // a person is satisfied
)

// CommentVerb is something that a person can do with a comment.
type CommentVerb string

// What can be done with a comment.
const (
	CommentEdit    CommentVerb = "edit"
	CommentDelete  CommentVerb = "delete"
	CommentResolve CommentVerb = "resolve"
	CommentReopen  CommentVerb = "reopen"
)

// Can lists what is offered for a comment in this state, in order.
func (s CommentState) Can() []CommentVerb {
	return map[CommentState][]CommentVerb{
		CommentDraft: {CommentEdit, CommentDelete}, CommentSent: {CommentResolve, CommentEdit}, CommentResolved: {CommentReopen},
	}[s]
}

// Comment is a person's remark on lines of a task's change, or of a flow's document. The server reads Blob
// and Code when the comment is written, so the code that it is about is known
// even after the file has changed.
type Comment struct {
	ID         int64        `json:"id"`
	TaskID     int64        `json:"task_id"`
	Path       string       `json:"path"`
	Side       Side         `json:"side"`
	First      int          `json:"first"` // its first line, counted from 1
	Last       int          `json:"last"`  // and its last
	Blob       string       `json:"blob"`  // the git id of the file's content
	Code       string       `json:"code"`  // the lines, each with its line break
	Text       string       `json:"text"`
	By         string       `json:"by"`
	State      CommentState `json:"state"`
	MessageID  int64        `json:"message_id,omitempty"` // the message with which it was sent
	CreatedAt  time.Time    `json:"created_at"`
	SentAt     time.Time    `json:"sent_at,omitzero"`
	ResolvedAt time.Time    `json:"resolved_at,omitzero"`
}

// Viewed says that a person has viewed a content of a file of a task's change. A
// file with another content is not viewed.
type Viewed struct {
	TaskID int64  `json:"task_id"`
	By     string `json:"by"`
	Path   string `json:"path"`
	Blob   string `json:"blob"`
}

// Find returns where the code of a comment is in a content of its file: at the
// same lines of the same blob, or else at the nearest exact match. It reports
// false if the content does not have the code.
func (c Comment) Find(blob, content string) (first, last int, ok bool) {
	if blob == c.Blob {
		return c.First, c.Last, true
	}
	code, lines := SplitLines(c.Code), SplitLines(content)
	best := -1
	for at := 0; at+len(code) <= len(lines) && len(code) > 0; at++ {
		if slices.Equal(lines[at:at+len(code)], code) && (best < 0 || apart(at+1, c.First) < apart(best+1, c.First)) {
			best = at
		}
	}
	return best + 1, best + len(code), best >= 0
}

func apart(a, b int) int { return max(a-b, b-a) }

// SplitLines splits a text into lines without their line breaks.
func SplitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
