package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

func testWorkspaces(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	k := task(t, s, p, 1, nil)
	one := coppice.Workspace{ProjectID: p.ID, TaskID: k.ID, Kind: "worktree", Branch: "coppice/app-1", Ports: []int{4000, 4001}}
	two := coppice.Workspace{ProjectID: p.ID, TaskID: k.ID, Kind: "worktree", Branch: "coppice/app-1", ReadyAt: start}
	update(t, s, func(tx store.Tx) error { return firstOf(tx.Workspaces.Put(&one), tx.Workspaces.Put(&two)) })
	view(t, s, func(r store.Reader) error {
		same(t, "the newest", &two, must(r.Workspaces.Of(k.ID)))
		same(t, "all", []coppice.Workspace{one, two}, must(r.Workspaces.In(p.ID)))
		same(t, "another project's", nil, must(r.Workspaces.In(p.ID+1)))
		return nil
	})
}

func testTrash(t *testing.T, open Open) {
	s := open(t)
	item := func(change func(*coppice.Trash)) coppice.Trash {
		c := coppice.Trash{ProjectID: 1, TaskID: 1, What: "workspace", Path: "/w", RemovedAt: start, ExpiresAt: start.Add(time.Hour)}
		change(&c)
		update(t, s, func(tx store.Tx) error { return tx.Trash.Put(&c) })
		return c
	}
	one := item(func(*coppice.Trash) {})
	item(func(c *coppice.Trash) { c.RestoredAt = start })
	item(func(c *coppice.Trash) { c.PurgedAt = start })
	item(func(c *coppice.Trash) { c.ProjectID = 2 })
	two := item(func(*coppice.Trash) {})
	got := get(t, s, func(r store.Reader) ([]coppice.Trash, error) { return r.Trash.In(1) })
	same(t, "kept, newest first", []coppice.Trash{two, one}, got)
}

func testLandings(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	k := task(t, s, p, 1, nil)
	landing := func(queued time.Duration, ended bool) coppice.Landing {
		l := coppice.Landing{ProjectID: p.ID, TaskID: k.ID, Head: "head", CreatedAt: start}
		if queued > 0 {
			l.QueueID, l.QueuedAt = 5, start.Add(queued)
		}
		if ended {
			l.EndedAt, l.Outcome = start, coppice.LandingLanded
		}
		update(t, s, func(tx store.Tx) error { return tx.Landings.Put(&l) })
		return l
	}
	over, later, first, tie := landing(time.Second, true), landing(3*time.Second, false), landing(time.Second, false), landing(time.Second, false)
	merging := landing(0, false)
	view(t, s, func(r store.Reader) error {
		same(t, "queued", []coppice.Landing{first, tie, later}, must(r.Landings.Queued(5, 9)))
		same(t, "first in the queue", []coppice.Landing{first}, must(r.Landings.Queued(5, 1)))
		same(t, "places in the queue", []int64{first.ID, tie.ID, later.ID}, must(r.Landings.QueuedIDs(5, 9)))
		same(t, "first places in the queue", []int64{first.ID, tie.ID}, must(r.Landings.QueuedIDs(5, 2)))
		same(t, "of the task", []coppice.Landing{over, later, first, tie, merging}, must(r.Landings.Of(k.ID)))
		same(t, "the last", &merging, must(r.Landings.Last(k.ID)))
		return nil
	})
}

// testCandidates checks that a landing has at most one current candidate, and that
// earlier candidates do not change.
func testCandidates(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	k := task(t, s, p, 1, nil)
	l := coppice.Landing{ProjectID: p.ID, TaskID: k.ID, Head: "head", CreatedAt: start}
	put := func(change func()) coppice.Candidate {
		change()
		update(t, s, func(tx store.Tx) error { return tx.Landings.Put(&l) })
		return l.Candidate
	}
	none := put(func() {})
	first := put(func() { l.Candidate = coppice.Candidate{Base: "b1", Tree: "t1", Commit: "c1", CreatedAt: start} })
	first = put(func() { l.Green, l.Pushed = true, true })
	again := put(func() { l.Candidate = coppice.Candidate{} })
	second := put(func() { l.Candidate = coppice.Candidate{Base: "b2", CreatedAt: start.Add(time.Second)} })
	if none != again || none.ID != 0 || first.LandingID != l.ID || second.ID == first.ID {
		t.Errorf("candidates %+v, %+v, %+v, %+v", none, first, again, second)
	}
	view(t, s, func(r store.Reader) error {
		same(t, "the landing", l, must(r.Landings.Get(l.ID)))
		same(t, "its candidates", []coppice.Candidate{first, second}, must(r.Landings.Candidates(l.ID)))
		same(t, "those of another", 0, len(must(r.Landings.Candidates(l.ID+1))))
		return nil
	})
}

