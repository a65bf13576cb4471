package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// over adds an ended task with output and a check log.
func over(t *testing.T, s store.Store, p coppice.Project, n int, ended time.Time, change func(*coppice.Task)) coppice.Task {
	t.Helper()
	k := task(t, s, p, n, func(k *coppice.Task) {
		k.Stage, k.Outcome, k.EndedAt = coppice.StageEnded, coppice.OutcomeDone, ended
		if change != nil {
			change(k)
		}
	})
	x := session(t, s, k, 1, func(x *coppice.Session) { x.State, x.EndedAt, x.Prompt = coppice.SessionDone, ended, "do it" })
	update(t, s, func(tx store.Tx) error {
		out := []coppice.Output{{Offset: 0, At: ended, Kind: coppice.OutputStdout, Data: []byte(strings.Repeat("words ", 100))}}
		return errors.Join(
			tx.Outputs.Add(x.ID, 0, 600, out),
			tx.Checks.Put(&coppice.Check{ProjectID: p.ID, TaskID: k.ID, Command: "make test", Log: "all is well"}),
			tx.Landings.Put(&coppice.Landing{ProjectID: p.ID, TaskID: k.ID, SessionID: x.ID, EndedAt: ended, Outcome: coppice.LandingLanded}),
		)
	})
	return k
}

// forgetOld removes everything beyond the limits, and returns what was removed.
func forgetOld(t *testing.T, s store.Store, k store.Keep, now time.Time) (log []string) {
	t.Helper()
	k.Notice = []byte(`{"kind":"notice","text":"it was removed"}`)
	for range 100 {
		var f store.Forgotten
		update(t, s, func(tx store.Tx) (err error) { f, err = tx.History.Forget(k, now, 10); return err })
		if f.Task == nil {
			return log
		}
		if f.Done {
			log = append(log, fmt.Sprintf("%s %t %d", f.Task.Key, f.All, len(f.Checks)))
		}
	}
	t.Fatal("it does not end")
	return nil
}

// testKeepByAge checks that old output is removed first, then the task. Tasks that
// have not landed stay, unless they are archived.
func testKeepByAge(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	day := 24 * time.Hour
	outcome := func(o coppice.Outcome) func(*coppice.Task) { return func(k *coppice.Task) { k.Outcome = o } }
	old := over(t, s, p, 1, start, nil)
	failed := over(t, s, p, 2, start, outcome(coppice.OutcomeFailed))
	away := over(t, s, p, 3, start, func(k *coppice.Task) { k.Outcome, k.Archived = coppice.OutcomeFailed, start.Add(5*day) })
	young := over(t, s, p, 4, start.Add(20*day), nil)
	task(t, s, p, 5, func(k *coppice.Task) { k.Stage, k.After = coppice.StageEnded, []int64{old.ID} })
	keep := store.Keep{Output: 10 * day, Tasks: 30 * day}
	due := func(now time.Time) time.Time {
		return get(t, s, func(r store.Reader) (time.Time, error) { return r.History.Due(keep, now) })
	}
	same(t, "due", start.Add(10*day), due(start))
	same(t, "due now", start.Add(11*day), due(start.Add(11*day)))
	same(t, "before its time", nil, forgetOld(t, s, keep, start.Add(10*day-1)))
	same(t, "what was written", []string{"app-1 false 1"}, forgetOld(t, s, keep, start.Add(10*day)))
	view(t, s, func(r store.Reader) error {
		x := must(r.Sessions.Last(old.ID))
		notice := coppice.Output{SessionID: x.ID, Offset: 600, At: start.Add(10 * day), Kind: coppice.OutputHost, Data: []byte(`{"kind":"notice","text":"it was removed"}`)}
		same(t, "the notice", []coppice.Output{notice}, must(r.Outputs.After(x.ID, -1, 10)))
		same(t, "the cursor", 601, x.Cursor)
		same(t, "the prompt", "", must(r.Sessions.Get(x.ID)).Prompt)
		same(t, "the log", "", must(r.Checks.Of(old.ID))[0].Log)
		same(t, "the landing", 1, len(must(r.Landings.Of(old.ID))))
		return nil
	})
	same(t, "due next", start.Add(15*day), due(start.Add(10*day)))
	same(t, "the archived one, and the task", []string{"app-3 false 1", "app-4 false 1", "app-1 true 1"}, forgetOld(t, s, keep, start.Add(30*day)))
	same(t, "due then", start.Add(35*day), due(start.Add(30*day)))
	same(t, "the rest", []string{"app-3 true 1", "app-4 true 1"}, forgetOld(t, s, keep, start.Add(1000*day)))
	same(t, "due never", time.Time{}, due(start.Add(1000*day)))
	view(t, s, func(r store.Reader) error {
		for _, k := range []coppice.Task{old, away, young} {
			_, err := r.Tasks.Get(k.ID)
			wantCode(t, k.Key, err, coppice.ENotFound)
		}
		same(t, "what has not landed", 600, len(must(r.Outputs.After(must(r.Sessions.Last(failed.ID)).ID, -1, 10))[0].Data))
		same(t, "what came after", nil, must(r.Tasks.ByKey("app-5")).After)
		return nil
	})
	if k := task(t, s, p, 6, nil); k.ID <= young.ID {
		t.Errorf("the id %d was used again", k.ID)
	}
}

