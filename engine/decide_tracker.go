package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"coppice"
	"coppice/store"
)

const (
	// trackerFull is the longest time between two passes that read every open issue.
	// Some changes, such as a label that was removed, are in no list of changes.
	trackerFull = time.Hour
	// trackerRest is the longest pause of a source that fails, and issueRest that of an
	// issue that cannot be changed.
	trackerRest = 30 * time.Minute
	issueRest   = 30 * time.Minute
)

// trackerDeciders are the deciders of a project's sources of issues, in order.
var trackerDeciders = []func(*TrackerView) *Decision{
	noteTasks, settleTracker, syncSources, trackerAsked, importIssues, writeIssues, readSources,
}

func (v *TrackerView) decide() *Decision {
	if v.Project.Removal != nil || len(v.Sources) == 0 {
		return nil
	}
	for _, f := range trackerDeciders {
		if d := f(v); d != nil {
			d.By = "tracker"
			return d
		}
	}
	return nil
}

func (v *TrackerView) follow(t *turn, _ *Decision) error { return v.load(t, v.Of.Num()) }

// sourceRow writes what is remembered about a source.
func sourceRow(r coppice.Tracker) Row {
	return row{coppice.SubjectTracker, func(tx store.Tx) error { return tx.Trackers.Put(&r) }, func() {}}
}

// issueRow writes an issue.
func issueRow(i coppice.Issue) Row {
	return row{coppice.SubjectTracker, func(tx store.Tx) error { return tx.Issues.Put(&i) }, func() {}}
}

// deleteIssue removes an issue that never had a task.
func deleteIssue(id int64) Row {
	return row{coppice.SubjectTracker, func(tx store.Tx) error { return tx.Issues.Delete(id) }, func() {}}
}

// syncSources makes the rows follow the policy: it adds those of new sources, and ends
// those that the policy no longer has. Their tasks continue, and nothing is written any
// more.
func syncSources(v *TrackerView) *Decision {
	d := &Decision{Kind: coppice.EventTrackerRead}
	for _, s := range v.Sources {
		if s.Policy != nil {
			continue
		}
		r := s.Row
		r.NextAt, r.Failure, r.Problem, r.Tries = time.Time{}, nil, "", 0
		r.FullAt, r.Writes = time.Time{}, "" // if the source returns, everything is read again, and written
		if slices.ContainsFunc(v.Sources, func(o Source) bool { return o.Policy != nil && o.Policy.SourceName() == r.Name }) {
			r.Name = fmt.Sprintf("%s/%d", r.Name, r.ID)
		}
		for _, m := range s.Waiting {
			d.More = append(d.More, deleteIssue(m.ID))
		}
		if len(s.Waiting) > 0 || !sameSource(r, s.Row) {
			d.More, d.Reason = append(d.More, sourceRow(r)), fmt.Sprintf("coppice.yaml no longer has the source %s", s.Row.Name)
		}
	}
	for _, s := range v.Sources {
		if s.Policy == nil {
			continue
		}
		r := s.Row
		r.ProjectID, r.Name, r.Place, r.Writes = v.Project.ID, s.Policy.SourceName(), s.Policy.Place(), s.Policy.Write.Digest()
		reads := !s.Policy.Import.IsZero() || s.live() > 0
		switch {
		case !reads:
			r.NextAt = time.Time{}
		case r.NextAt.IsZero() && !v.reading(s):
			r.NextAt = v.Now
		}
		if s.Row.ID == 0 || !sameSource(r, s.Row) {
			if s.Row.ID != 0 && s.Row.Writes != r.Writes {
				d.More = append(d.More, row{coppice.SubjectTracker, func(tx store.Tx) error { return tx.Issues.Wake(r.ID, v.Now) }, func() {}})
			}
			d.More, d.Reason = append(d.More, sourceRow(r)), cmp.Or(d.Reason, fmt.Sprintf("the source %s is read", r.Name))
		}
	}
	if len(d.More) == 0 {
		return nil
	}
	return d
}

// sameSource compares what syncSources changes.
func sameSource(a, b coppice.Tracker) bool {
	return a.Name == b.Name && a.Place == b.Place && a.Writes == b.Writes && a.NextAt.Equal(b.NextAt) && (a.Failure == nil) == (b.Failure == nil) && a.Problem == b.Problem &&
		a.Tries == b.Tries && a.FullAt.Equal(b.FullAt)
}

// reading reports whether a pass over a source is open.
func (v *TrackerView) reading(s Source) bool {
	return slices.ContainsFunc(v.Work, func(w coppice.Work) bool {
		of := v.sourceOf(w)
		return w.Kind == coppice.WorkTrackerRead && of != nil && of.Row.ID == s.Row.ID
	})
}

// writes returns how many issues are being changed.
func (v *TrackerView) writes() int {
	n := 0
	for _, w := range v.Work {
		if w.Kind == coppice.WorkTrackerWrite {
			n++
		}
	}
	return n
}

// issueArgs are the arguments of a request about an issue.
type issueArgs struct {
	Tracker int64  `json:"tracker,omitempty"` // the id of its row
	Issue   string `json:"issue,omitempty"`
}

