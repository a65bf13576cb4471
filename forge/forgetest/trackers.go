package forgetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coppice"
	"coppice/forge"
)

// The abilities that tests of trackers ask for.
const (
	Blocking  Ability = "blocking"   // an issue can block another one
	Parents   Ability = "parents"    // an issue knows of which one it is a part
	Pulls     Ability = "pulls"      // pull requests are among the issues
	Removing  Ability = "removing"   // an issue can be removed
	States    Ability = "states"     // issues have a workflow
	Validated Ability = "validated"  // answers to reads can be asked for again
	Search    Ability = "search"     // the tracker finds words
	Assigning Ability = "assigning"  // somebody can be assigned
	PlainText Ability = "plain text" // texts stay as they were written
	Commas    Ability = "commas"     // a label can have a comma
)

// TrackerBundle is a new source of issues, and how people other than Coppice change it.
// A test calls only functions whose abilities the tracker has.
type TrackerBundle struct {
	Open   forge.TrackerOpener
	Remote forge.Remote
	Token  string // of the user as whom Coppice acts
	Login  string // of this user

	Writer   string // the login of somebody else with write access
	Stranger string // the login of somebody without

	// Lacks says why the tracker, or what the tests have of it, does not have an
	// ability.
	Lacks map[Ability]string

	// Create creates an issue as a user.
	Create func(t *testing.T, login, title, text string, labels ...string) (id string)
	// Close closes an issue as Writer.
	Close func(t *testing.T, id string)
	// Assign assigns an issue to a user.
	Assign func(t *testing.T, id, login string)
	// Comment comments as a user.
	Comment func(t *testing.T, id, login, text string)
	// Block lets one issue wait for another one.
	Block func(t *testing.T, id, by string)
	// Part makes an issue a part of another one.
	Part func(t *testing.T, id, parent string)
	// Pull opens a pull request and returns its number.
	Pull func(t *testing.T) (id string)
	// Remove removes an issue.
	Remove func(t *testing.T, id string)
}

// RunTracker tests an implementation of a tracker. Each test has a new source.
func RunTracker(t *testing.T, newBundle func(t *testing.T) TrackerBundle) {
	for name, test := range map[string]func(*testing.T, TrackerBundle){
		"Life": issueLife, "List": issueList, "Comments": issueComments, "Relations": relations, "Pass": trackerPass, "Errors": trackerFailures,
		"Conditional": trackerConditional, "Hostile": hostileIssues, "Workflow": workflow, "Killed": killed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newBundle(t))
		})
	}
}

func (b TrackerBundle) has(t *testing.T, a Ability) bool {
	t.Helper()
	return Bundle{Lacks: b.Lacks}.has(t, a)
}

