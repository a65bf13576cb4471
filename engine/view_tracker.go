package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/store"
)

// mostIssueWrites limits the changes of issues of a project that are in progress, and
// mostImports the tasks that one decision creates.
const (
	mostIssueWrites = 4
	mostImports     = 16
	mostDueIssues   = 50 // issues that one decision looks at
	mostStale       = 50 // issues that a pass has to read as a whole after they were changed
)

// TrackerView is what the deciders of a project's sources of issues see. Of the issues,
// it has only those that a decision might be about.
type TrackerView struct {
	Common
	Sources []Source // those of the policy, in its order; then those that it no longer has
	Changed []TrackedIssue
	Due     []TrackedIssue
	Accept  []TrackedIssue // those whose text a person accepts
	Next    time.Time      // when the next issue is due

	Done  *coppice.Work            // the first finished work item
	Found map[string]*TrackedIssue // the issues that it is about, by name; nil for one that is new
	Other map[string]bool          // the new ones that another source has
	// Draft returns the task of an issue, complete and not stored.
	Draft func(Source, Candidate) (coppice.Task, error) `json:"-"`
}

// Source is a source of issues.
type Source struct {
	Policy  *coppice.TrackerPolicy // nil if the policy no longer has it
	Row     coppice.Tracker        // without an id if it is new
	Counts  map[coppice.IssueStatus]int
	Waiting []coppice.IssueMark          // that have not been imported; known if a decision needs them
	Others  map[string]coppice.IssueMark // those that the waiting ones name
	Ready   []Candidate                  // those that can become tasks now, oldest first
	Known   []coppice.IssueMark          // known if a pass is due
	Missing []string                     // issues that a pass has to read as a whole: those that were changed, and sub-issues that have no row
}

// TrackedIssue is an issue with its task.
type TrackedIssue struct {
	coppice.Issue
	Task *coppice.Task // nil if it waits, or if its task was removed
	Pull *coppice.PullMark
	Busy bool // the task has not yet taken what its issue reported before

	// Of an issue that was read; see newBlockers.
	Blockers   []int64
	RefusedNow string
}

// Candidate is an issue that can become a task.
type Candidate struct {
	coppice.Issue
	After  []int64 // the tasks of the issues that block it
	Parent int64   // the task of the issue that it is a part of
}

// trackerView loads the view of a project's sources of issues.
func (t *turn) trackerView(project int64) (*TrackerView, error) {
	v := &TrackerView{}
	v.Draft = func(s Source, c Candidate) (coppice.Task, error) { return t.draftIssue(v, s, c) }
	return v, v.load(t, project)
}

func (v *TrackerView) load(t *turn, project int64) (err error) {
	if v.Common, err = t.common(coppice.TrackerSubject(project)); err != nil {
		return err
	}
	if v.Project, err = t.tx.Projects.Get(project); err != nil {
		return gone(err)
	}
	if v.Sources, err = sourcesOf(t.tx.Reader(), v.Project); err != nil || len(v.Sources) == 0 {
		return err
	}
	if err := v.loadIssues(t); err != nil {
		return err
	}
	for i := range v.Sources {
		if err := v.loadSource(t, &v.Sources[i]); err != nil {
			return err
		}
	}
	return nil
}