// trackerAsked carries out what people ask for: to take the text of an issue that was
// held, and to read the sources now.
func trackerAsked(v *TrackerView) *Decision {
	if v.asked(coppice.VerbAccept) != nil {
		d := &Decision{Kind: coppice.EventIssueChanged, Reason: "a person accepts what somebody changed in the tracker", Asks: v.settled(coppice.VerbAccept)}
		for _, of := range v.Accept {
			if s := v.source(of.TrackerID); of.Held && s != nil && s.Policy != nil {
				i, asks := acceptText(v, *s, of)
				d.More, d.Requests = append(d.More, issueRow(i)), append(d.Requests, asks...)
			}
		}
		return d
	}
	if v.asked(coppice.VerbRead) == nil {
		return nil
	}
	d := &Decision{Kind: coppice.EventTrackerRead, Reason: "a person wants the sources to be read now", Asks: v.settled(coppice.VerbRead)}
	for _, s := range v.Sources {
		if s.Policy != nil && s.Row.ID != 0 && !v.reading(s) {
			r := s.Row
			r.NextAt, r.FullAt, r.Problem = v.Now, time.Time{}, ""
			d.More = append(d.More, sourceRow(r))
		}
	}
	return d
}

// readSources offers a pass over a source that is due.
func readSources(v *TrackerView) *Decision {
	for _, s := range v.Sources {
		r := s.Row
		if s.Policy == nil || r.NextAt.IsZero() || r.NextAt.After(v.Now) || v.reading(s) {
			continue
		}
		full := !r.FullAt.Add(trackerFull).After(v.Now)
		spec := coppice.TrackerReadSpec{TrackerSpec: trackerSpec(v.Project, *s.Policy), List: !s.Policy.Import.IsZero(), Since: r.Since, Named: s.Missing}
		if full {
			spec.Since = time.Time{}
		}
		for _, m := range s.Known {
			spec.Known = append(spec.Known, coppice.Known{ID: m.Issue, UpdatedAt: m.UpdatedAt, Digest: m.Digest})
		}
		r.Passes++
		r.NextAt = time.Time{}
		return &Decision{
			Kind: coppice.EventWorkOffered, Reason: fmt.Sprintf("reads the issues of %s", r.Name), More: []Row{sourceRow(r)},
			Offer: &coppice.Work{
				Kind: coppice.WorkTrackerRead, Key: fmt.Sprintf("tracker/%d/read/%d", r.ID, r.Passes), Pool: place(nil, placement{Kind: coppice.WorkTrackerRead}), Spec: coppice.Raw(spec),
			},
		}
	}
	return nil
}

func trackerSpec(p coppice.Project, t coppice.TrackerPolicy) coppice.TrackerSpec {
	t.Task = nil
	return coppice.TrackerSpec{ForgeSpec: forgeSpec(p), Tracker: t}
}

// settleTracker stores the result of finished work.
func settleTracker(v *TrackerView) *Decision {
	w := v.Done
	if w == nil {
		return nil
	}
	s := v.sourceOf(*w)
	d := &Decision{Kind: coppice.EventWorkFinished, Reason: "its source is gone"}
	switch {
	case s == nil || s.Policy == nil:
	case w.Kind == coppice.WorkTrackerRead:
		d = settleTrackerRead(v, *s, *w)
	case w.Kind == coppice.WorkTrackerWrite:
		d = settleTrackerWrite(v, *s, *w)
	}
	done := *w
	d.Settle = &done
	return d
}

// settleTrackerRead stores what a pass found, and plans the next one. After a failure the
// pauses grow.
func settleTrackerRead(v *TrackerView, s Source, w coppice.Work) *Decision {
	read, fail := result[coppice.TrackerReadResult](w)
	spec, err := coppice.DecodeSpec[coppice.TrackerReadSpec](w)
	d, r := &Decision{Kind: coppice.EventTrackerRead}, s.Row
	if err != nil && fail == nil {
		fail = coppice.Failf(coppice.ClassUnknown, "the pass cannot be read: "+err.Error(), "")
	}
	pause := s.Policy.Interval().D()
	if fail != nil {
		r.Tries++
		r.Failure = fail
		if r.NextAt = v.Now.Add(doubled(pause, r.Tries, max(pause, trackerRest))); fail.RetryAt.After(r.NextAt) {
			r.NextAt = fail.RetryAt
		}
		d.Reason, d.More = fail.Text, []Row{sourceRow(r)}
		return d
	}
	r.ReadAt, r.Tries, r.Failure, r.Problem, r.NextAt = v.Now, 0, nil, "", v.Now.Add(pause)
	r.Since = read.Until
	if spec.Since.IsZero() {
		r.FullAt, r.Matching = v.Now, len(read.Matching)
	}
	f := found{v: v, s: s, d: d, began: w.OfferedAt, fits: coppice.MaxOpenIssues - s.Counts[""]}
	for _, i := range read.Issues {
		f.issue(i, slices.Contains(spec.Named, i.ID))
	}
	for _, name := range read.Gone {
		f.gone(name)
	}
	if spec.List && spec.Since.IsZero() {
		f.unmatched(read)
	}
	d.More = append(d.More, sourceRow(r))
	d.Reason = fmt.Sprintf("%s: %d issues are new, %d changed", r.Name, f.fresh, f.changed)
	return d
}

