package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"coppice"
	"coppice/store"
)

// Trackers reads the trackers of projects, for requests of people.
type Trackers interface {
	Read(ctx context.Context, s coppice.TrackerReadSpec) (coppice.TrackerReadResult, error)
}

// WithTrackers makes an Intake accept requests to import issues.
func WithTrackers(t Trackers) Option { return func(i *Intake) { i.trackers = t } }

// mostNamedIssues limits the issues of one request.
const mostNamedIssues = 100

// ImportIssues creates the tasks of issues that a person names, whatever their labels
// are and however many tasks are active. An issue that has an open task already gives that
// task. Tracker names the source; it can be empty if there is only one.
func (i *Intake) ImportIssues(ctx context.Context, project, tracker string, issues []string, n coppice.NewTask) ([]coppice.Task, error) {
	names, err := issueNames(issues)
	if err != nil {
		return nil, err
	}
	var p coppice.Project
	var s Source
	err = i.store.View(ctx, func(r store.Reader) error {
		if p, err = knownProject(r.Projects.ByPrefix(project)); err != nil {
			return err
		}
		s, err = chosenSource(r, p, tracker, names)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case i.trackers == nil:
		return nil, coppice.Errorf(coppice.EUnavailable, "this server cannot reach trackers")
	}
	read, err := i.trackers.Read(ctx, coppice.TrackerReadSpec{TrackerSpec: trackerSpec(p, *s.Policy), Named: names})
	if err != nil {
		return nil, coppice.FailedRequest(err)
	}
	reads, err := importable(s, names, issues, read)
	if err != nil {
		return nil, err
	}
	have, err := i.issueTasks(ctx, s, names)
	if err != nil {
		return nil, err
	}
	var asked []coppice.NewTask
	var fresh []coppice.IssueRead
	for _, r := range reads {
		if _, ok := have[r.ID]; !ok {
			asked, fresh = append(asked, requestedIssue(*s.Policy, r, n, reads)), append(fresh, r)
		}
	}
	if len(asked) > 0 {
		made, err := i.createTasks(ctx, project, asked, func(tx store.Tx, k int, t *coppice.Task) error { return i.linkIssue(tx, t, *s.Policy, fresh[k]) })
		if err != nil {
			return nil, err
		}
		for k, t := range made {
			have[fresh[k].ID] = t
		}
	}
	tasks := make([]coppice.Task, len(names))
	for k, name := range names {
		tasks[k] = have[name]
	}
	return tasks, nil
}

// issueNames returns the ids of issues, each once.
func issueNames(issues []string) (names []string, err error) {
	for _, text := range issues {
		name, err := coppice.ParseIssue(text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch {
	case len(names) == 0:
		return nil, coppice.Errorf(coppice.EInvalid, "no issue was named").WithFix("name one, such as 123").WithField("issues")
	case len(names) > mostNamedIssues:
		return nil, coppice.Errorf(coppice.ETooLarge, "the request has %d issues, %d are allowed", len(names), mostNamedIssues).WithField("issues")
	}
	return names, nil
}

// chosenSource returns the source that a person named, or the only one that can have the
// issues.
func chosenSource(r store.Reader, p coppice.Project, tracker string, names []string) (s Source, err error) {
	all, err := sourcesOf(r, p)
	if err != nil {
		return s, err
	}
	numbers := !slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "-") })
	var fits []Source
	var known []string
	for _, o := range all {
		if o.Policy == nil {
			continue
		}
		name := o.Policy.SourceName()
		known = append(known, name)
		if tracker == name || tracker == "" && numbers == (o.Policy.Kind != "linear") {
			fits = append(fits, o)
		}
	}
	switch {
	case len(known) == 0:
		return s, coppice.Errorf(coppice.EConflict, "%s has no tracker", p.Prefix).
			WithFix("add `tracker: {}` to coppice.yaml for the issues of the project's forge; see docs/trackers.md").WithField("tracker")
	case tracker != "" && len(fits) == 0:
		return s, coppice.Errorf(coppice.ENotFound, "%s has no tracker %s", p.Prefix, coppice.Quote(tracker)).WithFix("the trackers are: %s", strings.Join(known, ", ")).WithField("tracker")
	case len(fits) == 0:
		return s, coppice.Errorf(coppice.EInvalid, "no tracker of %s has issues such as %s", p.Prefix, names[0]).WithFix("the trackers are: %s", strings.Join(known, ", ")).WithField("issues")
	case len(fits) > 1:
		return s, coppice.Errorf(coppice.EInvalid, "%s has %d trackers that can have %s", p.Prefix, len(fits), coppice.IssueName(names[0])).
			WithFix("name one with --tracker: %s", strings.Join(known, ", ")).WithField("tracker")
	}
	return fits[0], nil
}

