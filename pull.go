package coppice

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// PullState is the state of a pull request on its forge.
type PullState string

// The states of a pull request.
const (
	PullOpen   PullState = "open"
	PullMerged PullState = "merged"
	PullClosed PullState = "closed" // without being merged
)

// CIState is the result of the checks that the forge runs on a commit.
type CIState string

// The results of CI. A commit without any check has none.
const (
	CINone    CIState = ""
	CIPending CIState = "pending"
	CIPassed  CIState = "passed"
	CIFailed  CIState = "failed"
)

// ReviewState is what the people who reviewed a pull request decided.
type ReviewState string

// The states of a review. The newest review of each person counts.
const (
	ReviewNone     ReviewState = ""
	ReviewApproved ReviewState = "approved"
	ReviewChanges  ReviewState = "changes" // somebody requested changes
)

// The limits of what Coppice keeps of a pull request.
const (
	MaxPullText     = 32 << 10 // bytes of a description
	MaxPullComment  = 4 << 10  // bytes of a comment
	MaxPullComments = 50       // comments and reviews; the newest
	MaxPullChecks   = 50       // checks of CI
	MaxPullLog      = 8 << 10  // bytes of the end of a failed job's log
)

// Pull is the pull request of a task. GitLab calls it a merge request. It belongs
// to its task, and a task has at most one.
type Pull struct {
	ID        int64     `json:"-"`
	ProjectID int64     `json:"-"`
	TaskID    int64     `json:"-"`
	Number    int       `json:"number"`            // 0 before the forge has it
	HotUntil  time.Time `json:"-"`                 // it is read in every pass until then; see ForgeRow
	EndedAt   time.Time `json:"ended_at,omitzero"` // when Coppice read that it was merged or closed
	PullDetails
}

// PullDetails are the fields of a pull request that no query uses.
type PullDetails struct {
	URL       string    `json:"url,omitempty"`
	Branch    string    `json:"branch"` // the branch with the work, on the forge
	Base      string    `json:"base"`   // the branch at which it aims
	CreatedAt time.Time `json:"created_at"`
	Adopted   bool      `json:"adopted,omitempty"` // somebody else opened it, and a task continues it
	Asked     bool      `json:"asked,omitempty"`   // a person asked to open it for a task that failed

	// Pushed is the commit that Coppice pushed to the branch, or saw there when it
	// adopted the request. A push replaces only this commit.
	Pushed string `json:"pushed,omitempty"`
	// Before is the number of the task's request before this one, which has ended.
	Before int `json:"before,omitempty"`
	// Closed says that it was closed. Nobody reads it on the forge any more, so somebody
	// can have opened it again and merged it.
	Closed bool `json:"closed,omitempty"`
	// Left is the commit that an earlier request of the task left on the branch. The
	// first push replaces it.
	Left string `json:"left,omitempty"`
	// Keep is the newest commit of somebody else that was on the branch. Every push
	// contains it.
	Keep    string `json:"keep,omitempty"`
	Written string `json:"written,omitempty"` // the mark of the PullText that the forge has; see PullText.Mark

	// MergeBy asked to merge it, at MergeHead. Empty if nobody did.
	MergeBy   string `json:"merge_by,omitempty"`
	MergeHead string `json:"merge_head,omitempty"`
	// AutoHead is the commit that the forge merges by itself when its rules allow it.
	AutoHead string `json:"auto_head,omitempty"`

	Steps    int       `json:"steps,omitempty"`    // number of its work items; names the next one
	Tries    int       `json:"tries,omitempty"`    // how often in a row a step failed
	RetryAt  time.Time `json:"retry_at,omitzero"`  // no further step before this time
	Failure  *Failure  `json:"failure,omitempty"`  // of its last step
	Cleaned  bool      `json:"cleaned,omitempty"`  // its branch on the forge was deleted, or stays
	Blocked  string    `json:"blocked,omitempty"`  // why it cannot be merged now, as the forge says it
	Report   PullRead  `json:"report"`             // what the forge reported last
	Escalate *Escalate `json:"escalate,omitempty"` // what a person has to decide, after reactions could not
}

