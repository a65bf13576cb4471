package storetest

import (
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

func testIssues(t *testing.T, open Open) {
	s := open(t)
	p, q := project(t, s, "app"), project(t, s, "web")
	a, b := task(t, s, p, 1, nil), task(t, s, p, 2, nil)
	github := coppice.Tracker{ProjectID: p.ID, Name: "github", NextAt: start}
	linear := coppice.Tracker{ProjectID: p.ID, Name: "linear"}
	other := coppice.Tracker{ProjectID: q.ID, Name: "github"}
	update(t, s, func(tx store.Tx) error {
		return firstOf(tx.Trackers.Put(&github), tx.Trackers.Put(&linear), tx.Trackers.Put(&other))
	})
	issue := func(tr coppice.Tracker, name string, task int64, status coppice.IssueStatus, next time.Time) *coppice.Issue {
		i := &coppice.Issue{ProjectID: tr.ProjectID, TrackerID: tr.ID, Issue: name, TaskID: task, Status: status, NextAt: next}
		i.Read = coppice.IssueRead{ID: name, Title: "Title of " + name, UpdatedAt: start, BlockedBy: []string{"9"}}
		return i
	}
	first := issue(github, "1", a.ID, coppice.IssueWorking, start.Add(time.Hour))
	second := issue(github, "2", b.ID, coppice.IssueDone, start)
	waits := issue(github, "3", 0, "", time.Time{})
	same3 := issue(linear, "3", 0, "", time.Time{})
	foreign := issue(other, "1", 0, "", start)
	for _, i := range []*coppice.Issue{first, second, waits, same3, foreign} {
		update(t, s, func(tx store.Tx) error { return tx.Issues.Put(i) })
	}
	refused := func(what string, i *coppice.Issue) {
		t.Helper()
		wantCode(t, what, s.Update(t.Context(), func(tx store.Tx) error { return tx.Issues.Put(i) }), coppice.EConflict)
	}
	refused("an issue of a tracker twice", issue(github, "1", 0, "", time.Time{}))
	refused("two issues of a task", issue(linear, "4", a.ID, coppice.IssueWorking, time.Time{}))
	wantCode(t, "two trackers with a name", s.Update(t.Context(), func(tx store.Tx) error {
		return tx.Trackers.Put(&coppice.Tracker{ProjectID: p.ID, Name: "linear"})
	}), coppice.EConflict)
	view(t, s, func(r store.Reader) error {
		same(t, "trackers of a project", []coppice.Tracker{github, linear}, must(r.Trackers.In(p.ID)))
		same(t, "of a task", first, must(r.Issues.Of(a.ID)))
		same(t, "of no task", nil, must(r.Issues.Of(0)))
		same(t, "by name", same3, must(r.Issues.Named(linear.ID, "3")))
		same(t, "of a tracker without it", nil, must(r.Issues.Named(linear.ID, "1")))
		same(t, "due", []coppice.Issue{*second}, must(r.Issues.Due(p.ID, start, 9)))
		same(t, "due later", []coppice.Issue{*second, *first}, must(r.Issues.Due(p.ID, start.Add(time.Hour), 9)))
		same(t, "the first that is due", []coppice.Issue{*second}, must(r.Issues.Due(p.ID, start.Add(time.Hour), 1)))
		same(t, "when the next is due", start, must(r.Issues.Next(p.ID)))
		same(t, "counts", map[coppice.IssueStatus]int{"": 1, coppice.IssueWorking: 1, coppice.IssueDone: 1}, must(r.Issues.Count(github.ID)))
		same(t, "waiting", []coppice.IssueMark{waits.Mark()}, must(r.Issues.Waiting(github.ID)))
		same(t, "some", map[string]coppice.IssueMark{"1": first.Mark(), "3": waits.Mark()}, must(r.Issues.Some(github.ID, []string{"1", "3", "7"})))
		same(t, "of a project", []coppice.IssueMark{same3.Mark(), waits.Mark(), second.Mark(), first.Mark()}, must(r.Issues.List(store.IssueFilter{ProjectID: p.ID})))
		same(t, "a page of a project", []coppice.IssueMark{second.Mark()}, must(r.Issues.List(store.IssueFilter{ProjectID: p.ID, BeforeID: waits.ID, Most: 1})))
		return nil
	})
	update(t, s, func(tx store.Tx) error { return tx.Issues.Wake(github.ID, start.Add(time.Minute)) })
	view(t, s, func(r store.Reader) error {
		due := must(r.Issues.Due(p.ID, start.Add(time.Minute), 9))
		same(t, "due after all were woken", []string{"1", "2"}, ids(due, func(i coppice.Issue) string { return i.Issue }))
		return nil
	})
	first.EndedAt, first.NextAt, first.Status, first.Read.Closed = start, time.Time{}, coppice.IssueDone, true
	second.EndedAt, second.NextAt, second.Status = start, time.Time{}, coppice.IssueFailed
	update(t, s, func(tx store.Tx) error {
		return firstOf(tx.Issues.Put(first), tx.Issues.Put(second), tx.Issues.Delete(same3.ID))
	})
	wantCode(t, "a second deletion", s.Update(t.Context(), func(tx store.Tx) error { return tx.Issues.Delete(same3.ID) }), coppice.ENotFound)
	view(t, s, func(r store.Reader) error {
		same(t, "known: not ended, or open in the tracker", []coppice.IssueMark{waits.Mark(), second.Mark()}, must(r.Issues.Known(github.ID, 9)))
		same(t, "counts after the end", map[coppice.IssueStatus]int{"": 1}, must(r.Issues.Count(github.ID)))
		same(t, "open of a project", []coppice.IssueMark{waits.Mark()}, must(r.Issues.List(store.IssueFilter{ProjectID: p.ID})))
		same(t, "all of a project", []coppice.IssueMark{waits.Mark(), second.Mark(), first.Mark()}, must(r.Issues.List(store.IssueFilter{ProjectID: p.ID, Ended: true})))
		same(t, "none is due", time.Time{}, must(r.Issues.Next(p.ID)))
		return nil
	})
}

// testForgetIssues checks that an issue stays when its task is removed, and that it is
// removed with its project.
func testForgetIssues(t *testing.T, open Open) {
	s := open(t)
	gone, kept := project(t, s, "gone"), project(t, s, "kept")
	put := func(p coppice.Project, k coppice.Task) coppice.Issue {
		tr := coppice.Tracker{ProjectID: p.ID, Name: "github"}
		i := coppice.Issue{ProjectID: p.ID, Issue: "1", TaskID: k.ID, Status: coppice.IssueDone, NextAt: start}
		update(t, s, func(tx store.Tx) error {
			if err := tx.Trackers.Put(&tr); err != nil {
				return err
			}
			i.TrackerID = tr.ID
			return tx.Issues.Put(&i)
		})
		return i
	}
	ended := func(k *coppice.Task) {
		k.Stage, k.Outcome, k.EndedAt = coppice.StageEnded, coppice.OutcomeDone, start
	}
	old := task(t, s, kept, 1, ended)
	removed, of := put(gone, task(t, s, gone, 1, ended)), put(kept, old)
	forget(t, s, gone.ID)
	forgetOld(t, s, store.Keep{Tasks: time.Hour}, start.AddDate(1, 0, 0))
	view(t, s, func(r store.Reader) error {
		same(t, "issues of a removed project", 0, len(must(r.Issues.List(store.IssueFilter{ProjectID: removed.ProjectID, Ended: true}))))
		same(t, "trackers of a removed project", 0, len(must(r.Trackers.In(removed.ProjectID))))
		_, err := r.Tasks.Get(old.ID)
		wantCode(t, "the task", err, coppice.ENotFound)
		of.TaskID, of.NextAt, of.EndedAt = 0, time.Time{}, start
		same(t, "the issue of a removed task", &of, must(r.Issues.Named(of.TrackerID, "1")))
		return nil
	})
}