// testRed checks which landings wait for a result on their base, and which tasks
// wait for a person because of it.
func testRed(t *testing.T, open Open) {
	s := open(t)
	app, other := project(t, s, "app"), project(t, s, "other")
	k, o := task(t, s, app, 1, nil), task(t, s, other, 1, nil)
	red := func(of coppice.Task, tree string, ended time.Time) coppice.Landing {
		l := coppice.Landing{ProjectID: of.ProjectID, TaskID: of.ID, RedOn: tree, CreatedAt: start, EndedAt: ended}
		update(t, s, func(tx store.Tx) error { return tx.Landings.Put(&l) })
		return l
	}
	red(k, "t1", start)
	red(k, "t2", time.Time{})
	red(o, "t1", time.Time{})
	first := red(k, "t1", time.Time{})
	runs := red(k, "t1", time.Time{})
	red(k, "", time.Time{})
	wait := func(num int, class coppice.Class, on coppice.WaitKind, since time.Duration) int64 {
		return task(t, s, app, num, func(k *coppice.Task) {
			k.Stage, k.StageAt, k.Wait = coppice.StageWaiting, start.Add(since), &coppice.Wait{On: on, Text: "waits"}
			k.Failure = coppice.Failf(class, "it broke", "")
		}).ID
	}
	late, early := wait(2, coppice.ClassBase, coppice.WaitPerson, time.Minute), wait(3, coppice.ClassBase, coppice.WaitPerson, 0)
	wait(4, coppice.ClassAuth, coppice.WaitPerson, 0)
	wait(5, coppice.ClassBase, coppice.WaitBackoff, 0)
	view(t, s, func(r store.Reader) error {
		landing, of, err := r.Landings.FirstRed(app.ID, "t1")
		same(t, "the first red landing", []int64{first.ID, k.ID}, []int64{landing, of})
		none, nobody, noErr := r.Landings.FirstRed(app.ID, "t3")
		same(t, "none", []int64{0, 0}, []int64{none, nobody})
		same(t, "blocked", []int64{early, late}, must(r.Landings.Blocked(app.ID, 9)))
		same(t, "the first blocked", []int64{early}, must(r.Landings.Blocked(app.ID, 1)))
		same(t, "blocked in another project", 0, len(must(r.Landings.Blocked(other.ID, 9))))
		return errors.Join(err, noErr)
	})
	runs.RedRuns = true
	update(t, s, func(tx store.Tx) error { return tx.Landings.Put(&runs) })
	view(t, s, func(r store.Reader) error {
		landing, _, err := r.Landings.FirstRed(app.ID, "t1")
		same(t, "the landing that runs the check", runs.ID, landing)
		return err
	})
}

func testChecks(t *testing.T, open Open) {
	s := open(t)
	check := func(tree, command, env string, exit int, changes ...func(*coppice.Check)) coppice.Check {
		c := coppice.Check{ProjectID: 1, TaskID: 1, Tree: tree, Command: command, Env: env, Exit: exit, EndedAt: start, Took: time.Second}
		for _, f := range changes {
			f(&c)
		}
		update(t, s, func(tx store.Tx) error { return tx.Checks.Put(&c) })
		return c
	}
	check("t1", "make", "e1", 1)
	b := check("t1", "make", "e2", 0)
	c := check("t1", "make", "e1", 0)
	d := check("t1", "lint", "e1", 2)
	check("t1", "make", "e1", 137, func(c *coppice.Check) { c.Signal = "SIGKILL" })
	late := check("t1", "slow", "e1", 124, func(c *coppice.Check) { c.TimedOut = true })
	check("t2", "make", "e1", 0)
	view(t, s, func(r store.Reader) error {
		same(t, "the newest of each", []coppice.Check{b, c, d, late}, must(r.Checks.On(1, "t1")))
		same(t, "another project's", nil, must(r.Checks.On(2, "t1")))
		same(t, "of the task", 7, len(must(r.Checks.Of(1))))
		return nil
	})
}