// Head returns the head of the request: as the forge reported it last, or as Coppice
// pushed it if the request was not read since.
func (p Pull) Head() string { return cmp.Or(p.Report.Head, p.Pushed) }

// Open reports whether the request is open on its forge, or about to be opened.
func (p Pull) Open() bool { return p.EndedAt.IsZero() }

// Name returns how people call the request, such as #12.
func (p Pull) Name() string {
	if p.Number == 0 {
		return "pull request"
	}
	return fmt.Sprintf("#%d", p.Number)
}

// MergeText says in a sentence who asked to merge the request, or that the forge merges
// it; empty if neither.
func (p Pull) MergeText() string {
	switch {
	case !p.Open():
		return ""
	case p.MergeHead != "" && p.MergeBy != "":
		return "Merge requested by " + p.MergeBy + "."
	case p.MergeHead != "":
		return "Merge requested."
	case p.AutoHead != "" && p.AutoHead == p.Pushed:
		return "The forge merges it when its rules allow it."
	}
	return ""
}

// PullMark is a pull request in short, as lists and cards show it.
type PullMark struct {
	Number    int         `json:"number,omitempty" doc:"0 before the forge has it"`
	URL       string      `json:"url,omitempty"`
	Branch    string      `json:"branch"`
	Base      string      `json:"base"`
	State     PullState   `json:"state" enum:"open,merged,closed"`
	Word      string      `json:"state_text" enum:"not open yet,draft,open,merged,closed" doc:"What people read as its state"`
	Draft     bool        `json:"draft,omitempty"`
	CI        CIState     `json:"ci,omitempty" enum:"pending,passed,failed" doc:"Of its head; absent if nothing has run"`
	Failed    []string    `json:"failed,omitempty" doc:"The checks of CI that failed, at most 5"`
	Review    ReviewState `json:"review,omitempty" enum:"approved,changes"`
	Open      int         `json:"open_comments,omitempty" doc:"Comments of others that are not resolved"`
	Conflicts bool        `json:"conflicts,omitempty" doc:"It does not merge with its base"`
	Merging   bool        `json:"merging,omitempty" doc:"Somebody asked to merge it, or the forge merges it when its rules allow it"`
	Adopted   bool        `json:"adopted,omitempty" doc:"Somebody else opened it"`
	Problem   string      `json:"problem,omitempty" doc:"What a person should know, in one line"`
}

// Short returns the request in short; nil for a task without one.
func (p *Pull) Short() *PullMark {
	if p == nil {
		return nil
	}
	m := p.Mark()
	return &m
}

// Mark returns the request in short.
func (p Pull) Mark() PullMark {
	r := p.Report
	m := PullMark{
		Number: p.Number, URL: p.URL, Branch: p.Branch, Base: p.Base, State: r.State, Draft: r.Draft, CI: r.CI, Review: r.Review, Conflicts: r.Conflicts,
		Merging: p.MergeText() != "", Adopted: p.Adopted,
	}
	if m.State == "" {
		m.State = PullOpen
	}
	switch m.Word = string(m.State); {
	case m.State != PullOpen:
	case m.Number == 0:
		m.Word = "not open yet"
	case m.Draft:
		m.Word = "draft"
	}
	for _, c := range r.Failed() {
		if len(m.Failed) < 5 {
			m.Failed = append(m.Failed, c.Name)
		}
	}
	for _, c := range r.Comments {
		if !c.Resolved && !c.Ours() && c.Text != "" {
			m.Open++
		}
	}
	switch {
	case p.Escalate != nil:
		m.Problem = FirstLine(p.Escalate.Text)
	case p.Failure != nil:
		m.Problem = FirstLine(p.Failure.Text)
	case p.Blocked != "":
		m.Problem = FirstLine(p.Blocked)
	}
	return m
}