// sourcesOf returns the sources of a project, with the number of their issues. A source
// is the same as before if it reads the same place, whatever its name is.
func sourcesOf(r store.Reader, p coppice.Project) ([]Source, error) {
	rows, err := r.Trackers.In(p.ID)
	if err != nil {
		return nil, err
	}
	var list []Source
	take := func(same func(coppice.Tracker) bool) coppice.Tracker {
		i := slices.IndexFunc(rows, same)
		if i < 0 {
			return coppice.Tracker{}
		}
		row := rows[i]
		rows = slices.Delete(rows, i, i+1)
		return row
	}
	for i := range p.Policy.Trackers {
		policy := &p.Policy.Trackers[i]
		name, place := policy.SourceName(), policy.Place()
		list = append(list, Source{Policy: policy, Row: take(func(r coppice.Tracker) bool { return r.Name == name && r.Place == place })})
	}
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, samePlace} {
		for i := range list {
			if policy := list[i].Policy; list[i].Row.ID == 0 {
				list[i].Row = take(func(r coppice.Tracker) bool { return same(r.Place, policy.Place()) })
			}
		}
	}
	for _, row := range rows {
		list = append(list, Source{Row: row})
	}
	for i := range list {
		if list[i].Row.ID == 0 {
			continue
		}
		if list[i].Counts, err = r.Issues.Count(list[i].Row.ID); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// samePlace reports whether two places can be the same: a part that one of them leaves to
// the project's remote counts as equal.
func samePlace(a, b string) bool {
	x, y := strings.Split(a, " "), strings.Split(b, " ")
	if len(x) != len(y) || (x[0] == "linear") != (y[0] == "linear") {
		return false
	}
	for i := range x {
		if x[i] != y[i] && x[i] != "" && y[i] != "" {
			return false
		}
	}
	return true
}

// loadIssues reads the issues whose task changed, those that a result is about, and some
// of those that are due.
func (v *TrackerView) loadIssues(t *turn) error {
	v.Changed, v.Due, v.Accept, v.Done, v.Found = nil, nil, nil, nil, nil
	next, err := t.tx.Issues.Next(v.Project.ID)
	if err != nil {
		return err
	}
	v.Next = next
	for _, task := range t.issueTasks[v.Project.ID] {
		i, err := t.tx.Issues.Of(task)
		if err := t.addTracked(&v.Changed, i, err); err != nil {
			return err
		}
	}
	delete(t.issueTasks, v.Project.ID)
	for i := range v.Work {
		if v.Work[i].State == coppice.WorkFinished {
			v.Done = &v.Work[i]
			return v.loadFound(t)
		}
	}
	for _, a := range v.Asks {
		args, err := coppice.DecodeSpec[issueArgs](coppice.Work{Spec: a.Args})
		if a.Verb != coppice.VerbAccept || err != nil {
			continue
		}
		i, err := t.tx.Issues.Named(args.Tracker, args.Issue)
		if err := t.addTracked(&v.Accept, i, err); err != nil {
			return err
		}
	}
	due, err := t.tx.Issues.Due(v.Project.ID, v.Now, mostDueIssues)
	for _, i := range due {
		tracked, err := t.tracked(i)
		if err != nil {
			return err
		}
		v.Due = append(v.Due, tracked)
	}
	return err
}

// addTracked adds an issue that was found to a list.
func (t *turn) addTracked(list *[]TrackedIssue, i *coppice.Issue, err error) error {
	if err != nil || i == nil {
		return err
	}
	tracked, err := t.tracked(*i)
	*list = append(*list, tracked)
	return err
}

// tracked adds its task to an issue.
func (t *turn) tracked(i coppice.Issue) (TrackedIssue, error) {
	out := TrackedIssue{Issue: i}
	if i.TaskID == 0 {
		return out, nil
	}
	task, err := t.tx.Tasks.Get(i.TaskID)
	if err != nil {
		return out, err
	}
	out.Task = &task
	asks, err := t.tx.Asks.Open(coppice.TaskSubject(task.ID))
	if err != nil {
		return out, err
	}
	out.Busy = coppice.Asked(asks, coppice.VerbIssue) != nil
	if task.Pull {
		marks, err := t.tx.Pulls.Marks([]int64{task.ID})
		if m, ok := marks[task.ID]; ok {
			out.Pull = &m
		}
		return out, err
	}
	return out, nil
}

// loadFound reads the issues that a finished work item is about.
func (v *TrackerView) loadFound(t *turn) error {
	v.Found, v.Other = map[string]*TrackedIssue{}, map[string]bool{}
	s := v.sourceOf(*v.Done)
	if s == nil || v.Done.Failure != nil && v.Done.Kind == coppice.WorkTrackerRead {
		return nil
	}
	names, reads := []string{}, map[string]coppice.IssueRead{}
	if v.Done.Kind == coppice.WorkTrackerWrite {
		spec, _ := coppice.DecodeSpec[coppice.TrackerWriteSpec](*v.Done)
		wrote, _ := coppice.DecodeResult[coppice.TrackerWriteResult](*v.Done)
		names, reads[spec.Issue] = append(names, spec.Issue), wrote.Issue
	} else {
		read, _ := coppice.DecodeResult[coppice.TrackerReadResult](*v.Done)
		for _, i := range read.Issues {
			names, reads[i.ID] = append(names, i.ID), i
		}
		names = append(names, read.Gone...)
	}
	for _, name := range names {
		i, err := t.tx.Issues.Named(s.Row.ID, name)
		if err != nil {
			return err
		}
		if i == nil {
			if v.Other[name], err = otherHas(t.tx.Reader(), v.Sources, s.Row, reads[name]); err != nil {
				return err
			}
			continue
		}
		tracked, err := t.tracked(*i)
		if err != nil {
			return err
		}
		if tracked.Blockers, tracked.RefusedNow, err = newBlockers(t.tx.Reader(), s.Row, tracked, reads[name]); err != nil {
			return err
		}
		v.Found[name] = &tracked
	}
	return nil
}

// sourceOf returns the source of a work item, or nil if its row is gone.
func (v *TrackerView) sourceOf(w coppice.Work) *Source {
	var id int64
	if _, err := fmt.Sscanf(w.Key, "tracker/%d/", &id); err != nil {
		return nil
	}
	i := slices.IndexFunc(v.Sources, func(s Source) bool { return s.Row.ID == id })
	if i < 0 {
		return nil
	}
	return &v.Sources[i]
}

// loadSource reads what the next decision about a source needs.
func (v *TrackerView) loadSource(t *turn, s *Source) (err error) {
	r := t.tx.Reader()
	if s.Row.ID == 0 {
		return nil
	}
	finished := v.Done != nil && v.sourceOf(*v.Done) == s
	if s.Counts[""] > 0 && (finished || s.Policy == nil || s.free() > 0) {
		if s.Waiting, s.Others, err = waitingIssues(r, s.Row); err != nil {
			return err
		}
	}
	if s.Policy == nil || finished {
		return nil
	}
	if s.free() > 0 && s.Row.Problem == "" {
		if err := s.loadReady(t); err != nil {
			return err
		}
	}
	if !s.Row.NextAt.IsZero() && !s.Row.NextAt.After(v.Now) {
		return s.loadKnown(t)
	}
	return nil
}

// waitingIssues returns the issues of a source that wait, and those that they name.
func waitingIssues(r store.Reader, of coppice.Tracker) (waiting []coppice.IssueMark, others map[string]coppice.IssueMark, err error) {
	if waiting, err = r.Issues.Waiting(of.ID); err != nil {
		return nil, nil, err
	}
	var names []string
	for _, m := range waiting {
		if names = append(names, m.BlockedBy...); m.Parent != "" {
			names = append(names, m.Parent)
		}
	}
	others, err = issuesOfPlace(r, of, names)
	return waiting, others, err
}

// issuesOfPlace returns those issues that exist, by name, of all sources that read the same
// place as one of them.
func issuesOfPlace(r store.Reader, of coppice.Tracker, names []string) (map[string]coppice.IssueMark, error) {
	all, err := r.Issues.Some(of.ID, names)
	if err != nil {
		return nil, err
	}
	rows, err := r.Trackers.In(of.ProjectID)
	for _, row := range rows {
		if row.ID == of.ID || row.Place != of.Place {
			continue
		}
		more, err := r.Issues.Some(row.ID, names)
		if err != nil {
			return nil, err
		}
		for name, m := range more {
			if _, own := all[name]; !own {
				all[name] = m
			}
		}
	}
	return all, err
}

// otherHas reports whether another source has an issue. Its place can be written in another
// way, so the address decides.
func otherHas(r store.Reader, sources []Source, of coppice.Tracker, read coppice.IssueRead) (bool, error) {
	for _, s := range sources {
		if s.Row.ID == 0 || s.Row.ID == of.ID || read.URL == "" {
			continue
		}
		i, err := r.Issues.Named(s.Row.ID, read.ID)
		if err != nil || i != nil && i.Read.URL == read.URL {
			return err == nil, err
		}
	}
	return false, nil
}

// free returns how many more tasks of the source can be active.
func (s *Source) free() int {
	if s.Policy == nil {
		return 0
	}
	return s.Policy.MostActive() - s.active()
}

// active returns how many of its tasks are active.
func (s *Source) active() int {
	n := 0
	for status, count := range s.Counts {
		if status.Active() {
			n += count
		}
	}
	return n
}

// live returns how many of its issues wait, or have a task whose end the tracker does not
// show.
func (s *Source) live() int {
	n := 0
	for _, count := range s.Counts {
		n += count
	}
	return n
}

// loadReady reads the issues that can become tasks now.
func (s *Source) loadReady(t *turn) error {
	for _, m := range s.Waiting {
		if len(s.Ready) == min(s.free(), mostImports) {
			break
		}
		if s.blocks(m) != "" || slices.ContainsFunc(s.Ready, func(c Candidate) bool { return c.hasPart(m) }) {
			continue // with a parent that becomes a task now, it follows in the next decision
		}
		i, err := t.tx.Issues.Named(s.Row.ID, m.Issue)
		if err != nil || i == nil {
			return err
		}
		c := Candidate{Issue: *i}
		for _, b := range m.BlockedBy {
			if of := s.Others[b].TaskID; of != 0 {
				c.After = append(c.After, of)
			}
		}
		if of := s.Others[m.Parent].TaskID; m.Parent != "" && of != 0 {
			parent, err := t.tx.Tasks.Get(of)
			if err != nil {
				return err
			}
			if !parent.Ended() {
				c.Parent = of
			}
		}
		s.Ready = append(s.Ready, c)
	}
	return s.addParents(t)
}

// hasPart reports whether an issue is a part of the candidate.
func (c Candidate) hasPart(m coppice.IssueMark) bool {
	return m.Parent == c.Issue.Issue || slices.Contains(c.Read.Children, m.Issue)
}

// addParents finds the parents of issues that do not name one: some trackers have only the
// parts of an issue.
func (s *Source) addParents(t *turn) error {
	if !slices.ContainsFunc(s.Ready, func(c Candidate) bool { return c.Read.Parent == "" }) {
		return nil
	}
	listed, err := listedParts(t.tx.Reader(), s.Row.ID)
	for i := range s.Ready {
		if c := &s.Ready[i]; c.Read.Parent == "" {
			c.Parent = listed[c.Issue.Issue]
		}
	}
	return err
}

// listedParts returns the active tasks of the issues that list parts, by the part.
func listedParts(r store.Reader, tracker int64) (map[string]int64, error) {
	known, err := r.Issues.Known(tracker, 2*coppice.MaxOpenIssues)
	listed := map[string]int64{}
	for _, m := range known {
		for _, part := range m.Children {
			if m.TaskID != 0 && m.Status.Active() && part != m.Issue {
				listed[part] = m.TaskID
			}
		}
	}
	return listed, err
}

// blocks says why an issue cannot become a task, even if another task could be active.
func (s *Source) blocks(m coppice.IssueMark) string {
	for _, b := range m.BlockedBy {
		if other, ok := s.Others[b]; !ok || other.Waits() {
			return fmt.Sprintf("it is blocked by %s, which has no task", coppice.IssueName(b))
		}
	}
	if i := s.Policy.Import; !m.Manual && len(i.Labels) == 0 && i.Assignee == "" && !s.Policy.Counts(m.Author, m.Writes) {
		return fmt.Sprintf("its author %s is not among those whose issues count, so a person has to import it", m.Author)
	}
	return ""
}

// Why says why an issue waits. It is empty if the issue becomes a task in the next turn.
func (s *Source) Why(m coppice.IssueMark) string {
	switch {
	case s.Policy == nil:
		return "coppice.yaml no longer has its source"
	case s.blocks(m) != "":
		return s.blocks(m)
	case s.Row.Problem != "":
		return s.Row.Problem
	case s.free() <= 0:
		return fmt.Sprintf("%d of %d tasks are active", s.active(), s.Policy.MostActive())
	}
	return ""
}

// loadKnown reads what a pass needs: the issues that Coppice knows, and the sub-issues of
// tasks that it does not know.
func (s *Source) loadKnown(t *turn) (err error) {
	if s.Known, err = t.tx.Issues.Known(s.Row.ID, 2*coppice.MaxOpenIssues); err != nil {
		return err
	}
	var children []string
	for _, m := range s.Known {
		if m.Stale && len(s.Missing) < mostStale {
			s.Missing = append(s.Missing, m.Issue)
		}
		if m.TaskID != 0 && m.Status.Active() {
			children = append(children, m.Children...)
		}
	}
	have, err := issuesOfPlace(t.tx.Reader(), s.Row, children)
	for _, c := range children {
		if _, ok := have[c]; !ok && !slices.Contains(s.Missing, c) && len(s.Missing) < 2*mostStale {
			s.Missing = append(s.Missing, c)
		}
	}
	return err
}

// Sources returns the sources of a project, with their issues that wait, for people.
func Sources(r store.Reader, p coppice.Project) ([]Source, error) {
	list, err := sourcesOf(r, p)
	for i := range list {
		s := &list[i]
		if err != nil {
			return nil, err
		}
		if s.Counts[""] > 0 {
			s.Waiting, s.Others, err = waitingIssues(r, s.Row)
		}
	}
	return list, err
}

// Active returns how many tasks of the source are active.
func (s *Source) Active() int { return s.active() }

// draftIssue returns the task of an issue, complete and not stored.
func (t *turn) draftIssue(v *TrackerView, s Source, c Candidate) (coppice.Task, error) {
	i, n := t.intake("tracker"), issueTask(*s.Policy, c.Read)
	task, err := i.draft(v.Project, n)
	if err != nil {
		return task, err
	}
	if err := i.planned(t.tx.Reader(), v.Project, n, &task); err != nil {
		return task, err
	}
	if err := i.flowGroup(t.tx, v.Project, &task); err != nil {
		return task, err
	}
	if !task.IsFlow() {
		task.Next = firstSession(task, "")
	}
	task.After = c.After
	task.Issue = issueRef(*s.Policy, c.Read)
	return task, joinParent(t.tx.Reader(), &task, c.Parent)
}

// joinParent makes a task a sub-task of the task of the issue that its own issue is a
// part of.
func joinParent(r store.Reader, t *coppice.Task, parent int64) error {
	if parent == 0 {
		return nil
	}
	p, err := r.Tasks.Get(parent)
	if err == nil {
		t.Parent, t.Onto = p.ID, p.Onto
		if t.Group == 0 {
			t.Group = p.Group
		}
	}
	return err
}

func issueRef(p coppice.TrackerPolicy, r coppice.IssueRead) *coppice.IssueRef {
	return &coppice.IssueRef{Tracker: p.SourceName(), ID: r.ID, URL: r.URL, Author: r.Author}
}

// issueTask returns the request for the task of an issue. Its title and description are
// those of the issue; the rest comes from the template.
func issueTask(p coppice.TrackerPolicy, r coppice.IssueRead) coppice.NewTask {
	n := coppice.NewTask{}
	if p.Task != nil {
		n = *p.Task
	}
	f := IssueFields(r)
	n.Title, n.Body = f.Title, f.Text
	return n
}

// IssueFields returns the title and the description of an issue as its task has them.
func IssueFields(r coppice.IssueRead) coppice.IssueFields {
	title := strings.Join(strings.Fields(coppice.Printable(coppice.FirstLine(r.Title))), " ")
	if len(title) > coppice.MaxTitle {
		title = strings.ToValidUTF8(title[:coppice.MaxTitle-len("…")], "") + "…"
	}
	if coppice.ValidTitle(title) != nil {
		title = "Issue " + coppice.IssueName(r.ID)
	}
	text := strings.ReplaceAll(coppice.Printable(r.Text), "\x00", "")
	if len(text) > coppice.MaxIssueText {
		text = strings.ToValidUTF8(text[:coppice.MaxIssueText], "")
	}
	return coppice.IssueFields{Title: title, Text: strings.TrimSpace(text)}
}

// due ignores what waits for the end of open work: that leads to a decision anyway.
func (v *TrackerView) due() time.Time {
	var at time.Time
	if v.Project.Removal != nil {
		return at
	}
	sooner := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	for _, s := range v.Sources {
		if s.Policy != nil {
			sooner(s.Row.NextAt)
		}
	}
	if v.writes() < mostIssueWrites {
		sooner(v.Next)
	}
	return at
}