// importable returns what the tracker reports about the issues, in the order in which they
// were named. It refuses all of them if one does not exist, is closed, or is another one
// than the address that was given.
func importable(s Source, names, given []string, read coppice.TrackerReadResult) ([]coppice.IssueRead, error) {
	var list []coppice.IssueRead
	for _, name := range names {
		k := slices.IndexFunc(read.Issues, func(r coppice.IssueRead) bool { return strings.EqualFold(r.ID, name) })
		if k < 0 {
			return nil, coppice.Errorf(coppice.ENotFound, "the tracker %s has no issue %s", s.Policy.SourceName(), coppice.IssueName(name)).
				WithFix("check the number, and whether the token can read the issue").WithField("issues")
		}
		r := read.Issues[k]
		for _, text := range given {
			if id, err := coppice.ParseIssue(text); err == nil && id == name && strings.Contains(text, "://") && !coppice.SameIssue(text, r.URL) {
				return nil, coppice.Errorf(coppice.EInvalid, "%s is not an issue of the tracker %s", text, s.Policy.SourceName()).
					WithFix("its issue %s is %s", coppice.IssueName(name), r.URL).WithField("issues")
			}
		}
		if r.Closed {
			return nil, coppice.Errorf(coppice.EConflict, "the issue %s is closed", coppice.IssueName(r.ID)).WithFix("reopen it in the tracker, then import it again").WithField("issues")
		}
		list = append(list, r)
	}
	return list, nil
}

// issueTasks returns the open tasks of issues, by the id of the issue.
func (i *Intake) issueTasks(ctx context.Context, s Source, names []string) (map[string]coppice.Task, error) {
	have := map[string]coppice.Task{}
	if s.Row.ID == 0 {
		return have, nil
	}
	return have, i.store.View(ctx, func(r store.Reader) error {
		some, err := issuesOfPlace(r, s.Row, names)
		if err != nil {
			return err
		}
		for name, m := range some {
			if m.TaskID == 0 {
				continue
			}
			t, err := r.Tasks.Get(m.TaskID)
			if err != nil {
				return err
			}
			if !t.Ended() {
				have[name] = t
			}
		}
		return nil
	})
}

// requestedIssue returns the request for the task of an issue. What the person asks for
// overrides the template. An issue that blocks it and is part of the same request comes
// first.
func requestedIssue(p coppice.TrackerPolicy, r coppice.IssueRead, n coppice.NewTask, all []coppice.IssueRead) coppice.NewTask {
	f := IssueFields(r)
	n.Title, n.Body, n.Ref = f.Title, f.Text, issueRefName(r.ID)
	if n.Template == "" {
		n.Template = p.Template
	}
	n.After = slices.Clone(n.After)
	for _, b := range r.BlockedBy {
		if slices.ContainsFunc(all, func(o coppice.IssueRead) bool { return o.ID == b }) {
			n.After = append(n.After, issueRefName(b))
		}
	}
	return n
}

