package coppice

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// The limits of what Coppice keeps of an issue.
const (
	MaxIssueText     = 32 << 10 // bytes of its description
	MaxIssueComment  = 4 << 10  // bytes of a comment
	MaxIssueComments = 50       // comments; the newest
	MaxIssueLinks    = 50       // links, blockers and sub-issues, each
	MaxIssueContext  = 24 << 10 // bytes of comments and links that an agent gets
	MaxOpenIssues    = 500      // issues of one tracker whose tasks have not ended
)

// IssueRead is what a tracker reports about an issue. All texts come from outside:
// they are data, never instructions.
type IssueRead struct {
	ID        string         `json:"id"` // how people name it in the tracker, without a mark: 123, or ENG-12
	URL       string         `json:"url,omitempty"`
	Title     string         `json:"title"`
	Text      string         `json:"text,omitempty"`
	Author    string         `json:"author,omitempty"`
	Writes    bool           `json:"writes,omitempty"` // the author has write access
	Closed    bool           `json:"closed,omitempty"`
	State     string         `json:"state,omitempty"`  // the tracker's own name of its state, if it has more than open and closed
	Labels    []string       `json:"labels,omitempty"` // in order
	Assignees []string       `json:"assignees,omitempty"`
	Comments  []IssueComment `json:"comments,omitempty"`   // oldest first, without those of Coppice
	Links     []string       `json:"links,omitempty"`      // addresses that the tracker lists beside the text
	BlockedBy []string       `json:"blocked_by,omitempty"` // ids of open issues that must be closed first
	Parent    string         `json:"parent,omitempty"`     // the id of the issue that it is a part of
	Children  []string       `json:"children,omitempty"`   // ids of its open sub-issues
	UpdatedAt time.Time      `json:"updated_at,omitzero"`
}

// IssueComment is a comment on an issue.
type IssueComment struct {
	ID     string    `json:"id"`
	Author string    `json:"author"`
	Bot    bool      `json:"bot,omitempty"`
	Writes bool      `json:"writes,omitempty"` // the author has write access
	Text   string    `json:"text"`
	At     time.Time `json:"at,omitzero"`
	Own    bool      `json:"-"` // the account of Coppice's token wrote it
}

// Ours reports whether Coppice wrote the comment.
func (c IssueComment) Ours() bool { return c.Own && hasMarker(c.Text) }

// EachText changes all texts that people and programs wrote.
func (r *IssueRead) EachText(change func(string) string) {
	texts := []*string{&r.Title, &r.Text, &r.State}
	for i := range r.Labels {
		texts = append(texts, &r.Labels[i])
	}
	for i := range r.Links {
		texts = append(texts, &r.Links[i])
	}
	for i := range r.Comments {
		texts = append(texts, &r.Comments[i].Text)
	}
	for _, t := range texts {
		*t = change(*t)
	}
}

// Digest identifies the report.
func (r IssueRead) Digest() string {
	sum := sha256.Sum256(Raw(r))
	return hex.EncodeToString(sum[:16])
}

// IssueFields are the fields of an issue that can change on both sides: in the
// tracker and in Coppice.
type IssueFields struct {
	Title  string      `json:"title"`
	Text   string      `json:"text,omitempty"`
	Status IssueStatus `json:"status"`
}

// IssueStatus is the status of a task as its issue shows it.
type IssueStatus string

// The statuses of an issue's task.
const (
	IssueWaiting IssueStatus = "waiting" // no session has started
	IssueWorking IssueStatus = "working"
	IssueReview  IssueStatus = "review" // its work waits for a person, or for the merge of its pull request
	IssueDone    IssueStatus = "done"
	IssueFailed  IssueStatus = "failed"
	IssueStopped IssueStatus = "stopped" // a person stopped the task, or closed the issue
)

// IssueStatuses lists the statuses in the order in which a task has them.
var IssueStatuses = []IssueStatus{IssueWaiting, IssueWorking, IssueReview, IssueDone, IssueFailed, IssueStopped}

// Closes reports whether an issue with the status is closed, if Coppice closes issues.
func (s IssueStatus) Closes() bool { return s == IssueDone }

// IssueEdit is a change of an issue. A nil field stays as it is.
type IssueEdit struct {
	Title  *string     `json:"title,omitempty"`
	Text   *string     `json:"text,omitempty"`
	Closed *bool       `json:"closed,omitempty"`
	Status IssueStatus `json:"status,omitempty"` // for a tracker with workflow states; empty: the state stays
	Add    []string    `json:"add,omitempty"`    // labels
	Drop   []string    `json:"drop,omitempty"`   // labels
}