// found adds to a decision what follows from the issues that a pass found.
type found struct {
	v              *TrackerView
	s              Source
	began          time.Time // when the pass was offered
	d              *Decision
	fits           int // how many more issues can wait
	fresh, changed int
	dropped        map[string]bool
}

// issue stores an issue. One that is new, and that no other source has, waits to become a task. A sub-issue of a task
// waits too, whatever its labels are.
func (f *found) issue(read coppice.IssueRead, named bool) {
	of := f.v.Found[read.ID]
	switch {
	case f.v.Other[read.ID]:
	case of == nil && !read.Closed && f.fits > 0 && (named || !f.s.Policy.Import.IsZero()):
		f.fits--
		f.fresh++
		i := coppice.Issue{ProjectID: f.v.Project.ID, TrackerID: f.s.Row.ID, Issue: read.ID}
		i.Read, i.Manual = read, named && !f.s.Policy.Import.Matches(read)
		f.d.More = append(f.d.More, issueRow(i))
	case of == nil:
	case of.Waits() && (read.Closed || !of.Manual && !f.s.Policy.Import.Matches(read)):
		f.drop(of.Issue)
	case of.Writing != nil || !of.WroteAt.Before(f.began): // the pass might have read it before that change
		if !of.Stale {
			i := of.Issue
			i.Stale = true
			f.d.More = append(f.d.More, issueRow(i))
		}
	default:
		f.changed++
		i, asks := mergeIssue(f.v, f.s, *of, read, false)
		f.d.More, f.d.Requests = append(f.d.More, issueRow(i)), append(f.d.Requests, asks...)
	}
}

func (f *found) drop(i coppice.Issue) {
	if f.dropped == nil {
		f.dropped = map[string]bool{}
	}
	f.dropped[i.Issue] = true
	f.changed++
	f.d.More = append(f.d.More, deleteIssue(i.ID))
}

// gone stores that the tracker does not have an issue, or does not show it. Its task
// continues, because the cause might be a token that has lost its rights.
func (f *found) gone(name string) {
	of := f.v.Found[name]
	switch {
	case of == nil || of.Gone:
	case of.Waits():
		f.drop(of.Issue)
	default:
		f.changed++
		i := of.Issue
		i.Gone, i.NextAt = true, time.Time{}
		i.Failure = coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the tracker does not show %s any more", coppice.IssueName(name)),
			"check whether the issue was deleted or moved, and whether the token can read it; the task continues")
		f.d.More = append(f.d.More, issueRow(i))
	}
}

// unmatched removes issues that wait although they no longer match.
func (f *found) unmatched(read coppice.TrackerReadResult) {
	for _, m := range f.s.Waiting {
		if !m.Manual && !f.dropped[m.Issue] && !slices.Contains(read.Matching, m.Issue) {
			f.changed++
			f.d.More = append(f.d.More, deleteIssue(m.ID))
		}
	}
}

// importIssues creates the tasks of issues that wait, as many as can be active.
func importIssues(v *TrackerView) *Decision {
	for _, s := range v.Sources {
		if len(s.Ready) == 0 {
			continue
		}
		d := &Decision{Kind: coppice.EventIssueImported}
		for _, c := range s.Ready {
			task, err := v.Draft(s, c)
			if err != nil {
				r := s.Row
				r.Problem = fmt.Sprintf("the task of %s cannot be created: %s", coppice.IssueName(c.Issue.Issue), coppice.Public(err).Error())
				d.Kind, d.Reason, d.More = coppice.EventTrackerRead, r.Problem, append(d.More, sourceRow(r))
				break
			}
			i, n := imported(v.Now, *s.Policy, c.Issue, task), len(d.Create)
			d.Create = append(d.Create, task)
			d.More = append(d.More, row{coppice.SubjectTracker, func(tx store.Tx) error {
				i.TaskID = d.Create[n].ID
				return tx.Issues.Put(&i)
			}, func() {}})
		}
		if len(d.Create) > 0 {
			d.Kind, d.Reason = coppice.EventIssueImported, fmt.Sprintf("%d issues of %s became tasks", len(d.Create), s.Row.Name)
		}
		return d
	}
	return nil
}

// imported returns an issue whose task is about to be created. The task has its comments
// from the start.
func imported(now time.Time, p coppice.TrackerPolicy, i coppice.Issue, t coppice.Task) coppice.Issue {
	i.Status, i.NextAt, i.EndedAt, i.Imported = coppice.IssueWaiting, now, time.Time{}, now
	i.Agreed = coppice.IssueFields{Title: t.Title, Text: t.Body}
	i.Shown, i.Writing, i.Reopened, i.Held, i.Gone, i.Failure, i.Tries, i.Refused = coppice.IssueShown{}, nil, false, false, false, nil, 0, ""
	i.Received = nil
	for _, c := range newComments(p, i, i.Read) {
		i.Received = append(i.Received, c.ID)
	}
	return i
}