// issueRefName names the request for the task of an issue among those of the same batch.
func issueRefName(id string) string { return "issue " + id }

// linkIssue connects a new task with its issue. It refuses an issue that another request
// has just imported.
func (i *Intake) linkIssue(tx store.Tx, t *coppice.Task, policy coppice.TrackerPolicy, read coppice.IssueRead) error {
	p, err := tx.Projects.Get(t.ProjectID)
	if err != nil {
		return err
	}
	row, err := i.sourceRow(tx, p, policy)
	if err != nil {
		return err
	}
	known, err := tx.Issues.Named(row.ID, read.ID)
	if err != nil {
		return err
	}
	of := coppice.Issue{ProjectID: p.ID, TrackerID: row.ID, Issue: read.ID}
	if known != nil {
		of = *known
	}
	if err := refuseTwice(tx.Reader(), of); err != nil {
		return err
	}
	if err := takeIssue(tx, row, read); err != nil {
		return err
	}
	f := IssueFields(read)
	t.Title, t.Body = f.Title, f.Text // not those of a template
	of.Read, of.Manual = read, true
	of = imported(i.now().UTC(), policy, of, *t)
	of.TaskID, t.Issue = t.ID, issueRef(policy, read)
	if err := joinOthers(tx.Reader(), row, t, read); err != nil {
		return err
	}
	if err := errors.Join(tx.Tasks.Put(t), tx.Issues.Put(&of)); err != nil {
		return err
	}
	return i.trackerEvent(tx, p, coppice.EventIssueImported, fmt.Sprintf("%s is the task of %s", t.Key, coppice.IssueName(read.ID)))
}

// refuseTwice refuses to import an issue whose task is open.
func refuseTwice(r store.Reader, of coppice.Issue) error {
	if of.TaskID == 0 {
		return nil
	}
	t, err := r.Tasks.Get(of.TaskID)
	if err != nil || t.Ended() {
		return err
	}
	return coppice.Errorf(coppice.EConflict, "%s has just become the task %s", coppice.IssueName(of.Issue), t.Key).WithFix("see it with `coppice show %s`", t.Key)
}

// takeIssue removes an issue from the other sources in which it waits.
func takeIssue(tx store.Tx, of coppice.Tracker, read coppice.IssueRead) error {
	rows, err := tx.Trackers.In(of.ProjectID)
	for _, row := range rows {
		if row.ID == of.ID {
			continue
		}
		other, err := tx.Issues.Named(row.ID, read.ID)
		if err != nil {
			return err
		}
		if other == nil || other.Read.URL != read.URL {
			continue
		}
		if err := refuseTwice(tx.Reader(), *other); err != nil {
			return err
		}
		if other.Waits() {
			if err := tx.Issues.Delete(other.ID); err != nil {
				return err
			}
		}
	}
	return err
}

// sourceRow returns the row of a source, which it creates if the engine has not done so.
func (i *Intake) sourceRow(tx store.Tx, p coppice.Project, policy coppice.TrackerPolicy) (coppice.Tracker, error) {
	all, err := sourcesOf(tx.Reader(), p)
	if err != nil {
		return coppice.Tracker{}, err
	}
	for _, s := range all {
		if s.Policy != nil && s.Policy.SourceName() == policy.SourceName() && s.Row.ID != 0 {
			return s.Row, nil
		}
	}
	row := coppice.Tracker{ProjectID: p.ID, Name: policy.SourceName(), NextAt: i.now().UTC()}
	row.Place = policy.Place()
	err = tx.Trackers.Put(&row)
	return row, err
}