func (b TrackerBundle) open(t *testing.T, token string, next http.RoundTripper) forge.Tracker {
	t.Helper()
	f, err := b.Open(b.Remote, forge.Options{Transport: next, Token: func(context.Context) (string, error) { return token, nil }, Key: "tracker"})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func issue(t *testing.T, f forge.Tracker, id string) coppice.IssueRead {
	t.Helper()
	r, err := f.Issue(t.Context(), id)
	if err != nil {
		t.Fatalf("issue %s: %v", id, err)
	}
	return r
}

func change(t *testing.T, f forge.Tracker, spec coppice.TrackerWriteSpec) coppice.IssueRead {
	t.Helper()
	got, err := forge.WriteIssue(t.Context(), f, spec)
	if err != nil {
		t.Fatalf("%+v: %v", spec, err)
	}
	return got.Issue
}

// issueLife follows an issue from its creation by a person to its end. Each write is
// repeated, and changes nothing the second time.
func issueLife(t *testing.T, b TrackerBundle) {
	c := newTransport()
	f := b.open(t, b.Token, c)
	id := b.Create(t, b.Writer, "A crash", "It crashes.\n\nSee the log.", "agent")
	r := issue(t, f, id)
	if r.ID != id || r.Title != "A crash" || r.Text != "It crashes.\n\nSee the log." || r.Closed || !slices.Equal(r.Labels, []string{"agent"}) || !strings.HasPrefix(r.URL, "http") || r.UpdatedAt.IsZero() {
		t.Errorf("read %+v", r)
	}
	if r.Author != b.Writer || b.has(t, Access) && !r.Writes {
		t.Errorf("the author is %q, write access: %v", r.Author, r.Writes)
	}
	if b.has(t, Access) {
		if r := issue(t, f, b.Create(t, b.Stranger, "A wish", "")); r.Author != b.Stranger || r.Writes || r.Text != "" {
			t.Errorf("an issue of a stranger: %+v", r)
		}
	}
	yes, no, title, text := true, false, "A crash at start", "It crashes at start.\n"
	for i, step := range []coppice.TrackerWriteSpec{
		{Comment: "Waiting.", Edit: coppice.IssueEdit{Add: []string{"coppice: waiting"}}},
		{Comment: "Working on it.\n", Edit: coppice.IssueEdit{Add: []string{"coppice: working", "agent"}, Drop: []string{"coppice: waiting", "none"}}},
		{Edit: coppice.IssueEdit{Title: &title, Text: &text}},
		{Comment: "It landed.", Edit: coppice.IssueEdit{Closed: &yes, Drop: []string{"coppice: working"}}},
		{Edit: coppice.IssueEdit{Closed: &no}},
	} {
		step.Issue, step.Key = id, "app-1"
		got := change(t, f, step)
		if len(got.Comments) != 0 {
			t.Errorf("step %d: the comments of Coppice are among those of others: %+v", i, got.Comments)
		}
		for _, l := range step.Edit.Add {
			if !slices.Contains(got.Labels, l) {
				t.Errorf("step %d: labels %q do not have %q", i, got.Labels, l)
			}
		}
		for _, l := range step.Edit.Drop {
			if slices.Contains(got.Labels, l) {
				t.Errorf("step %d: labels %q have %q", i, got.Labels, l)
			}
		}
		if step.Edit.Closed != nil && got.Closed != *step.Edit.Closed {
			t.Errorf("step %d: closed is %v", i, got.Closed)
		}
		c.take()
		if again := change(t, f, step); again.Title != got.Title || again.Closed != got.Closed {
			t.Errorf("step %d again: %+v, want %+v", i, again, got)
		}
		if writes, _ := c.take(); len(writes) != 0 {
			t.Errorf("step %d again wrote %v", i, writes)
		}
	}
	if r = issue(t, f, id); r.Title != title || strings.TrimSpace(r.Text) != strings.TrimSpace(text) || !slices.Equal(r.Labels, []string{"agent"}) {
		t.Errorf("in the end: %+v", r)
	}
	list, err := f.Comments(t.Context(), id)
	if err != nil || len(list) != 1 || !list[0].Ours() || !strings.HasPrefix(list[0].Text, "It landed.") {
		t.Errorf("comments in the end: %+v, %v", list, err)
	}
}

// issueList finds issues.
func issueList(t *testing.T, b TrackerBundle) {
	f := b.open(t, b.Token, newTransport())
	ids := func(q forge.IssueQuery) string {
		t.Helper()
		list, err := f.Issues(t.Context(), q)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		var all []string
		for i, r := range list {
			if all = append(all, r.ID); i > 0 && r.UpdatedAt.Before(list[i-1].UpdatedAt) {
				t.Errorf("%s is after %s, and changed before it", r.ID, list[i-1].ID)
			}
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	want := func(q forge.IssueQuery, ids_ ...string) {
		t.Helper()
		slices.Sort(ids_)
		if got := ids(q); got != strings.Join(ids_, " ") {
			t.Errorf("%+v finds %q, want %q", q, got, strings.Join(ids_, " "))
		}
	}
	want(forge.IssueQuery{})
	one := b.Create(t, b.Writer, "The parser hangs", "on zebra input", "agent")
	two := b.Create(t, b.Writer, "The printer hangs", "", "agent", "urgent")
	other := b.Create(t, b.Writer, "A wish", "")
	closed := b.Create(t, b.Writer, "Old", "", "agent")
	b.Close(t, closed)
	if b.has(t, Pulls) {
		pull := b.Pull(t)
		if r, err := f.Issue(t.Context(), pull); coppice.ErrorCode(err) != coppice.ENotFound {
			t.Errorf("a pull request is an issue: %+v, %v", r, err)
		}
	}
	label := func(names ...string) coppice.TrackerImport { return coppice.TrackerImport{Labels: names} }
	want(forge.IssueQuery{}, one, two, other, closed)
	want(forge.IssueQuery{Open: true}, one, two, other)
	want(forge.IssueQuery{TrackerImport: label("agent")}, one, two, closed)
	want(forge.IssueQuery{TrackerImport: label("agent", "urgent"), Open: true}, two)
	want(forge.IssueQuery{TrackerImport: label("none")})
	want(forge.IssueQuery{TrackerImport: coppice.TrackerImport{Assignee: b.Writer}})
	want(forge.IssueQuery{TrackerImport: coppice.TrackerImport{Assignee: "nobody-at-all"}})
	if b.has(t, Assigning) {
		b.Assign(t, two, b.Writer)
		want(forge.IssueQuery{TrackerImport: coppice.TrackerImport{Assignee: b.Writer}}, two)
		if r := issue(t, f, two); !slices.Equal(r.Assignees, []string{b.Writer}) {
			t.Errorf("assigned to %q", r.Assignees)
		}
	}
	if b.has(t, Search) {
		want(forge.IssueQuery{TrackerImport: coppice.TrackerImport{Query: "hangs"}, Open: true}, one, two)
		want(forge.IssueQuery{TrackerImport: coppice.TrackerImport{Query: "zebra", Labels: []string{"agent"}}}, one)
		want(forge.IssueQuery{TrackerImport: coppice.TrackerImport{Query: "giraffe"}})
	}
	newest := issue(t, f, one).UpdatedAt
	for _, id := range []string{two, other, closed} {
		if at := issue(t, f, id).UpdatedAt; at.After(newest) {
			newest = at
		}
	}
	want(forge.IssueQuery{Since: newest.Add(time.Minute)})
	if got := ids(forge.IssueQuery{Since: newest.Add(-time.Nanosecond)}); got == "" {
		t.Errorf("an issue that changed at %s is not found", newest)
	}
	want(forge.IssueQuery{Since: newest.Add(-time.Hour), Open: true, TrackerImport: label("agent")}, one, two)
}

// issueComments reads who wrote what.
func issueComments(t *testing.T, b TrackerBundle) {
	f := b.open(t, b.Token, newTransport())
	id := b.Create(t, b.Writer, "Talk", "text")
	change(t, f, coppice.TrackerWriteSpec{Issue: id, Key: "app-1", Comment: "Status."})
	people := []string{b.Writer, b.Login}
	if b.has(t, Access) {
		people = append(people, b.Stranger)
	}
	for _, login := range people {
		b.Comment(t, id, login, "from "+login)
	}
	// A person can quote a comment with its marker.
	b.Comment(t, id, b.Writer, "Status.\n\n"+coppice.IssueMarker("app-1"))
	change(t, f, coppice.TrackerWriteSpec{Issue: id, Key: "app-1", Comment: "Another status."})
	list, err := f.Comments(t.Context(), id)
	if err != nil || len(list) != len(people)+2 {
		t.Fatalf("%d comments, %v: %+v", len(list), err, list)
	}
	for i, c := range list {
		who := append(append([]string{b.Login}, people...), b.Writer)[i]
		if c.ID == "" || c.Author != who || c.Own != (who == b.Login) || c.Ours() != (i == 0) || c.Bot || c.At.IsZero() || i > 0 && c.At.Before(list[i-1].At) {
			t.Errorf("comment %d of %s: %+v", i, who, c)
		}
		if b.has(t, Access) && c.Writes != (who != b.Stranger) {
			t.Errorf("comment %d of %s, write access: %v", i, who, c.Writes)
		}
	}
	if !strings.HasPrefix(list[0].Text, "Another status.") || list[1].Text != "from "+people[0] {
		t.Errorf("comments %+v", list)
	}
	if r := forge.ClipIssue(issue(t, f, id)); len(r.Comments) != len(people)+1 {
		t.Errorf("the issue has the comments %+v", r.Comments)
	}
	if err := f.EditComment(t.Context(), id, list[0].ID, "Edited"); err != nil {
		t.Error(err)
	}
	if list, err = f.Comments(t.Context(), id); err != nil || list[0].Text != "Edited" {
		t.Errorf("after an edit: %+v, %v", list, err)
	}
}

// relations reads which issues belong together. What is closed does not count.
func relations(t *testing.T, b TrackerBundle) {
	f := b.open(t, b.Token, newTransport())
	id, blocker, old := b.Create(t, b.Writer, "Roof", "text"), b.Create(t, b.Writer, "Walls", "text"), b.Create(t, b.Writer, "Ground", "text")
	part, done := b.Create(t, b.Writer, "Tiles", "text"), b.Create(t, b.Writer, "Beams", "text")
	if b.has(t, Blocking) {
		b.Block(t, id, blocker)
		b.Block(t, id, old)
	}
	b.Part(t, part, id)
	b.Part(t, done, id)
	check := func(step string, blockers, children []string) {
		t.Helper()
		r := issue(t, f, id)
		slices.Sort(r.BlockedBy)
		slices.Sort(r.Children)
		if !b.has(t, Blocking) {
			blockers = nil
		}
		if !slices.Equal(r.BlockedBy, blockers) || !slices.Equal(r.Children, children) {
			t.Errorf("%s: blocked by %q with the parts %q, want %q and %q", step, r.BlockedBy, r.Children, blockers, children)
		}
	}
	sorted := func(s ...string) []string { slices.Sort(s); return s }
	check("all open", sorted(blocker, old), sorted(part, done))
	if r := issue(t, f, part); b.has(t, Parents) && r.Parent != id {
		t.Errorf("the part belongs to %q, want %q", r.Parent, id)
	}
	if r := issue(t, f, blocker); len(r.BlockedBy)+len(r.Children) != 0 || r.Parent != "" {
		t.Errorf("the blocker is %+v", r)
	}
	b.Close(t, old)
	b.Close(t, done)
	check("two closed", []string{blocker}, []string{part})
	if b.Remote.Kind == "linear" {
		return
	}
	// People also write it down.
	text := fmt.Sprintf("Blocked by #%s, #%s and #99999\n\n- [ ] #%s\n- [x] #%s\n", part, old, blocker, done)
	written := b.Create(t, b.Writer, "Written", text)
	if r := issue(t, f, written); !slices.Equal(r.BlockedBy, []string{part}) || !(len(r.Children) == 0 || slices.Equal(r.Children, []string{blocker})) {
		t.Errorf("written relations: %q and %q", r.BlockedBy, r.Children)
	}
}

// trackerPass reads only what has changed.
func trackerPass(t *testing.T, b TrackerBundle) {
	f := b.open(t, b.Token, newTransport())
	var all []string
	for i := range 3 {
		all = append(all, b.Create(t, b.Writer, fmt.Sprint("Issue ", i), "", "agent"))
	}
	other := b.Create(t, b.Writer, "Other", "")
	slices.Sort(all)
	spec := coppice.TrackerReadSpec{List: true}
	spec.Tracker.Import.Labels = []string{"agent"}
	known := map[string]coppice.IssueRead{}
	pass := func() (ids []string, got coppice.TrackerReadResult) {
		t.Helper()
		spec.Known = nil
		for id, r := range known {
			spec.Known = append(spec.Known, coppice.Known{ID: id, UpdatedAt: r.UpdatedAt, Digest: r.Digest()})
		}
		got, err := forge.ReadIssues(t.Context(), f, spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got.Issues {
			known[r.ID] = r
			ids = append(ids, r.ID)
		}
		spec.Since = got.Until
		slices.Sort(ids)
		return ids, got
	}
	ids, got := pass()
	if !slices.Equal(ids, all) || !slices.Equal(got.Matching, all) || got.Until.IsZero() || len(got.Gone) != 0 {
		t.Errorf("the first pass: %q, %+v", ids, got)
	}
	pass()
	if ids, _ = pass(); len(ids) != 0 {
		t.Errorf("nothing changed, and %q is reported", ids)
	}
	b.Comment(t, all[1], b.Writer, "news")
	b.Close(t, all[2])
	if ids, _ = pass(); !slices.Contains(ids, all[1]) || !slices.Contains(ids, all[2]) || len(known[all[1]].Comments) != 1 || !known[all[2]].Closed {
		t.Errorf("a comment and a closed issue: %q, %+v", ids, known)
	}
	spec.Since = time.Time{}
	if _, got = pass(); !slices.Equal(got.Matching, all[:2]) {
		t.Errorf("the second full pass: %q match", got.Matching)
	}
	spec.Named = []string{other, "99999"}
	if ids, got = pass(); !slices.Contains(ids, other) || !slices.Equal(got.Gone, []string{"99999"}) {
		t.Errorf("named issues: %q, gone %q", ids, got.Gone)
	}
	if b.has(t, Removing) {
		b.Remove(t, all[0])
		spec.Named, spec.Since = nil, time.Time{}
		if _, got = pass(); !slices.Equal(got.Gone, []string{all[0]}) {
			t.Errorf("gone are %q", got.Gone)
		}
	}
}

// trackerCalls are all methods of a tracker.
func trackerCalls(id string) map[string]func(context.Context, forge.Tracker) error {
	title, closed := "t", true
	return map[string]func(context.Context, forge.Tracker) error{
		"Issues": func(ctx context.Context, f forge.Tracker) error {
			_, err := f.Issues(ctx, forge.IssueQuery{})
			return err
		},
		"Issue":       func(ctx context.Context, f forge.Tracker) error { _, err := f.Issue(ctx, id); return err },
		"Comments":    func(ctx context.Context, f forge.Tracker) error { _, err := f.Comments(ctx, id); return err },
		"AddComment":  func(ctx context.Context, f forge.Tracker) error { return f.AddComment(ctx, id, "text") },
		"EditComment": func(ctx context.Context, f forge.Tracker) error { return f.EditComment(ctx, id, "99999", "text") },
		"Edit": func(ctx context.Context, f forge.Tracker) error {
			return f.Edit(ctx, id, coppice.IssueEdit{Title: &title, Closed: &closed, Add: []string{"l"}})
		},
	}
}

// trackerFailures checks the errors of the contract.
func trackerFailures(t *testing.T, b TrackerBundle) {
	f := b.open(t, b.Token, newTransport())
	id := b.Create(t, b.Writer, "Title", "text", "agent")
	for _, missing := range []string{"99999", "ENG-99999", "0", "1/../2", "", "x y"} {
		for name, call := range trackerCalls(missing) {
			if name == "Issues" {
				continue
			}
			if err := call(t.Context(), f); coppice.ErrorCode(err) != coppice.ENotFound {
				t.Errorf("%s of the issue %q: %v, want not_found", name, missing, err)
			}
		}
	}
	failAll(t, trackerCalls(id), []string{"Issues", "Issue", "Comments", "Edit"}, b.Token, func(token string, tr http.RoundTripper) forge.Tracker {
		return b.open(t, token, tr)
	})
}

// trackerConditional counts the whole answers when nothing has changed.
func trackerConditional(t *testing.T, b TrackerBundle) {
	if !b.has(t, Validated) {
		return
	}
	c := newTransport()
	c.tags = true
	f := b.open(t, b.Token, forge.Conditional(c))
	id := b.Create(t, b.Writer, "Quiet", "text", "agent")
	b.Comment(t, id, b.Writer, "hello")
	first := coppice.Raw(issue(t, f, id))
	if _, reads := c.take(); len(reads) < 2 {
		t.Errorf("the first read has only %q", reads)
	}
	second := coppice.Raw(issue(t, f, id))
	if _, reads := c.take(); len(reads) != 0 || string(second) != string(first) {
		t.Errorf("the second read has %q and returns %s, want %s", reads, second, first)
	}
}

// hostileIssues writes and reads texts that break weak programs.
func hostileIssues(t *testing.T, b TrackerBundle) {
	f := b.open(t, b.Token, newTransport())
	// Gitea breaks characters of several bytes at the ends of its buffers.
	long := "ü ✓\n" + strings.Repeat("u<b>&amp;\n", 4000)
	label := "a, b & c"
	if !b.has(t, Commas) {
		label = "a b & c"
	}
	id := b.Create(t, b.Writer, "Ünï ✓ \"quotes\" & <tags>", "first\r\nsecond\n"+long, label)
	r := issue(t, f, id)
	if r.Title != "Ünï ✓ \"quotes\" & <tags>" || b.has(t, PlainText) && !strings.Contains(r.Text, strings.TrimSpace(long)) || !slices.Equal(r.Labels, []string{label}) {
		t.Errorf("read %.200q with %q and %d bytes: %.200q", r.Title, r.Labels, len(r.Text), r.Text)
	}
	got := change(t, f, coppice.TrackerWriteSpec{
		Issue: id, Key: "app-1", Comment: "bad \xff and \x00 bytes\n" + strings.Repeat("x", 100<<10), Edit: coppice.IssueEdit{Add: []string{"ü ✓ / %2F"}},
	})
	if !slices.Contains(got.Labels, "ü ✓ / %2F") || len(got.Text) > coppice.MaxIssueText {
		t.Errorf("labels %q, %d bytes", got.Labels, len(got.Text))
	}
	list, err := f.Comments(t.Context(), id)
	if err != nil || len(list) != 1 || !strings.HasPrefix(list[0].Text, "bad ") || !list[0].Ours() {
		t.Fatalf("%d comments, %v", len(list), err)
	}
	change(t, f, coppice.TrackerWriteSpec{Issue: id, Key: "app-1", Comment: "short", Edit: coppice.IssueEdit{Drop: []string{"ü ✓ / %2F", label}}})
	if list, err = f.Comments(t.Context(), id); err != nil || len(list) != 1 || !strings.HasPrefix(list[0].Text, "short") {
		t.Errorf("comments %+v, %v", list, err)
	}
	if r := issue(t, f, id); len(r.Labels) != 0 {
		t.Errorf("labels %q", r.Labels)
	}
	want := b.Create(t, b.Writer, "Labelled", "", label)
	found, err := f.Issues(t.Context(), forge.IssueQuery{TrackerImport: coppice.TrackerImport{Labels: []string{label}}, Open: true})
	if err != nil || len(found) != 1 || found[0].ID != want {
		t.Errorf("the label finds %d issues, %v", len(found), err)
	}
}

// workflow moves an issue through the states of a tracker that has them.
func workflow(t *testing.T, b TrackerBundle) {
	f := b.open(t, b.Token, newTransport())
	left := b.Create(t, b.Writer, "Closed by a person", "")
	b.Close(t, left)
	for _, s := range coppice.IssueStatuses {
		if got := change(t, f, coppice.TrackerWriteSpec{Issue: left, Key: "app-2", Edit: coppice.IssueEdit{Status: s}}); !got.Closed {
			t.Errorf("the status %s opened an issue that a person has closed", s)
		}
	}
	id := b.Create(t, b.Writer, "Workflow", "")
	if !b.has(t, States) {
		for _, s := range coppice.IssueStatuses {
			if got := change(t, f, coppice.TrackerWriteSpec{Issue: id, Key: "app-1", Edit: coppice.IssueEdit{Status: s}}); got.Closed {
				t.Errorf("the status %s closed the issue", s)
			}
		}
		return
	}
	seen := map[coppice.IssueStatus]string{}
	for _, s := range coppice.IssueStatuses {
		got := change(t, f, coppice.TrackerWriteSpec{Issue: id, Key: "app-1", Edit: coppice.IssueEdit{Status: s}})
		if seen[s] = got.State; got.State == "" || got.Closed {
			t.Errorf("with the status %s the state is %q, closed %v", s, got.State, got.Closed)
		}
	}
	if seen[coppice.IssueWaiting] == seen[coppice.IssueWorking] {
		t.Errorf("states %q", seen)
	}
	yes, no := true, false
	done := change(t, f, coppice.TrackerWriteSpec{Issue: id, Key: "app-1", Edit: coppice.IssueEdit{Status: coppice.IssueDone, Closed: &yes}})
	again := change(t, f, coppice.TrackerWriteSpec{Issue: id, Key: "app-1", Edit: coppice.IssueEdit{Status: coppice.IssueWorking, Closed: &no}})
	if !done.Closed || again.Closed || again.State != seen[coppice.IssueWorking] {
		t.Errorf("closed: %+v, then %+v", done, again)
	}
}

// cutting fails in one of the requests that change something: before it is sent, or
// after it had its effect.
type cutting struct {
	at   int
	late bool

	mu     sync.Mutex
	writes int
}

var errCut = errors.New("the connection was cut")

func (c *cutting) RoundTrip(req *http.Request) (*http.Response, error) {
	cut := false
	if req.Method != http.MethodGet && !asks(req) {
		c.mu.Lock()
		c.writes++
		cut = c.writes == c.at
		c.mu.Unlock()
	}
	if cut && !c.late {
		return nil, errCut
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if cut && err == nil {
		resp.Body.Close()
		return nil, errCut
	}
	return resp, err
}

// killed repeats a write that was interrupted at each of its changes.
func killed(t *testing.T, b TrackerBundle) {
	f := b.open(t, b.Token, newTransport())
	yes, title, text := true, "Changed", "Changed text"
	for at := 1; ; at++ {
		for _, late := range []bool{false, true} {
			id := b.Create(t, b.Writer, "Killed", "text", "agent")
			b.Comment(t, id, b.Writer, "Status.\n\n"+coppice.IssueMarker("app-1"))
			step := fmt.Sprintf("step %d-%t", at, late)
			spec := coppice.TrackerWriteSpec{Issue: id, Key: "app-1", Comment: "Status.", Edit: coppice.IssueEdit{Title: &title, Text: &text, Closed: &yes, Add: []string{step}, Drop: []string{"agent"}}}
			c := &cutting{at: at, late: late}
			_, err := forge.WriteIssue(t.Context(), b.open(t, b.Token, c), spec)
			if err == nil && c.writes < at {
				if at < 3 {
					t.Errorf("the write has only %d changes", c.writes)
				}
				return
			}
			var failure *coppice.Failure
			if !errors.As(err, &failure) || failure.Class != coppice.ClassEnvironment {
				t.Errorf("cut at %d: %v", at, err)
			}
			change(t, f, spec)
			got := change(t, f, spec)
			list, err := f.Comments(t.Context(), id)
			ours := slices.DeleteFunc(slices.Clone(list), func(c coppice.IssueComment) bool { return !c.Ours() })
			if err != nil || len(list) != 2 || len(ours) != 1 || !got.Closed || got.Title != title || strings.TrimSpace(got.Text) != text || !slices.Equal(got.Labels, []string{step}) {
				t.Errorf("cut at %d, late %t: %+v with the comments %+v, %v", at, late, got, list, err)
			}
		}
	}
}