// IsZero reports whether the edit changes nothing.
func (e IssueEdit) IsZero() bool {
	return e.Title == nil && e.Text == nil && e.Closed == nil && e.Status == "" && len(e.Add) == 0 && len(e.Drop) == 0
}

// Active reports whether a task with the status counts against
// TrackerPolicy.MostActive.
func (s IssueStatus) Active() bool {
	return s == IssueWaiting || s == IssueWorking || s == IssueReview
}

// IssueStatusOf returns the status of a task as its issue shows it.
func IssueStatusOf(t Task) IssueStatus {
	switch {
	case t.Outcome == OutcomeDone && t.Ended():
		return IssueDone
	case t.Outcome == OutcomeFailed && t.Ended():
		return IssueFailed
	case t.Ended():
		return IssueStopped
	case t.Stage.Awaits():
		return IssueReview
	case t.Sessions == 0 && (t.Stage == StageWaiting || t.Stage == StageQueued):
		return IssueWaiting
	}
	return IssueWorking
}

// Issue is an issue that became a task, or waits to become one. It belongs to the
// subject tracker of its project.
type Issue struct {
	ID        int64       `json:"-"`
	ProjectID int64       `json:"-"`
	TrackerID int64       `json:"-"`
	Issue     string      `json:"issue"`             // IssueRead.ID, unique in the tracker
	TaskID    int64       `json:"-"`                 // unique: a task has at most one issue; 0 before it is imported, and after its task was removed
	Status    IssueStatus `json:"status,omitempty"`  // of its task, as the tracker should show it; empty before it is imported
	NextAt    time.Time   `json:"next_at,omitzero"`  // when its tracker is changed next; zero if nothing has to be written
	EndedAt   time.Time   `json:"ended_at,omitzero"` // its task has ended, and the tracker shows that; zero before
	IssueDetails
}

// Waits reports whether the issue waits to become a task.
func (i Issue) Waits() bool { return i.Status == "" }

// Mark returns the issue in short.
func (i Issue) Mark() IssueMark {
	r := i.Read
	m := IssueMark{
		ID: i.ID, TrackerID: i.TrackerID, Issue: i.Issue, TaskID: i.TaskID, Status: i.Status, EndedAt: i.EndedAt,
		URL: r.URL, Title: r.Title, Author: r.Author, Writes: r.Writes, Closed: r.Closed, BlockedBy: r.BlockedBy, Parent: r.Parent, Children: r.Children, UpdatedAt: r.UpdatedAt, Digest: r.Digest(),
		Manual: i.Manual, Stale: i.Stale, Held: i.Held, Reopened: i.Reopened, Refused: i.Refused,
	}
	if i.Failure != nil {
		m.Problem = FirstLine(i.Failure.Error())
	}
	return m
}

// IssueMark is an issue in short: what is read of many issues at a time.
type IssueMark struct {
	ID        int64       `json:"-"`
	TrackerID int64       `json:"-"`
	Issue     string      `json:"-"`
	TaskID    int64       `json:"-"`
	Status    IssueStatus `json:"-"`
	EndedAt   time.Time   `json:"-"`
	URL       string      `json:"url,omitempty"`
	Title     string      `json:"title"`
	Author    string      `json:"author,omitempty"`
	Writes    bool        `json:"writes,omitempty"`
	Closed    bool        `json:"closed,omitempty"`
	BlockedBy []string    `json:"blocked_by,omitempty"`
	Parent    string      `json:"parent,omitempty"`
	Children  []string    `json:"children,omitempty"`
	UpdatedAt time.Time   `json:"updated_at,omitzero"`
	Digest    string      `json:"digest,omitempty"`
	Manual    bool        `json:"manual,omitempty"`
	Stale     bool        `json:"stale,omitempty"`
	Held      bool        `json:"held,omitempty"`
	Reopened  bool        `json:"reopened,omitempty"`
	Refused   string      `json:"refused,omitempty"`
	Problem   string      `json:"problem,omitempty"` // why it could not be written, in one line
}

// Waits reports whether the issue waits to become a task.
func (m IssueMark) Waits() bool { return m.Status == "" }

