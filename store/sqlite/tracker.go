package sqlite

import (
	"cmp"
	"database/sql"
	"math"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

func trackerOf(r dbsqlc.Tracker) (coppice.Tracker, error) {
	var u unpacker
	t := coppice.Tracker{ID: r.ID, ProjectID: r.ProjectID, Name: r.Name, NextAt: at(r.NextAt)}
	u.unpack(r.Details, &t.TrackerDetails)
	return t, u.err
}

func (r trackers) In(project int64) ([]coppice.Tracker, error) {
	return many(trackerOf)(r.q.TrackersIn(r.ctx, project))
}

func (t trackers) Put(s *coppice.Tracker) error {
	var p packer
	row := dbsqlc.PutTrackerParams{ID: rowID(s.ID), ProjectID: s.ProjectID, Name: s.Name, NextAt: moment(s.NextAt), Details: p.pack(s.TrackerDetails)}
	return stored(t.tx, p, &s.ID, t.q.PutTracker, row)
}

func issueOf(r dbsqlc.Issue) (coppice.Issue, error) {
	var u unpacker
	i := coppice.Issue{
		ID: r.ID, ProjectID: r.ProjectID, TrackerID: r.TrackerID, Issue: r.Issue, TaskID: r.TaskID, Status: coppice.IssueStatus(r.Status),
		NextAt: at(r.NextAt), EndedAt: at(r.EndedAt),
	}
	u.unpack(r.Details, &i.IssueDetails)
	return i, u.err
}

func issueMarkOf(r dbsqlc.IssueMark) (coppice.IssueMark, error) {
	var u unpacker
	m := coppice.IssueMark{}
	u.unpack(r.Mark, &m)
	m.ID, m.TrackerID, m.Issue, m.TaskID, m.Status, m.EndedAt = r.ID, r.TrackerID, r.Issue, r.TaskID, coppice.IssueStatus(r.Status), at(r.EndedAt)
	return m, u.err
}

func (r issues) Of(task int64) (*coppice.Issue, error) {
	return oneOrNone(issueOf)(r.q.IssueOf(r.ctx, task))
}

func (r issues) Named(tracker int64, issue string) (*coppice.Issue, error) {
	return oneOrNone(issueOf)(r.q.IssueNamed(r.ctx, tracker, issue))
}

func (r issues) Due(project int64, now time.Time, most int) ([]coppice.Issue, error) {
	return many(issueOf)(r.q.DueIssues(r.ctx, project, moment(now), int64(most)))
}

func (r issues) Next(project int64) (time.Time, error) {
	next, err := r.q.NextIssue(r.ctx, project)
	return at(next), ignoreNoRows(err)
}

func (r issues) Count(tracker int64) (map[coppice.IssueStatus]int, error) {
	rows, err := r.q.CountIssues(r.ctx, tracker)
	counts := make(map[coppice.IssueStatus]int, len(rows))
	for _, row := range rows {
		counts[coppice.IssueStatus(row.Status)] = int(row.N)
	}
	return counts, err
}

func (r issues) Waiting(tracker int64) ([]coppice.IssueMark, error) {
	return many(issueMarkOf)(r.q.WaitingIssues(r.ctx, tracker))
}

func (r issues) Known(tracker int64, most int) ([]coppice.IssueMark, error) {
	return many(issueMarkOf)(r.q.KnownIssues(r.ctx, tracker, int64(most)))
}

func (r issues) Some(tracker int64, names []string) (map[string]coppice.IssueMark, error) {
	found := make(map[string]coppice.IssueMark, len(names))
	if len(names) == 0 {
		return found, nil
	}
	list, err := many(issueMarkOf)(r.q.NamedIssues(r.ctx, tracker, string(coppice.Raw(names))))
	for _, m := range list {
		found[m.Issue] = m
	}
	return found, err
}

func (r issues) List(f store.IssueFilter) ([]coppice.IssueMark, error) {
	return many(issueMarkOf)(r.q.IssuesIn(r.ctx, dbsqlc.IssuesInParams{
		ProjectID: f.ProjectID, Ended: f.Ended, Before: cmp.Or(f.BeforeID, math.MaxInt64), Most: int64(cmp.Or(f.Most, math.MaxInt32)),
	}))
}

func (t issues) Put(i *coppice.Issue) error {
	var p packer
	row := dbsqlc.PutIssueParams{
		ID: rowID(i.ID), ProjectID: i.ProjectID, TrackerID: i.TrackerID, Issue: i.Issue, TaskID: i.TaskID, Status: string(i.Status),
		NextAt: moment(i.NextAt), EndedAt: moment(i.EndedAt), Mark: p.pack(i.Mark()), Details: p.pack(i.IssueDetails),
	}
	return stored(t.tx, p, &i.ID, t.q.PutIssue, row)
}

func (t issues) Wake(tracker int64, now time.Time) error {
	return t.q.WakeIssues(t.ctx, moment(now), tracker)
}

func (t issues) Delete(id int64) error {
	n, err := t.q.DeleteIssue(t.ctx, id)
	if err == nil && n == 0 {
		err = lookup(sql.ErrNoRows, "issue", id)
	}
	return err
}