func offer(t *testing.T, s store.Store, key, pool string, kind coppice.WorkKind) coppice.Work {
	t.Helper()
	w := coppice.Work{
		Kind: kind, Key: key, Pool: pool, ProjectID: 1, TaskID: 1, State: coppice.WorkOffered,
		OfferedAt: start, Spec: coppice.Raw(map[string]string{"key": key}),
	}
	update(t, s, func(tx store.Tx) error { return tx.Work.Put(&w) })
	return w
}

func testWork(t *testing.T, open Open) {
	s := open(t)
	run := offer(t, s, "run", "near", coppice.WorkRun)
	far := offer(t, s, "far", "far", coppice.WorkCheck)
	check := offer(t, s, "check", "near", coppice.WorkCheck)
	other := offer(t, s, "other", "other", coppice.WorkRun)
	takeable := func(pools []string, kinds []coppice.WorkKind, most int) []coppice.Work {
		return get(t, s, func(r store.Reader) ([]coppice.Work, error) { return r.Work.Takeable(pools, kinds, most) })
	}
	both := []coppice.WorkKind{coppice.WorkRun, coppice.WorkCheck}
	same(t, "of two pools", []coppice.Work{run, far, check}, takeable([]string{"near", "far"}, both, 10))
	same(t, "a pool named twice", []coppice.Work{run, check}, takeable([]string{"near", "near"}, both, 10))
	same(t, "at most", []coppice.Work{run, far}, takeable([]string{"near", "far"}, both, 2))
	same(t, "of a kind", []coppice.Work{far, check}, takeable([]string{"near", "far"}, both[1:], 10))
	same(t, "of no pool", nil, takeable(nil, both, 10))
	far2 := offer(t, s, "remove", "far", coppice.WorkRemove)
	move := coppice.Work{Kind: coppice.WorkMove, Key: "move", Pool: "near", Subject: coppice.QueueSubject(1), TaskID: 1, State: coppice.WorkOffered, OfferedAt: start}
	update(t, s, func(tx store.Tx) error { return tx.Work.Put(&move) })
	all := append(both, coppice.WorkRemove, coppice.WorkMove)
	same(t, "by importance", []coppice.Work{move, far2, run, far, check}, takeable([]string{"near", "far"}, all, 10))
	same(t, "the most important", []coppice.Work{move, far2}, takeable([]string{"near", "far"}, all, 2))
	far2.State, move.State = coppice.WorkSettled, coppice.WorkSettled
	update(t, s, func(tx store.Tx) error { return firstOf(tx.Work.Put(&far2), tx.Work.Put(&move)) })

	run.State, run.Worker, run.Attempt, run.LeaseUntil, run.TakenAt = coppice.WorkTaken, "w1", 1, start.Add(time.Minute), start
	check.State, check.Result, check.FinishedAt = coppice.WorkFinished, coppice.Raw("done"), start
	other.State = coppice.WorkSettled
	update(t, s, func(tx store.Tx) error { return firstOf(tx.Work.Put(&run), tx.Work.Put(&check), tx.Work.Put(&other)) })
	same(t, "once some are taken", []coppice.Work{far}, takeable([]string{"near", "far", "other"}, both, 10))
	view(t, s, func(r store.Reader) error {
		same(t, "held", []coppice.Work{run}, must(r.Work.HeldBy("w1")))
		same(t, "held by nobody", nil, must(r.Work.HeldBy("")))
		same(t, "unsettled", []coppice.Work{run, far, check}, must(r.Work.Unsettled(coppice.TaskSubject(1))))
		same(t, "by key", &other, must(r.Work.ByKey("other")))
		same(t, "counts", map[coppice.WorkState]int{coppice.WorkTaken: 1, coppice.WorkOffered: 1, coppice.WorkFinished: 1}, must(r.Work.Count()))
		return nil
	})
	until := start.Add(time.Hour)
	current := coppice.Lease{Work: run, Attempt: 1, Worker: "w1"}
	others := []coppice.Lease{{Work: run, Attempt: 2, Worker: "w1"}, {Work: run, Attempt: 1, Worker: "w2"}, {Work: check, Worker: check.Worker}, {Work: coppice.Work{ID: 99}}}
	for _, l := range [][]coppice.Lease{others, append([]coppice.Lease{current}, others...)} {
		view(t, s, func(r store.Reader) error {
			same(t, "not renewed by others", run, must(r.Work.Get(run.ID)))
			return nil
		})
		update(t, s, func(tx store.Tx) error {
			lost, err := tx.Work.Renew(l, until)
			same(t, "lost", others, lost)
			return err
		})
	}
	run.LeaseUntil = until
	view(t, s, func(r store.Reader) error {
		same(t, "renewed", []coppice.Work{run}, must(r.Work.HeldBy("w1")))
		same(t, "not renewed", check, must(r.Work.Get(check.ID)))
		return nil
	})
	again := coppice.Work{Kind: coppice.WorkRun, Key: "run", State: coppice.WorkOffered}
	err := s.Update(t.Context(), func(tx store.Tx) error { return tx.Work.Put(&again) })
	wantCode(t, "a second item of a key", err, coppice.EConflict)
}