// IssueDetails are the fields of an Issue that no query uses.
type IssueDetails struct {
	Read     IssueRead   `json:"read"`               // as last reported
	Agreed   IssueFields `json:"agreed"`             // what both sides had when they were last the same
	Manual   bool        `json:"manual,omitempty"`   // a person imported it: labels and queries do not decide about it
	Received []string    `json:"received,omitempty"` // ids of comments that the task has; at most MaxIssueComments
	Shown    IssueShown  `json:"shown,omitzero"`     // what Coppice has written besides the agreed fields
	Stale    bool        `json:"stale,omitempty"`    // it has to be read again, whatever its time of change is
	WroteAt  time.Time   `json:"wrote_at,omitzero"`  // when it was last changed; a pass that began before has an earlier state
	Writing  *IssueWrite `json:"writing,omitempty"`  // what the last work item writes; valid while that is open
	Steps    int         `json:"steps,omitempty"`    // number of its work items; names the next one
	Tries    int         `json:"tries,omitempty"`    // how often in a row a write failed
	Failure  *Failure    `json:"failure,omitempty"`  // of its last write, or why it can no longer be written
	Held     bool        `json:"held,omitempty"`     // its text changed in the tracker, and a person has to accept that
	Reopened bool        `json:"reopened,omitempty"` // somebody reopened it after its task had ended
	Refused  string      `json:"refused,omitempty"`  // an issue that blocks it, for whose task its own cannot wait, and why
	Gone     bool        `json:"gone,omitempty"`     // the tracker does not have it any more, or does not show it
	Imported time.Time   `json:"imported,omitzero"`
}

// IssueShown is what the tracker shows of a task besides the fields of its issue.
type IssueShown struct {
	Comment string `json:"comment,omitempty"` // identifies the text of the status comment
	Label   string `json:"label,omitempty"`   // the status label
}

// IssueWrite is what a change of an issue leads to.
type IssueWrite struct {
	Fields IssueFields `json:"fields"`
	Shown  IssueShown  `json:"shown,omitzero"`
}

// IssueRef is the issue of a task, as the task keeps it.
type IssueRef struct {
	Tracker string `json:"tracker"` // the name of the source
	ID      string `json:"id"`
	URL     string `json:"url,omitempty"`
	Author  string `json:"author,omitempty"`
}

// Name returns how people call the issue: #12, or ENG-12.
func (r IssueRef) Name() string { return IssueName(r.ID) }

// IssueName returns how people call an issue with the id.
func IssueName(id string) string {
	if id != "" && strings.Trim(id, "0123456789") == "" {
		return "#" + id
	}
	return id
}

// IssueMarker returns the line by which Coppice finds a comment that it has written on
// the issue of a task. It is invisible where a tracker renders Markdown.
func IssueMarker(key string) string { return PullMarker(key) }

// TrackerPolicy says which issues become tasks, and what Coppice writes back: an entry
// of tracker.
type TrackerPolicy struct {
	Name     string        `json:"name,omitempty" yaml:"name"`         // names the source; see SourceName
	Kind     string        `json:"kind,omitempty" yaml:"kind"`         // one of TrackerKinds; empty or auto: the project's forge
	URL      string        `json:"url,omitempty" yaml:"url"`           // of the API, for a tracker with its own address
	Repo     string        `json:"repo,omitempty" yaml:"repo"`         // owner/name; empty: the project's
	Team     string        `json:"team,omitempty" yaml:"team"`         // of Linear: the team's key
	Token    string        `json:"token,omitempty" yaml:"token"`       // the name of the secret; empty: see TrackerKind.Token
	Every    Duration      `json:"every,omitempty" yaml:"every"`       // the time between two passes; see Interval
	Import   TrackerImport `json:"import,omitzero" yaml:"import"`      // which issues become tasks automatically
	Active   int           `json:"active,omitempty" yaml:"active"`     // the most of its tasks that are active at the same time; see MostActive
	Authors  []string      `json:"authors,omitempty" yaml:"authors"`   // logins whose comments and edits count; empty: everybody with write access
	Template string        `json:"template,omitempty" yaml:"template"` // the template of its tasks
	Write    TrackerWrite  `json:"write,omitzero" yaml:"write"`        // what Coppice writes back

	Task *NewTask `json:"task,omitempty" yaml:"-"` // what Template says about each task
}

// Trackers are the sources of issues of a project.
type Trackers []TrackerPolicy

// Named returns the source with a name, or nil.
func (t Trackers) Named(name string) *TrackerPolicy {
	for i := range t {
		if t[i].SourceName() == name {
			return &t[i]
		}
	}
	return nil
}