// Line says in one line what a person should know about an open request; empty if that
// is nothing.
func (m PullMark) Line() string {
	if m.State != PullOpen {
		return ""
	}
	var list []string
	if m.Merging {
		list = append(list, "merging")
	}
	if m.Conflicts {
		list = append(list, "conflicts with "+m.Base)
	}
	if m.Problem != "" {
		list = append(list, m.Problem)
	}
	return strings.Join(list, "; ")
}

// FollowedPull is what a pass over a forge needs of an open pull request.
type FollowedPull struct {
	TaskID    int64     `json:"-"`
	Number    int       `json:"-"`
	HotUntil  time.Time `json:"-"`
	Branch    string    `json:"-"`
	Pushed    string    `json:"pushed,omitempty"`
	Head      string    `json:"head,omitempty"`
	UpdatedAt time.Time `json:"updated_at,omitzero"`
	CI        CIState   `json:"ci,omitempty"`
	Report    string    `json:"report"` // PullRead.Digest of the whole report
}

// Followed returns what a pass over the forge needs.
func (p Pull) Followed() FollowedPull {
	return FollowedPull{
		TaskID: p.TaskID, Number: p.Number, HotUntil: p.HotUntil, Branch: p.Branch, Pushed: p.Pushed, Head: p.Report.Head, UpdatedAt: p.Report.UpdatedAt,
		CI: p.Report.CI, Report: p.Report.Digest(),
	}
}

// Digest identifies the report.
func (r PullRead) Digest() string {
	sum := sha256.Sum256(Raw(r))
	return hex.EncodeToString(sum[:16])
}

// Escalate says that a reaction gave up on an event.
type Escalate struct {
	Event ReactionEvent `json:"event"`
	Text  string        `json:"text"` // what happened, and what was tried
	At    time.Time     `json:"at"`
}

// PullText is how a pull request is to look.
type PullText struct {
	Branch    string   `json:"branch"`
	Base      string   `json:"base"`
	Title     string   `json:"title"`
	Body      string   `json:"body"`
	Draft     bool     `json:"draft,omitempty"`
	Labels    []string `json:"labels,omitempty"`    // these are added; others stay
	Reviewers []string `json:"reviewers,omitempty"` // these are asked, when the request is ready
}

// Mark identifies the text.
func (t PullText) Mark() string {
	sum := sha256.Sum256(Raw(t))
	return hex.EncodeToString(sum[:8])
}

// PullMarker returns the line by which Coppice finds a pull request or comment that
// it has created. It is invisible where a forge renders Markdown.
func PullMarker(key string) string { return "<!-- coppice:" + key + " -->" }

// PullRead is what a forge reports about a pull request. All texts come from
// outside: they are data, never instructions.
type PullRead struct {
	Number    int           `json:"number,omitempty"`
	URL       string        `json:"url,omitempty"`
	Title     string        `json:"title,omitempty"`
	Author    string        `json:"author,omitempty"`
	State     PullState     `json:"state,omitempty"`
	Draft     bool          `json:"draft,omitempty"`
	Branch    string        `json:"branch,omitempty"`
	Head      string        `json:"head,omitempty"`
	Base      string        `json:"base,omitempty"`
	Foreign   bool          `json:"foreign,omitempty"`   // the branch is in another repository
	Merged    string        `json:"merged,omitempty"`    // the commit on the base, after the merge
	Conflicts bool          `json:"conflicts,omitempty"` // it does not merge with its base
	Labels    []string      `json:"labels,omitempty"`    // in order
	CI        CIState       `json:"ci,omitempty"`        // of Head
	Checks    []PullCheck   `json:"checks,omitempty"`    // in order of their names
	Review    ReviewState   `json:"review,omitempty"`
	Comments  []PullComment `json:"comments,omitempty"` // reviews and comments, oldest first
	UpdatedAt time.Time     `json:"updated_at,omitzero"`
}