// joinOthers makes a task come after the tasks of the issues that block its own issue, and
// a sub-task of the task of the issue that this one is a part of.
func joinOthers(r store.Reader, of coppice.Tracker, t *coppice.Task, read coppice.IssueRead) error {
	some, err := issuesOfPlace(r, of, append(slices.Clone(read.BlockedBy), read.Parent))
	if err != nil {
		return err
	}
	for _, b := range read.BlockedBy {
		if id := some[b].TaskID; id != 0 && id != t.ID && !slices.Contains(t.After, id) {
			t.After = append(t.After, id)
		}
	}
	id := some[read.Parent].TaskID
	if read.Parent == "" {
		listed, err := listedParts(r, of.ID)
		if err != nil {
			return err
		}
		id = listed[read.ID]
	}
	if id != 0 {
		parent, err := r.Tasks.Get(id)
		if err != nil || parent.Ended() {
			return err
		}
		return joinParent(r, t, id)
	}
	return nil
}

func (i *Intake) trackerEvent(tx store.Tx, p coppice.Project, kind coppice.EventKind, reason string) error {
	return tx.Log.Append(&coppice.Event{
		At: i.now().UTC(), Kind: kind, ProjectID: p.ID, About: coppice.TrackerSubject(p.ID), Subject: p.Prefix, By: i.by.String(), Reason: reason,
	})
}

// ReadTrackers asks for a pass over the sources of issues of a project now.
func (i *Intake) ReadTrackers(ctx context.Context, project string) error {
	return i.askTracker(ctx, project, coppice.VerbRead, "a person wants the sources to be read now", func(store.Reader, coppice.Project) (issueArgs, error) {
		return issueArgs{}, nil
	})
}

// AcceptIssue takes the title and the description of an issue that somebody changed whose
// edits do not count.
func (i *Intake) AcceptIssue(ctx context.Context, project, tracker, issue string) error {
	name, err := coppice.ParseIssue(issue)
	if err != nil {
		return err
	}
	return i.askTracker(ctx, project, coppice.VerbAccept, "the text of "+coppice.IssueName(name)+" is accepted", func(r store.Reader, p coppice.Project) (issueArgs, error) {
		s, err := chosenSource(r, p, tracker, []string{name})
		if err != nil {
			return issueArgs{}, err
		}
		of, err := r.Issues.Named(s.Row.ID, name)
		switch {
		case err != nil:
			return issueArgs{}, err
		case of == nil:
			return issueArgs{}, coppice.Errorf(coppice.ENotFound, "%s has no issue %s", p.Prefix, coppice.IssueName(name)).WithFix("see `coppice issues`").WithField("issue")
		case !of.Held:
			return issueArgs{}, coppice.Errorf(coppice.EConflict, "no change of %s waits to be accepted", coppice.IssueName(name)).WithFix("see `coppice issues`").WithField("issue")
		}
		return issueArgs{Tracker: s.Row.ID, Issue: name}, nil
	})
}

// askTracker stores a request to the sources of a project. One that is open already is not
// stored again.
func (i *Intake) askTracker(ctx context.Context, project string, v coppice.Verb, reason string, args func(store.Reader, coppice.Project) (issueArgs, error)) error {
	return i.store.Update(ctx, func(tx store.Tx) error {
		p, err := knownProject(tx.Projects.ByPrefix(project))
		if err != nil {
			return err
		}
		if len(p.Policy.Trackers) == 0 {
			_, err := chosenSource(tx.Reader(), p, "", []string{"1"})
			return err
		}
		about := coppice.TrackerSubject(p.ID)
		a := coppice.Ask{Subject: about, ProjectID: p.ID, Verb: v, By: i.by, At: i.now().UTC()}
		given, err := args(tx.Reader(), p)
		if err != nil {
			return err
		}
		a.Args = coppice.Raw(given)
		open, err := tx.Asks.Open(about)
		if err != nil {
			return err
		}
		for _, o := range open {
			if o.Verb == a.Verb && string(o.Args) == string(a.Args) {
				return nil
			}
		}
		if err := tx.Asks.Put(&a); err != nil {
			return err
		}
		return i.trackerEvent(tx, p, coppice.EventTrackerAsked, reason)
	})
}