// TrackerImport chooses issues. An issue becomes a task if it matches all fields that
// are set. Without any, only people import issues.
type TrackerImport struct {
	Labels   []string `json:"labels,omitempty" yaml:"labels"`     // it has all of them
	Assignee string   `json:"assignee,omitempty" yaml:"assignee"` // it is assigned to this login
	Query    string   `json:"query,omitempty" yaml:"query"`       // words that the tracker's search finds
}

// Matches reports whether an open issue has the labels and the assignee, whose case does
// not matter to most trackers. Only the tracker can answer a query.
func (i TrackerImport) Matches(r IssueRead) bool {
	for _, l := range i.Labels {
		if !containsFold(r.Labels, l) {
			return false
		}
	}
	return !r.Closed && (i.Assignee == "" || containsFold(r.Assignees, i.Assignee))
}

func containsFold(list []string, name string) bool {
	return slices.ContainsFunc(list, func(other string) bool { return strings.EqualFold(other, name) })
}

// IsZero reports whether no issue is imported automatically.
func (i TrackerImport) IsZero() bool { return len(i.Labels) == 0 && i.Assignee == "" && i.Query == "" }

// TrackerWrite says what Coppice writes to issues. A nil field means yes.
type TrackerWrite struct {
	Comment *bool                  `json:"comment,omitempty" yaml:"comment"` // one comment with the task's status, which is edited
	Close   *bool                  `json:"close,omitempty" yaml:"close"`     // close it when its task is done
	Text    *bool                  `json:"text,omitempty" yaml:"text"`       // the title and the description, if they change in Coppice
	Labels  map[IssueStatus]string `json:"labels,omitempty" yaml:"labels"`   // the label for each status; none for a status that is missing
}

// Digest identifies the settings.
func (w TrackerWrite) Digest() string {
	sum := sha256.Sum256(Raw(w))
	return hex.EncodeToString(sum[:8])
}

// Yes reports whether a setting of TrackerWrite is on.
func Yes(setting *bool) bool { return setting == nil || *setting }

// The times and numbers of trackers.
const (
	DefaultTrackerInterval = Duration(time.Minute)
	MinTrackerInterval     = Duration(10 * time.Second)
	DefaultActiveIssues    = 5
)

// Interval returns the time between two passes.
func (p TrackerPolicy) Interval() Duration {
	if p.Every == 0 {
		return DefaultTrackerInterval
	}
	return p.Every
}

// MostActive returns how many tasks of the source can be active.
func (p TrackerPolicy) MostActive() int {
	if p.Active == 0 {
		return DefaultActiveIssues
	}
	return p.Active
}

// SourceName returns the name of the source: its own, or else its kind.
func (p TrackerPolicy) SourceName() string {
	switch {
	case p.Name != "":
		return p.Name
	case p.Kind == "" || p.Kind == "auto":
		return "forge"
	}
	return p.Kind
}

// Place identifies what the source reads, whatever its name is. Issues with the same id
// in the same place are the same.
func (p TrackerPolicy) Place() string {
	kind := p.Kind
	if kind == "auto" {
		kind = ""
	}
	return strings.Join([]string{kind, p.URL, p.Repo, p.Team}, " ")
}

// Counts reports whether the comments and edits of a person count.
func (p TrackerPolicy) Counts(author string, writes bool) bool {
	if len(p.Authors) > 0 {
		return slices.Contains(p.Authors, author)
	}
	return writes
}

// TrackerKind describes a kind of tracker.
type TrackerKind struct {
	Name  string // the value of tracker.kind
	Token string // the default name of its token's secret
	API   string // its address, if it has only one
}

// TrackerKinds lists the kinds of tracker. Forgejo has the API of Gitea.
var TrackerKinds = []TrackerKind{
	{Name: "github", Token: "GITHUB_TOKEN"},
	{Name: "gitlab", Token: "GITLAB_TOKEN"},
	{Name: "gitea", Token: "GITEA_TOKEN"},
	{Name: "linear", Token: "LINEAR_API_KEY", API: "https://api.linear.app/graphql"},
}

// Tracker is what Coppice remembers about reading a source of issues. A project has one
// for each entry of its tracker key. It belongs to the subject tracker of its project.
type Tracker struct {
	ID        int64     `json:"-"`
	ProjectID int64     `json:"-"`
	Name      string    `json:"name"`             // TrackerPolicy.SourceName, unique among the sources of the policy
	NextAt    time.Time `json:"next_at,omitzero"` // the next pass; zero if there is nothing to read
	TrackerDetails
}