// testKeepBySize checks that the oldest is removed when a limit is exceeded.
func testKeepBySize(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	kept := func() store.Kept {
		return get(t, s, func(r store.Reader) (store.Kept, error) { return r.History.Kept() })
	}
	same(t, "nothing", store.Kept{}, kept())
	for n := range 4 {
		over(t, s, p, n+1, start.Add(time.Duration(n)*time.Hour), nil)
	}
	full := kept()
	same(t, "tasks", 4, full.Tasks)
	same(t, "too many tasks", []string{"app-1 true 1"}, forgetOld(t, s, store.Keep{TasksMost: 3}, start))
	same(t, "less output", true, kept().Output < full.Output && kept().Output > 0)
	same(t, "too much output", []string{"app-2 false 1"}, forgetOld(t, s, store.Keep{OutputSize: kept().Output - 1}, start))
	same(t, "no limit", nil, forgetOld(t, s, store.Keep{}, start.Add(100_000*time.Hour)))
}

// testKeepWhatIsNeeded checks that a task with files on disk, or on which others
// depend, is not removed. The output of a task that continued is removed again.
func testKeepWhatIsNeeded(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	var all []coppice.Task
	for n := range 5 {
		all = append(all, over(t, s, p, n+1, start, func(k *coppice.Task) { k.Feature = []string{"", "", "", "", "login"}[n] }))
	}
	update(t, s, func(tx store.Tx) error {
		return errors.Join(
			tx.Workspaces.Put(&coppice.Workspace{ProjectID: p.ID, TaskID: all[0].ID, Path: "/w"}),
			tx.Trash.Put(&coppice.Trash{ProjectID: p.ID, TaskID: all[1].ID, Path: "/t"}),
			tx.Work.Put(&coppice.Work{Key: "k", ProjectID: p.ID, TaskID: all[2].ID, Subject: coppice.TaskSubject(all[2].ID), State: coppice.WorkOffered}),
			tx.Features.Put(p.ID, map[string]json.RawMessage{"login": json.RawMessage("{}")}),
		)
	})
	task(t, s, p, 6, func(k *coppice.Task) { k.Stage, k.After = coppice.StageWaiting, []int64{all[3].ID} })
	same(t, "only output", 5, len(forgetOld(t, s, store.Keep{Output: time.Hour, Tasks: time.Hour}, start.Add(time.Hour))))
	on := all[4]
	on.Stage = coppice.StageWaiting
	update(t, s, func(tx store.Tx) error { return tx.Tasks.Put(&on) })
	on.Stage, on.EndedAt = coppice.StageEnded, start.Add(time.Minute)
	update(t, s, func(tx store.Tx) error { return tx.Tasks.Put(&on) })
	same(t, "after it continued", []string{"app-5 false 1"}, forgetOld(t, s, store.Keep{Output: time.Hour}, start.Add(2*time.Hour)))
}

// testEndedCounts compares the counter of ended tasks with the tasks after random
// changes.
func testEndedCounts(t *testing.T, open Open) {
	s := open(t)
	p, q := project(t, s, "app"), project(t, s, "web")
	compare := func(when string) {
		t.Helper()
		view(t, s, func(r store.Reader) error {
			for _, project := range []int64{0, p.ID, q.ID} {
				for _, outcomes := range [][]coppice.Outcome{nil, {coppice.OutcomeDone}, {coppice.OutcomeFailed, coppice.OutcomeCancelled}} {
					for _, archived := range []store.Archived{store.ArchivedToo, store.ArchivedNot, store.ArchivedOnly} {
						f := store.TaskFilter{ProjectID: project, Stages: []coppice.Stage{coppice.StageEnded}, Outcomes: outcomes, Archived: archived}
						same(t, fmt.Sprintf("%s: %+v", when, f), len(must(r.Tasks.List(f))), must(r.Tasks.Count(f)))
					}
				}
			}
			return nil
		})
	}
	var all []coppice.Task
	for n, o := range []coppice.Outcome{coppice.OutcomeDone, coppice.OutcomeFailed, coppice.OutcomeCancelled, coppice.OutcomeDone} {
		all = append(all, task(t, s, []coppice.Project{p, q}[n%2], n+1, func(k *coppice.Task) { k.Stage, k.Outcome = coppice.StageEnded, o }))
		compare("added")
	}
	for n, change := range []func(*coppice.Task){
		func(k *coppice.Task) { k.Archived = start },
		func(k *coppice.Task) { k.Stage, k.Outcome = coppice.StageWaiting, "" },
		func(k *coppice.Task) { k.Outcome = coppice.OutcomeDone },
		func(k *coppice.Task) { k.Title = "another" },
		func(k *coppice.Task) { k.Archived = time.Time{} },
		func(k *coppice.Task) { k.Stage, k.Outcome = coppice.StageEnded, coppice.OutcomeFailed },
	} {
		k := &all[n%4]
		change(k)
		update(t, s, func(tx store.Tx) error { return tx.Tasks.Put(k) })
		compare(fmt.Sprint("change ", n))
	}
	forget(t, s, q.ID)
	compare("forgotten")
}
