package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/forge"
	"coppice/store"
)

// issues is what happened to issues.
type issues struct {
	Filed     int // by people
	Imported  int // became tasks
	Edited    int // titles and descriptions, on both sides
	Said      int // comments by people whose comments count,
	Delivered int // and those that reached an agent as a message
	Shut      int // by people, while the task was open
	Closed    int // by Coppice
	Lost      int // changes whose result was lost
	Blocked   int // tasks that got a dependency because a blocker was added to their issue
}

func (i *issues) add(o issues) {
	for _, n := range [][2]*int{
		{&i.Filed, &o.Filed}, {&i.Imported, &o.Imported}, {&i.Edited, &o.Edited}, {&i.Said, &o.Said}, {&i.Delivered, &o.Delivered}, {&i.Shut, &o.Shut}, {&i.Closed, &o.Closed}, {&i.Lost, &o.Lost}, {&i.Blocked, &o.Blocked},
	} {
		*n[0] += *n[1]
	}
}

// tracking is a tracker, and the people who use it. It implements forge.Tracker, so that
// the real forge.ReadIssues and forge.WriteIssue are what the simulation runs.
type tracking struct {
	issues
	s      *sim
	rng    *rand.Rand
	filed  []*filed
	away   time.Time
	most   int   // tasks that can be active
	number int   // of comments and texts
	marks  int64 // events that show progress,
	seq    int64 // up to this one
}

// filed is an issue on the tracker.
type filed struct {
	coppice.IssueRead
	comments []coppice.IssueComment
	shut     bool // a person closed it
	after    int  // how many dependencies its task had when it was last seen; -1 before
}

func newTracking(s *sim, seed uint64) *tracking {
	rng := rand.New(rand.NewPCG(seed, 53))
	return &tracking{s: s, rng: rng, most: 1 + rng.IntN(4)}
}

// tracked gives the first project a tracker.
func (s *sim) tracked(p *coppice.Policy) {
	k := s.tracking
	if k == nil || len(s.projects) > 0 {
		return
	}
	every := coppice.Duration(time.Duration(10+k.rng.IntN(50)) * time.Second)
	p.Trackers = coppice.Trackers{{Kind: "gitea", Every: every, Active: k.most, Import: coppice.TrackerImport{Labels: []string{"agent"}}}}
	if k.rng.IntN(2) == 0 {
		p.Trackers[0].Write.Labels = map[coppice.IssueStatus]string{coppice.IssueWorking: "busy", coppice.IssueDone: "shipped"}
	}
	p.Land.Push, p.Budget, p.Limits.Sessions = false, coppice.BudgetPolicy{}, 2+k.rng.IntN(3)
}

// trackerWork carries out work on the tracker.
func (s *sim) trackerWork(w coppice.Work) (any, error) {
	if w.Kind == coppice.WorkTrackerRead {
		return try(w, func(v coppice.TrackerReadSpec) (any, error) { return forged(forge.ReadIssues(s.ctx, s.tracking, v)) })
	}
	return try(w, func(v coppice.TrackerWriteSpec) (any, error) { return forged(forge.WriteIssue(s.ctx, s.tracking, v)) })
}

func (k *tracking) offline() error {
	if !k.s.calm && k.away.After(k.s.now) {
		return coppice.Failf(coppice.ClassEnvironment, "the tracker cannot be reached", "")
	}
	return nil
}

// change carries out a change. At times the tracker goes away, or the result is lost.
func (k *tracking) change(id string, effect func(*filed)) error {
	if err := k.offline(); err != nil {
		return err
	}
	i := k.find(id)
	if i == nil {
		return coppice.Errorf(coppice.ENotFound, "there is no issue %s", id)
	}
	n := 99
	if !k.s.calm {
		n = k.rng.IntN(8)
	}
	if n == 0 {
		k.away = k.s.now.Add(time.Duration(k.rng.IntN(300)) * time.Second)
		return k.offline()
	}
	effect(i)
	i.UpdatedAt = k.s.now.Truncate(time.Second)
	if n == 1 {
		k.Lost++
		return coppice.Failf(coppice.ClassEnvironment, "the connection was lost", "")
	}
	return nil
}

func (k *tracking) find(id string) *filed {
	for _, i := range k.filed {
		if i.ID == id {
			return i
		}
	}
	return nil
}

