package engine

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/store"
)

// counted is a store that counts what a transaction reads: calls and rows.
type counted struct {
	store.Store
	calls map[string]int
	rows  int
}

func (c *counted) Update(ctx context.Context, f func(store.Tx) error) error {
	return c.Store.Update(ctx, func(tx store.Tx) error {
		tx.Projects = countedProjects{tx.Projects, c}
		tx.Tasks = countedTasks{tx.Tasks, c}
		tx.Lanes = countedLanes{tx.Lanes, c}
		tx.Sessions = countedSessions{tx.Sessions, c}
		tx.Work = countedWork{tx.Work, c}
		tx.Landings = countedLandings{tx.Landings, c}
		tx.Log = countedLog{tx.Log, c}
		tx.Timers = countedTimers{tx.Timers, c}
		return f(tx)
	})
}

type (
	countedProjects struct {
		store.Projects
		c *counted
	}
	countedTasks struct {
		store.Tasks
		c *counted
	}
	countedLanes struct {
		store.LaneReader
		c *counted
	}
	countedSessions struct {
		store.Sessions
		c *counted
	}
	countedWork struct {
		store.Work
		c *counted
	}
	countedLandings struct {
		store.Landings
		c *counted
	}
	countedLog struct {
		store.Log
		c *counted
	}
	countedTimers struct {
		store.Timers
		c *counted
	}
)

func rows[T any](c *counted, name string, list []T, err error) ([]T, error) {
	c.calls[name]++
	c.rows += len(list)
	return list, err
}

func oneRow[T any](c *counted, name string, v T, err error) (T, error) {
	c.calls[name]++
	c.rows++
	return v, err
}

func (p countedProjects) Get(id int64) (coppice.Project, error) {
	v, err := p.Projects.Get(id)
	return oneRow(p.c, "Projects.Get", v, err)
}

func (p countedProjects) All() ([]coppice.Project, error) {
	l, err := p.Projects.All()
	return rows(p.c, "Projects.All", l, err)
}

func (t countedTasks) Get(id int64) (coppice.Task, error) {
	v, err := t.Tasks.Get(id)
	return oneRow(t.c, "Tasks.Get", v, err)
}

func (t countedTasks) List(f store.TaskFilter) ([]coppice.Task, error) {
	l, err := t.Tasks.List(f)
	return rows(t.c, "Tasks.List", l, err)
}

func (t countedTasks) Pending(f store.TaskFilter, person bool) ([]coppice.Task, error) {
	l, err := t.Tasks.Pending(f, person)
	return rows(t.c, "Tasks.Pending", l, err)
}

func (t countedTasks) Count(f store.TaskFilter) (int, error) {
	n, err := t.Tasks.Count(f)
	return oneRow(t.c, "Tasks.Count", n, err)
}

func (t countedTasks) Dependants(id int64) ([]int64, error) {
	l, err := t.Tasks.Dependants(id)
	return rows(t.c, "Tasks.Dependants", l, err)
}

func (l countedLanes) Next(after coppice.Lane) (coppice.Lane, bool, error) {
	l.c.calls["Lanes.Next"]++
	return l.LaneReader.Next(after)
}

func (l countedLanes) Heads(lane coppice.Lane, most int) ([]coppice.Task, error) {
	list, err := l.LaneReader.Heads(lane, most)
	return rows(l.c, "Lanes.Heads", list, err)
}

func (l countedLanes) Running() (map[coppice.Lane]int, error) {
	m, err := l.LaneReader.Running()
	return oneRow(l.c, "Lanes.Running", m, err)
}

func (s countedSessions) Live() ([]coppice.Session, error) {
	l, err := s.Sessions.Live()
	return rows(s.c, "Sessions.Live", l, err)
}

func (s countedSessions) Of(id int64) ([]coppice.Session, error) {
	l, err := s.Sessions.Of(id)
	return rows(s.c, "Sessions.Of", l, err)
}

func (w countedWork) Unsettled(id coppice.Subject) ([]coppice.Work, error) {
	l, err := w.Work.Unsettled(id)
	return rows(w.c, "Work.Unsettled", l, err)
}

func (l countedLandings) Queued(id int64, most int) ([]coppice.Landing, error) {
	list, err := l.Landings.Queued(id, most)
	return rows(l.c, "Landings.Queued", list, err)
}

func (l countedLog) Events(after int64, most int, f store.EventFilter) ([]coppice.Event, error) {
	list, err := l.Log.Events(after, most, f)
	return rows(l.c, "Log.Events", list, err)
}

func (t countedTimers) Due(now time.Time, most int) ([]store.Timer, error) {
	l, err := t.Timers.Due(now, most)
	return rows(t.c, "Timers.Due", l, err)
}

// readsWith counts what two turns read: one that finds the lane full, and one
// that finds a free session.
func readsWith(t *testing.T, queued int) (full, free *counted) {
	t.Helper()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Limits.Sessions = 1 })
	b.create(coppice.NewTask{Title: "runs"})
	b.turn()
	b.update(func(tx store.Tx) error {
		for n := range queued {
			task := coppice.Task{
				ProjectID: 1, Num: n + 2, Key: coppice.TaskKey("app", n+2), Title: fmt.Sprint("task ", n), Track: "main", Agent: "ann",
				CreatedAt: noon, Stage: coppice.StageQueued, StageAt: noon, Next: &coppice.Next{Role: coppice.RoleImplement, Agent: "ann"},
			}
			if err := tx.Tasks.Put(&task); err != nil {
				return err
			}
		}
		return nil
	})
	count := func() *counted {
		c := &counted{Store: b.store, calls: map[string]int{}}
		b.engine.cfg.Store = c
		b.turn()
		b.engine.cfg.Store = b.store
		return c
	}
	full = count()
	b.update(func(tx store.Tx) error {
		p, err := tx.Projects.Get(1)
		p.Policy.Limits.Sessions = 2
		if err != nil {
			return err
		}
		return tx.Projects.Put(&p)
	})
	free = count()
	if s := b.task("app-2"); s.Stage != coppice.StageSession {
		t.Fatalf("the turn with capacity started nothing: %s is %s", s.Key, s.Stage)
	}
	return full, free
}

// What a turn reads does not grow with the queue.
func TestReadsDoNotGrow(t *testing.T) {
	t.Parallel()
	fewFull, fewFree := readsWith(t, 10)
	manyFull, manyFree := readsWith(t, 10_000)
	if d := cmp.Diff(fewFull.calls, manyFull.calls); d != "" || fewFull.rows != manyFull.rows {
		t.Errorf("a full lane: %d rows with 10 queued, %d with 10,000; calls:\n%s", fewFull.rows, manyFull.rows, d)
	}
	if manyFull.calls["Lanes.Heads"] != 0 {
		t.Error("a full lane's tasks were read")
	}
	if d := cmp.Diff(fewFree.calls, manyFree.calls); d != "" {
		t.Errorf("a lane with capacity, calls:\n%s", d)
	}
	if more := manyFree.rows - fewFree.rows; more > mostStarts {
		t.Errorf("a lane with capacity: %d more rows, at most %d heads", more, mostStarts)
	}
}