func testChecksTakeTurns(t *testing.T, open Open) {
	s := open(t)
	check := func(project int64, key string, state coppice.WorkState) coppice.Work {
		w := coppice.Work{Kind: coppice.WorkCheck, Key: key, Pool: "p", ProjectID: project, TaskID: project, State: state, OfferedAt: start}
		update(t, s, func(tx store.Tx) error { return tx.Work.Put(&w) })
		return w
	}
	keys := func(most int) (all []string) {
		for _, w := range get(t, s, func(r store.Reader) ([]coppice.Work, error) {
			return r.Work.Takeable([]string{"p"}, []coppice.WorkKind{coppice.WorkCheck}, most)
		}) {
			all = append(all, w.Key)
		}
		return all
	}
	for n := range 4 {
		check(1, fmt.Sprintf("busy-%d", n), coppice.WorkOffered)
	}
	check(2, "late-0", coppice.WorkOffered)
	last := check(2, "late-1", coppice.WorkOffered)
	check(3, "one", coppice.WorkOffered)
	same(t, "in turns", []string{"busy-0", "late-0", "one", "busy-1", "late-1", "busy-2", "busy-3"}, keys(10))
	running := check(1, "running", coppice.WorkTaken)
	same(t, "after running checks", []string{"late-0", "one", "busy-0", "late-1"}, keys(4))
	view(t, s, func(r store.Reader) error {
		open := must(r.Work.Open(coppice.WorkCheck))
		same(t, "open ones", 8, len(open))
		same(t, "the newest", running, open[7])
		return nil
	})
	last.State = coppice.WorkSettled
	update(t, s, func(tx store.Tx) error { return tx.Work.Put(&last) })
	same(t, "without ended checks", []string{"late-0", "one", "busy-0", "busy-1", "busy-2", "busy-3"}, keys(10))
}

func testTrimWork(t *testing.T, open Open) {
	s := open(t)
	put := func(key string, state coppice.WorkState, at time.Duration) coppice.Work {
		w := offer(t, s, key, "p", coppice.WorkRun)
		w.State, w.FinishedAt = state, start.Add(at)
		update(t, s, func(tx store.Tx) error { return tx.Work.Put(&w) })
		return w
	}
	old := put("old", coppice.WorkSettled, 0)
	put("old-cancelled", coppice.WorkCancelled, 0)
	put("new", coppice.WorkSettled, time.Hour)
	put("open", coppice.WorkFinished, 0)
	trim := func(before time.Time) (n int) {
		update(t, s, func(tx store.Tx) (err error) { n, err = tx.Work.Trim(before); return err })
		return n
	}
	same(t, "before no moment", 0, trim(time.Time{}))
	same(t, "trimmed", 2, trim(start.Add(time.Minute)))
	same(t, "trimmed again", 0, trim(start.Add(time.Minute)))
	view(t, s, func(r store.Reader) error {
		wantCode(t, "trimmed work", second(r.Work.Get(old.ID)), coppice.ENotFound)
		for _, key := range []string{"new", "open"} {
			if must(r.Work.ByKey(key)) == nil {
				t.Errorf("%s was trimmed", key)
			}
		}
		return nil
	})
	last := put("last", coppice.WorkSettled, 0)
	trim(start.Add(time.Minute))
	if next := offer(t, s, "next", "p", coppice.WorkRun); next.ID <= last.ID {
		t.Errorf("id %d was used again", next.ID)
	}
}