// TrackerDetails are the fields of a Tracker that no query uses.
type TrackerDetails struct {
	Place    string    `json:"place,omitempty"`   // TrackerPolicy.Place
	Writes   string    `json:"writes,omitempty"`  // identifies what Coppice writes to its issues; empty while the policy does not have it
	Passes   int       `json:"passes,omitempty"`  // number of passes; names the next one
	ReadAt   time.Time `json:"read_at,omitzero"`  // the last pass that succeeded
	Since    time.Time `json:"since,omitzero"`    // issues that changed before it were read
	FullAt   time.Time `json:"full_at,omitzero"`  // the last pass that read every open issue
	Matching int       `json:"matching,omitzero"` // how many issues matched in the last full pass
	Tries    int       `json:"tries,omitempty"`   // how often in a row a pass failed
	Failure  *Failure  `json:"failure,omitempty"` // of the last pass
	Problem  string    `json:"problem,omitempty"` // why it imports nothing, if that is not a failure
}

// TrackerSpec says how a worker finds a source of issues.
type TrackerSpec struct {
	ForgeSpec
	Tracker TrackerPolicy `json:"tracker"`
}

// TrackerReadSpec asks to read issues: those that match and changed since a time, and
// those that are named.
type TrackerReadSpec struct {
	TrackerSpec
	List  bool      `json:"list,omitempty"`  // read the issues that match Tracker.Import
	Since time.Time `json:"since,omitzero"`  // only those that changed since then; zero: all open ones
	Known []Known   `json:"known,omitempty"` // what Coppice knows already
	Named []string  `json:"named,omitempty"` // ids of issues to read as a whole, whatever the list shows
}

// Known is an issue that Coppice knows. It is read as a whole only if it has changed
// since.
type Known struct {
	ID        string    `json:"id"`
	UpdatedAt time.Time `json:"updated_at,omitzero"`
	Digest    string    `json:"digest,omitempty"` // of the last report, if its IssueRead.Digest is known
}

// TrackerReadResult has the issues that are new, have changed, or were named.
type TrackerReadResult struct {
	Issues   []IssueRead `json:"issues,omitempty"`   // as a whole
	Gone     []string    `json:"gone,omitempty"`     // ids of named and known issues that do not exist any more
	Matching []string    `json:"matching,omitempty"` // ids of all open issues that match; only of a pass without Since
	Until    time.Time   `json:"until,omitzero"`     // issues that changed before it were read: the next Since
}

// TrackerWriteSpec asks for a change of an issue.
type TrackerWriteSpec struct {
	TrackerSpec
	Issue string    `json:"issue"`
	Key   string    `json:"key"` // of the task: the marker of the status comment
	Edit  IssueEdit `json:"edit,omitzero"`
	// Was has the title and the description that the tracker reported last. One that has
	// changed since then is not replaced. Nil replaces both.
	Was     *IssueFields `json:"was,omitempty"`
	Comment string       `json:"comment,omitempty"` // the status comment, which is written or edited; empty: it stays
}

// TrackerWriteResult has the issue after the change.
type TrackerWriteResult struct {
	Issue IssueRead `json:"issue"`
}

var (
	issueID = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^#?([0-9]{1,18}|[A-Za-z][A-Za-z0-9]{0,15}-[0-9]{1,12})$`)
	})
	issuePath = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`/(?:issues|work_items|issue)/([0-9]{1,18}|[A-Za-z][A-Za-z0-9]{0,15}-[0-9]{1,12})(?:/|$)`)
	})
)

// ParseIssue returns the id of an issue that a person named: 123, #123, ENG-12 or its
// address.
func ParseIssue(text string) (string, error) {
	text = strings.TrimSpace(text)
	if m := issueID().FindStringSubmatch(text); m != nil {
		return strings.ToUpper(m[1]), nil
	}
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		if m := issuePath().FindStringSubmatch(u.Path); m != nil {
			return strings.ToUpper(m[1]), nil
		}
	}
	return "", Errorf(EInvalid, "%s does not name an issue", Quote(text)).WithFix("write its number, such as 123, its name, such as ENG-12, or its address").WithField("issues")
}

// SameIssue reports whether an address that a person gave is that of an issue. The name of
// the issue, which some trackers add to the path, does not matter.
func SameIssue(given, address string) bool {
	part := func(s string) string {
		u, err := url.Parse(s)
		if err != nil || u.Host == "" {
			return ""
		}
		at := issuePath().FindStringIndex(u.Path)
		if at == nil {
			return ""
		}
		return strings.ToLower(u.Host + strings.TrimSuffix(u.Path[:at[1]], "/"))
	}
	return part(given) != "" && part(given) == part(address)
}