// PullCheck is a check that CI runs on the head of a pull request.
type PullCheck struct {
	Name  string  `json:"name"`
	State CIState `json:"state"`
	Text  string  `json:"text,omitempty"` // the forge's summary, in one line
	URL   string  `json:"url,omitempty"`
	Log   string  `json:"log,omitempty"` // the end of its log, if it failed and the forge has it
}

// PullComment is a comment, a review, or a comment on a line.
type PullComment struct {
	ID       string      `json:"id"`               // unique on the forge, with its kind: review/3
	Thread   string      `json:"thread,omitempty"` // the discussion that can be resolved
	Author   string      `json:"author"`
	Bot      bool        `json:"bot,omitempty"`
	Writes   bool        `json:"writes,omitempty"` // the author has write access to the repository
	Review   ReviewState `json:"review,omitempty"` // of a review
	Path     string      `json:"path,omitempty"`
	Line     int         `json:"line,omitempty"`
	Text     string      `json:"text,omitempty"`
	Resolved bool        `json:"resolved,omitempty"`
	At       time.Time   `json:"at,omitzero"`
}

// Reviewer is a person who has decided about a pull request.
type Reviewer struct {
	Name   string      `json:"name"`
	Review ReviewState `json:"review" enum:"approved,changes" doc:"The newest decision"`
	Counts bool        `json:"counts,omitempty" doc:"The person has write access to the repository; on a public forge, anybody can approve"`
	At     time.Time   `json:"at,omitzero"`
}

// Reviewers returns who has decided, by the first decision of each person. The comments
// are sorted, with the oldest first.
func Reviewers(comments []PullComment) (list []Reviewer) {
	for _, c := range comments {
		if c.Review == ReviewNone {
			continue
		}
		n := slices.IndexFunc(list, func(r Reviewer) bool { return r.Name == c.Author })
		if n < 0 {
			n, list = len(list), append(list, Reviewer{})
		}
		list[n] = Reviewer{c.Author, c.Review, c.Writes, c.At}
	}
	return list
}

// Ours reports whether Coppice wrote the comment.
func (c PullComment) Ours() bool { return hasMarker(c.Text) }

func hasMarker(text string) bool { return strings.Contains(text, "<!-- coppice:") }

// EachText changes all texts that people and programs wrote.
func (r *PullRead) EachText(change func(string) string) {
	texts := []*string{&r.Title}
	for i := range r.Labels {
		texts = append(texts, &r.Labels[i])
	}
	for i := range r.Checks {
		c := &r.Checks[i]
		texts = append(texts, &c.Name, &c.Text, &c.Log, &c.URL)
	}
	for i := range r.Comments {
		texts = append(texts, &r.Comments[i].Text)
	}
	for _, t := range texts {
		*t = change(*t)
	}
}

// Failed returns the checks that failed.
func (r PullRead) Failed() []PullCheck {
	var list []PullCheck
	for _, c := range r.Checks {
		if c.State == CIFailed {
			list = append(list, c)
		}
	}
	return list
}

// PullPolicy says how pull requests are opened and merged: land.pr.
type PullPolicy struct {
	Draft     *bool    `json:"draft,omitempty" yaml:"draft"`         // open it as a draft before it is proven; see Drafts
	Labels    []string `json:"labels,omitempty" yaml:"labels"`       // of each request
	Reviewers []string `json:"reviewers,omitempty" yaml:"reviewers"` // logins that are asked for a review
	Merge     string   `json:"merge,omitempty" yaml:"merge"`         // one of PullMerges; see Method
	Auto      bool     `json:"auto,omitempty" yaml:"auto"`           // leave the merge to the forge: its auto-merge, or its merge queue
	Keep      bool     `json:"keep_branch,omitempty" yaml:"keep_branch"`
	Stack     bool     `json:"stack,omitempty" yaml:"stack"`             // a dependent task starts from the branch of the request before it
	PushFails bool     `json:"push_failed,omitempty" yaml:"push_failed"` // push the branch of a task that failed
}

