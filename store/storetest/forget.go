package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// full adds a project with three tasks and rows of every kind.
func full(t *testing.T, s store.Store, prefix string) coppice.Project {
	t.Helper()
	p := project(t, s, prefix)
	for n := 1; n <= 3; n++ {
		k := task(t, s, p, n, func(k *coppice.Task) { k.Stage, k.Outcome = coppice.StageEnded, coppice.OutcomeDone })
		for i := 1; i <= 2; i++ {
			x := session(t, s, k, i, func(x *coppice.Session) { x.State, x.Prompt, x.Usage.CostUSD = coppice.SessionDone, "do it", 1 })
			var out []coppice.Output
			for o := range 300 {
				out = append(out, coppice.Output{SessionID: x.ID, Offset: int64(o * 10), At: start, Kind: coppice.OutputImage, Data: bytes.Repeat([]byte("x"), o)})
			}
			update(t, s, func(tx store.Tx) error {
				err := tx.Outputs.Add(x.ID, 0, 3000, out)
				for _, put := range []func() error{
					func() error {
						return tx.Questions.Put(&coppice.Question{TaskID: k.ID, SessionID: x.ID, Text: "?", AnsweredAt: start})
					},
					func() error { return tx.Messages.Put(&coppice.Message{TaskID: k.ID, SessionID: x.ID, Text: "!"}) },
					func() error { return tx.Outputs.PutMask(x.ID, []byte(`{}`)) },
					func() error {
						return tx.Work.Put(&coppice.Work{Key: fmt.Sprint(x.Key, "/run"), ProjectID: p.ID, TaskID: k.ID, SessionID: x.ID, State: coppice.WorkSettled, Kind: coppice.WorkRun})
					},
				} {
					if err == nil {
						err = put()
					}
				}
				return err
			})
		}
		update(t, s, func(tx store.Tx) error {
			tr := &coppice.Trash{ProjectID: p.ID, TaskID: k.ID, What: "workspace"}
			l := &coppice.Landing{ProjectID: p.ID, TaskID: k.ID, Candidate: coppice.Candidate{Base: "b"}}
			for _, put := range []func() error{
				func() error { return tx.Trash.Put(tr) },
				func() error { return tx.Locks.Put(coppice.Lock{ProjectID: p.ID, SessionID: k.ID, Name: k.Key}) },
				func() error { return tx.Locks.PutRequest(&coppice.LockRequest{ProjectID: p.ID, SessionID: k.ID}) },
				func() error { return tx.Landings.Put(l) },
				func() error { return tx.Comments.Put(&coppice.Comment{TaskID: k.ID, Path: "a.go"}) },
				func() error { return tx.Viewed.Put(coppice.Viewed{TaskID: k.ID, Path: "a.go"}) },
				func() error {
					return tx.Workspaces.Put(&coppice.Workspace{ProjectID: p.ID, TaskID: k.ID, TrashID: tr.ID})
				},
				func() error {
					return tx.Checks.Put(&coppice.Check{ProjectID: p.ID, TaskID: k.ID, LandingID: l.ID, Tree: "t", Command: "make"})
				},
				func() error { return tx.Documents.Put(&coppice.Document{TaskID: k.ID, Name: "plan", Text: "x"}) },
				func() error { return tx.Schedules.Put(&coppice.Schedule{ProjectID: p.ID, Name: k.Key}) },
				func() error { return tx.Timers.Set(store.Timer{Kind: "trash", ID: fmt.Sprint(tr.ID), At: start}) },
				func() error { return tx.Timers.Set(store.Timer{Kind: "task", ID: fmt.Sprint(k.ID), At: start}) },
				func() error {
					return tx.Log.Append(&coppice.Event{Kind: coppice.EventTaskCreated, ProjectID: p.ID, TaskID: k.ID, At: start})
				},
			} {
				if err := put(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	update(t, s, func(tx store.Tx) (err error) {
		p, err = tx.Projects.Get(p.ID)
		p.LastTask = 3
		if err != nil {
			return err
		}
		return tx.Projects.Put(&p)
	})
	return p
}

// forget removes a project and returns the number of steps.
func forget(t *testing.T, s store.Store, id int64) (steps int) {
	t.Helper()
	for more := true; more; steps++ {
		update(t, s, func(tx store.Tx) (err error) {
			more, err = tx.Projects.Forget(id, 100)
			return err
		})
	}
	return steps
}

func testForget(t *testing.T, open Open) {
	s := open(t)
	gone, kept := full(t, s, "gone"), full(t, s, "kept")
	var before []coppice.Task
	view(t, s, func(r store.Reader) (err error) {
		before, err = r.Tasks.List(store.TaskFilter{ProjectID: gone.ID, OldFirst: true})
		return err
	})
	after := task(t, s, kept, 4, func(k *coppice.Task) { k.After = []int64{before[1].ID} })
	same(t, "dependants", []string{after.Key}, get(t, s, func(r store.Reader) ([]string, error) { return r.Projects.Dependants(gone.ID, 5) }))
	same(t, "no dependants", nil, get(t, s, func(r store.Reader) ([]string, error) { return r.Projects.Dependants(kept.ID, 5) }))
	open4 := task(t, s, gone, 4, func(k *coppice.Task) { k.Stage, k.Next = coppice.StageQueued, &coppice.Next{Agent: "a"} })
	err := s.Update(t.Context(), func(tx store.Tx) error { _, err := tx.Projects.Forget(gone.ID, 100); return err })
	wantCode(t, "with an open task", err, coppice.EConflict)
	open4.Stage = coppice.StageEnded
	w := &coppice.Work{Key: "remove", ProjectID: gone.ID, TaskID: open4.ID, State: coppice.WorkFinished}
	update(t, s, func(tx store.Tx) error { return errors.Join(tx.Tasks.Put(&open4), tx.Work.Put(w)) })
	err = s.Update(t.Context(), func(tx store.Tx) error { _, err := tx.Projects.Forget(gone.ID, 100); return err })
	wantCode(t, "with unsettled work", err, coppice.EConflict)
	w.State = coppice.WorkSettled
	update(t, s, func(tx store.Tx) error { return tx.Work.Put(w) })
	same(t, "busy", false, get(t, s, func(r store.Reader) (bool, error) { return r.Projects.Busy(gone.ID) }))
	same(t, "sizes", map[int64]int64{gone.ID: 269100, kept.ID: 269100}, get(t, s, func(r store.Reader) (map[int64]int64, error) { return r.Outputs.Sizes() }))

	if steps := forget(t, s, gone.ID); steps < 15 {
		t.Errorf("it took %d transactions for 1,800 pieces of output", steps)
	}
	view(t, s, func(r store.Reader) error {
		_, err := r.Projects.Get(gone.ID)
		wantCode(t, "the project", err, coppice.ENotFound)
		for _, k := range before {
			_, err := r.Tasks.ByKey(k.Key)
			wantCode(t, "a task", err, coppice.ENotFound)
		}
		same(t, "sizes", map[int64]int64{kept.ID: 269100}, must(r.Outputs.Sizes()))
		same(t, "what comes after it", 0, len(must(r.Tasks.Get(after.ID)).After))
		same(t, "what it has spent", map[coppice.Subject]coppice.USD{coppice.ProjectSubject(kept.ID): 6, coppice.AccountSubject(before[0].Agent): 12}, must(r.Spend.ByScope(coppice.Day(start))))
		same(t, "what its task has spent", 0, must(r.Spend.Of(coppice.TaskSubject(before[0].ID), "")).CostUSD)
		same(t, "what both have used", 6, must(r.Spend.Usage(store.UsageQuery{From: start.Truncate(24 * time.Hour), To: start.Add(24 * time.Hour)}))[0].Sessions)
		same(t, "what the account has spent", 12, must(r.Spend.Of(coppice.AccountSubject(before[0].Agent), coppice.Day(start))).CostUSD)
		same(t, "the trash", 0, len(must(r.Trash.In(gone.ID))))
		same(t, "the other project's trash", 3, len(must(r.Trash.In(kept.ID))))
		same(t, "timers", 6, len(must(r.Timers.Due(start, 100))))
		same(t, "its events", 3, len(must(r.Log.Events(0, 100, store.EventFilter{ProjectID: gone.ID}))))
		for _, k := range must(r.Tasks.List(store.TaskFilter{ProjectID: kept.ID})) {
			if k.ID == after.ID {
				continue
			}
			for _, x := range must(r.Sessions.Of(k.ID)) {
				same(t, "the other project's output", 300, len(must(r.Outputs.After(x.ID, -1, 1000))))
			}
			same(t, "the other project's checks", 1, len(must(r.Checks.Of(k.ID))))
		}
		return nil
	})

	// New rows get new ids.
	forget(t, s, again(t, s, "gone", 3).ID)
	last := again(t, s, "gone", 3)
	k := task(t, s, last, 5, nil)
	x := session(t, s, k, 1, nil)
	if last.ID <= kept.ID+1 || k.ID <= after.ID+1 || x.ID <= 12 {
		t.Errorf("ids were used twice: project %d, task %d, session %d", last.ID, k.ID, x.ID)
	}
}

// again adds a project whose prefix was used before, and checks that the numbers
// of its tasks continue.
func again(t *testing.T, s store.Store, prefix string, last int) coppice.Project {
	t.Helper()
	p := coppice.Project{Prefix: prefix, Path: "/src/" + prefix, Policy: policy(), CreatedAt: start.Add(time.Hour)}
	update(t, s, func(tx store.Tx) error { return tx.Projects.Put(&p) })
	same(t, "the number of its newest task", last, p.LastTask)
	return p
}