// Issues implements forge.Tracker.
func (k *tracking) Issues(_ context.Context, q forge.IssueQuery) (list []coppice.IssueRead, err error) {
	if err := k.offline(); err != nil {
		return nil, err
	}
	for _, i := range k.filed {
		match := q.TrackerImport
		if i.UpdatedAt.Before(q.Since.Truncate(time.Second)) || q.Open && i.Closed || !match.IsZero() && !match.Matches(i.IssueRead) {
			continue
		}
		list = append(list, i.IssueRead)
	}
	slices.SortStableFunc(list, func(a, b coppice.IssueRead) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	return list[:min(len(list), forge.MostIssues)], nil
}

// Issue implements forge.Tracker.
func (k *tracking) Issue(_ context.Context, id string) (r coppice.IssueRead, err error) {
	if err := k.offline(); err != nil {
		return r, err
	}
	i := k.find(id)
	if i == nil {
		return r, coppice.Errorf(coppice.ENotFound, "there is no issue %s", id)
	}
	r = i.IssueRead
	r.Labels, r.Comments = slices.Clone(i.Labels), slices.Clone(i.comments)
	r.BlockedBy = slices.DeleteFunc(slices.Clone(i.BlockedBy), func(b string) bool { return k.find(b).Closed })
	return r, nil
}

// Edit implements forge.Tracker.
func (k *tracking) Edit(_ context.Context, id string, e coppice.IssueEdit) error {
	return k.change(id, func(i *filed) {
		if e.Title != nil {
			i.Title = *e.Title
		}
		if e.Text != nil {
			i.Text = *e.Text
		}
		if e.Closed != nil {
			if i.Closed = *e.Closed; i.Closed {
				k.Closed++
			}
		}
		i.Labels = slices.DeleteFunc(i.Labels, func(l string) bool { return slices.Contains(e.Drop, l) })
		i.Labels = append(i.Labels, e.Add...)
	})
}

// Comments implements forge.Tracker.
func (k *tracking) Comments(ctx context.Context, id string) ([]coppice.IssueComment, error) {
	r, err := k.Issue(ctx, id)
	return r.Comments, err
}

// AddComment implements forge.Tracker.
func (k *tracking) AddComment(_ context.Context, id, text string) error {
	return k.change(id, func(i *filed) {
		k.number++
		i.comments = append(i.comments, coppice.IssueComment{ID: fmt.Sprint(k.number), Author: "coppice", Writes: true, Own: true, Text: text, At: k.s.now})
	})
}

// EditComment implements forge.Tracker.
func (k *tracking) EditComment(_ context.Context, id, comment, text string) error {
	return k.change(id, func(i *filed) {
		for n := range i.comments {
			if i.comments[n].ID == comment {
				i.comments[n].Text = text
			}
		}
	})
}

// trackerPerson is a person who uses the tracker, or edits the task of an issue.
func (s *sim) trackerPerson() error {
	k := s.tracking
	if len(k.filed) < 3 || len(k.filed) < 12 && k.rng.IntN(3) == 0 {
		k.Filed++
		i := &filed{IssueRead: coppice.IssueRead{ID: fmt.Sprint(len(k.filed) + 1), Title: k.text("title"), Text: k.text("text"), Author: "ann", Writes: k.rng.IntN(5) > 0, Labels: []string{"agent"}}}
		if len(k.filed) > 0 && k.rng.IntN(3) == 0 {
			i.BlockedBy = []string{fmt.Sprint(1 + k.rng.IntN(len(k.filed)))}
		}
		i.UpdatedAt = s.now.Truncate(time.Second)
		i.after = -1
		k.filed = append(k.filed, i)
		return nil
	}
	i := k.filed[k.rng.IntN(len(k.filed))]
	n := k.rng.IntN(20)
	switch {
	case n < 5:
		k.Edited++
		i.Title = k.text("title")
	case n < 8:
		k.Edited++
		i.Text = k.text("text")
	case n < 13:
		writes := k.rng.IntN(3) > 0
		k.number++
		i.comments = append(i.comments, coppice.IssueComment{ID: fmt.Sprint(k.number), Author: "ann", Writes: writes, Text: k.text("said"), At: s.now})
		if writes {
			k.Said++
		}
	case n == 13 && !i.Closed:
		k.Shut++
		i.Closed, i.shut = true, true
	case n == 14 && !slices.Contains(i.Labels, "agent"):
		i.Labels = append(i.Labels, "agent")
	case n == 14:
		i.Labels = slices.DeleteFunc(i.Labels, func(l string) bool { return l == "agent" })
	case n < 17:
		return s.blockIssue()
	default:
		return s.editTask(i)
	}
	i.UpdatedAt = s.now.Truncate(time.Second)
	return nil
}

// text returns a text that nothing else has.
func (k *tracking) text(what string) string {
	k.number++
	return fmt.Sprintf("%s %d.", what, k.number)
}

// editTask is a person who edits the task of an issue.
func (s *sim) editTask(i *filed) error {
	k := s.tracking
	t, err := s.taskOf(i)
	if err != nil || t == nil {
		return err
	}
	text := k.text("edited")
	c := coppice.TaskChange{Title: &text}
	if k.rng.IntN(2) == 0 {
		c = coppice.TaskChange{Body: &text}
	}
	_, err = s.intake.ChangeTask(s.ctx, t.Key, c)
	if err == nil {
		k.Edited++
	}
	return err
}

// blockIssue adds a blocker to an issue whose task waits, if there is one. The blocker has
// a task, too, and the issue can block it already.
func (s *sim) blockIssue() error {
	k := s.tracking
	var waiting, open []*filed
	for _, i := range k.filed {
		t, err := s.taskOf(i)
		if err != nil {
			return err
		}
		if t == nil || i.Closed {
			continue
		}
		if open = append(open, i); coppice.IssueStatusOf(*t) == coppice.IssueWaiting {
			waiting = append(waiting, i)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	i, by := waiting[k.rng.IntN(len(waiting))], open[k.rng.IntN(len(open))]
	if by == i || slices.Contains(i.BlockedBy, by.ID) {
		return nil
	}
	i.BlockedBy = append(i.BlockedBy, by.ID)
	i.UpdatedAt = s.now.Truncate(time.Second)
	return nil
}

// taskOf returns the task of an issue, or nil.
func (s *sim) taskOf(i *filed) (t *coppice.Task, err error) {
	return t, s.st.View(s.ctx, func(r store.Reader) error {
		tasks, err := r.Tasks.List(store.TaskFilter{})
		for n := range tasks {
			if tasks[n].Issue != nil && tasks[n].Issue.ID == i.ID {
				t = &tasks[n]
			}
		}
		return err
	})
}

// issueActions are what happens where issues become tasks.
func (s *sim) issueActions() weights {
	return weights{
		{"turn", 40}, {"take", 30}, {"work", 50}, {"agent", 26}, {"time", 10}, {"renew", 8}, {"ask", 3}, {"create", 2}, {"tracker", 20},
		{"crash worker", 1}, {"crash server", 2}, {"kill host", 1},
	}
}

// issuesHold checks after a turn that no issue has two tasks, and that at most as many
// are active as the limit says.
func (s *sim) issuesHold(r store.Reader) error {
	k := s.tracking
	if k == nil {
		return nil
	}
	tasks, err := r.Tasks.List(store.TaskFilter{})
	active, of := 0, map[string]string{}
	for _, t := range tasks {
		if t.Issue == nil {
			continue
		}
		if other := of[t.Issue.ID]; other != "" {
			return fmt.Errorf("the issue %s has the tasks %s and %s", t.Issue.ID, other, t.Key)
		}
		of[t.Issue.ID] = t.Key
		i := k.find(t.Issue.ID)
		if i.after >= 0 && len(t.After) > i.after {
			k.Blocked++
		}
		i.after = len(t.After)
		if coppice.IssueStatusOf(t).Active() && t.Round == 0 { // people restart tasks whatever the limit is
			active++
		}
	}
	k.Imported = len(of)
	if active > k.most {
		return fmt.Errorf("%d tasks of issues are active, %d are allowed", active, k.most)
	}
	for _, i := range k.filed {
		if key := of[i.ID]; key != "" {
			if err := i.commentsHold(key); err != nil {
				return err
			}
		}
	}
	return err
}

// commentsHold checks that the issue has at most one status comment.
func (i *filed) commentsHold(key string) error {
	n := 0
	for _, c := range i.comments {
		if strings.Contains(c.Text, coppice.IssueMarker(key)) {
			n++
		}
	}
	if n > 1 {
		return fmt.Errorf("the issue %s has %d status comments of %s", i.ID, n, key)
	}
	return nil
}

// issuesHeld checks at the end that both sides agree.
func (s *sim) issuesHeld(r store.Reader) (issues, error) {
	k := s.tracking
	if k == nil {
		return issues{}, nil
	}
	var errs []error
	tasks, err := r.Tasks.List(store.TaskFilter{})
	for _, t := range tasks {
		if t.Issue == nil {
			continue
		}
		i := k.find(t.Issue.ID)
		row, err := r.Issues.Of(t.ID)
		if err != nil || row == nil {
			return k.issues, errors.Join(err, fmt.Errorf("%s has no issue", t.Key))
		}
		errs = append(errs, i.agrees(t, *row), k.messagesHold(r, i, t))
	}
	return k.issues, errors.Join(append(errs, err)...)
}

// agrees checks that an issue shows its task, and that the task has the texts of the issue.
func (i *filed) agrees(t coppice.Task, row coppice.Issue) error {
	status := coppice.IssueStatusOf(t)
	fail := func(format string, args ...any) error {
		return fmt.Errorf("the issue %s of %s (%s): %s; %+v; the row: %+v", i.ID, t.Key, status, fmt.Sprintf(format, args...), i.IssueRead, row)
	}
	switch {
	case row.Status != status || row.Agreed.Status != status:
		return fail("the status is %s, and the tracker shows %s", row.Status, row.Agreed.Status)
	case status == coppice.IssueDone && !i.Closed:
		return fail("it is open")
	case i.Closed && !t.Ended():
		return fail("it is closed, and the task continues")
	case i.Closed && !i.shut && status != coppice.IssueDone && t.DoneAt.IsZero():
		return fail("nobody closed it")
	case i.Closed && t.Ended(): // nobody reads it any more
	case t.Changeable() && !row.Held && (t.Title != i.Title || t.Body != i.Text):
		return fail("the task has %q, %q", t.Title, t.Body)
	case t.Changeable() && row.Held && i.Writes:
		return fail("its text is held, although its author counts")
	}
	if n := slices.IndexFunc(i.comments, func(c coppice.IssueComment) bool { return c.Own }); n < 0 {
		return fail("it has no status comment")
	}
	return nil
}

// messagesHold checks that a comment reached the agent at most one time, and only if it
// counts.
func (k *tracking) messagesHold(r store.Reader, i *filed, t coppice.Task) error {
	all, err := r.Messages.Of(t.ID)
	for _, c := range i.comments {
		n := 0
		for _, m := range all {
			if !c.Own && m.From == "issue" && strings.Contains(m.Text, c.Text) {
				n++
			}
		}
		if k.Delivered += n; n > 1 || n == 1 && !c.Writes {
			return fmt.Errorf("the comment %q on %s reached the agent of %s %d times; it counts: %t", c.Text, i.ID, t.Key, n, c.Writes)
		}
	}
	return err
}

// issueMarks is something that differs whenever anything has happened, except that the
// tracker was read without a result.
func (s *sim) issueMarks() (int64, error) {
	k := s.tracking
	err := s.st.View(s.ctx, func(r store.Reader) error {
		for {
			events, err := r.Log.Events(k.seq, 500, store.EventFilter{})
			if err != nil || len(events) == 0 {
				return err
			}
			for _, e := range events {
				if k.seq = e.Seq; e.About.Kind != coppice.SubjectTracker || e.Kind == coppice.EventIssueChanged || e.Kind == coppice.EventIssueImported {
					k.marks++
				}
			}
		}
	})
	return k.marks, err
}

// endIssues lets full passes happen, which find what no list of changes shows. It reports
// whether something changed.
func (s *sim) endIssues() (bool, error) {
	before, err := s.issueMarks()
	for range 6 {
		if err != nil {
			return false, err
		}
		s.now = s.now.Add(31 * time.Minute)
		err = s.round()
	}
	if err = errors.Join(err, s.turn()); err != nil { // what the last round read
		return false, err
	}
	after, err := s.issueMarks()
	return before != after, err
}