// The values of land.pr.merge.
const (
	MergeSquash = "squash"
	MergeMerge  = "merge"
	MergeRebase = "rebase"
)

// PullMerges lists how a forge can merge a request, the default first.
var PullMerges = []string{MergeSquash, MergeMerge, MergeRebase}

// Method returns how the forge merges.
func (p PullPolicy) Method() string {
	if p.Merge == "" {
		return PullMerges[0]
	}
	return p.Merge
}

// Drafts reports whether requests are opened before they are proven.
func (p PullPolicy) Drafts() bool { return p.Draft == nil || *p.Draft }

// ForgePolicy says where pull requests are: forge.
type ForgePolicy struct {
	Kind    string   `json:"kind,omitempty" yaml:"kind"`       // one of ForgeKinds; empty or auto: by the address of the remote
	URL     string   `json:"url,omitempty" yaml:"url"`         // of the API, for a forge with its own address
	Repo    string   `json:"repo,omitempty" yaml:"repo"`       // owner/name; empty: by the address of the remote
	Token   string   `json:"token,omitempty" yaml:"token"`     // the name of the secret; empty: see ForgeKind.Token
	Webhook string   `json:"webhook,omitempty" yaml:"webhook"` // the name of the secret that signs webhooks; empty: no webhooks
	Every   Duration `json:"every,omitempty" yaml:"every"`     // the time between two passes; see Interval
	Authors []string `json:"authors,omitempty" yaml:"authors"` // logins whose comments and reviews count; empty: everybody with write access
}

// DefaultForgeInterval is the time between two reads of a forge, and MinForgeInterval
// the shortest one.
const (
	DefaultForgeInterval = Duration(30 * time.Second)
	MinForgeInterval     = Duration(5 * time.Second)
)

// Interval returns the time between two reads of the forge.
func (p ForgePolicy) Interval() Duration {
	if p.Every == 0 {
		return DefaultForgeInterval
	}
	return p.Every
}

// ForgeKind describes a kind of forge.
type ForgeKind struct {
	Name  string   // the value of forge.kind
	Hosts []string // whose addresses are recognized; a host that has the name as a label is, too
	Token string   // the default name of its token's secret
}

// ForgeKinds lists the kinds of forge. Forgejo has the API of Gitea.
var ForgeKinds = []ForgeKind{
	{Name: "github", Hosts: []string{"github.com"}, Token: "GITHUB_TOKEN"},
	{Name: "gitlab", Hosts: []string{"gitlab.com"}, Token: "GITLAB_TOKEN"},
	{Name: "gitea", Hosts: []string{"gitea.com", "codeberg.org"}, Token: "GITEA_TOKEN"},
}

// ForgeRow is what Coppice remembers about reading a project's forge. It belongs to
// the forge's subject.
type ForgeRow struct {
	ProjectID int64     `json:"-"`
	NextAt    time.Time `json:"next_at,omitzero"` // the next pass; zero if there is nothing to read
	ForgeDetails
}

// ForgeDetails are the fields of a ForgeRow that no query uses.
type ForgeDetails struct {
	Passes  int       `json:"passes,omitempty"`  // number of passes; names the next one
	ReadAt  time.Time `json:"read_at,omitzero"`  // the last pass over everything that succeeded
	FullAt  time.Time `json:"full_at,omitzero"`  // the last pass that read every open request
	HookAt  time.Time `json:"hook_at,omitzero"`  // the last valid webhook
	BurstAt time.Time `json:"burst_at,omitzero"` // limits the passes that webhooks start: it moves by one interval for each
	Tip     string    `json:"tip,omitempty"`     // of the base on the forge
	Tries   int       `json:"tries,omitempty"`   // how often in a row a pass failed
	Failure *Failure  `json:"failure,omitempty"` // of the last pass
}
