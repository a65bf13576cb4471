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
	return c.Store.Update(ctx, func(tx store.Tx) error { return f(countedTx{tx, c}) })
}

type countedTx struct {
	store.Tx
	c *counted
}

func rows[T any](c *counted, name string, list []T, err error) ([]T, error) {
	c.calls[name]++
	c.rows += len(list)
	return list, err
}

func row[T any](c *counted, name string, v T, err error) (T, error) {
	c.calls[name]++
	c.rows++
	return v, err
}

func (t countedTx) Project(id int64) (coppice.Project, error) {
	p, err := t.Tx.Project(id)
	return row(t.c, "Project", p, err)
}

func (t countedTx) Projects() ([]coppice.Project, error) {
	l, err := t.Tx.Projects()
	return rows(t.c, "Projects", l, err)
}

func (t countedTx) Task(id int64) (coppice.Task, error) {
	v, err := t.Tx.Task(id)
	return row(t.c, "Task", v, err)
}

func (t countedTx) Tasks(f store.TaskFilter) ([]coppice.Task, error) {
	l, err := t.Tx.Tasks(f)
	return rows(t.c, "Tasks", l, err)
}

func (t countedTx) CountTasks(f store.TaskFilter) (int, error) {
	n, err := t.Tx.CountTasks(f)
	return row(t.c, "CountTasks", n, err)
}

func (t countedTx) Dependants(id int64) ([]int64, error) {
	l, err := t.Tx.Dependants(id)
	return rows(t.c, "Dependants", l, err)
}

func (t countedTx) NextLane(after coppice.Lane) (coppice.Lane, bool, error) {
	t.c.calls["NextLane"]++
	return t.Tx.NextLane(after)
}

func (t countedTx) LaneHeads(l coppice.Lane, most int) ([]coppice.Task, error) {
	list, err := t.Tx.LaneHeads(l, most)
	return rows(t.c, "LaneHeads", list, err)
}

func (t countedTx) Running() (map[coppice.Lane]int, error) {
	m, err := t.Tx.Running()
	return row(t.c, "Running", m, err)
}

func (t countedTx) LiveSessions() ([]coppice.Session, error) {
	l, err := t.Tx.LiveSessions()
	return rows(t.c, "LiveSessions", l, err)
}

func (t countedTx) SessionsOf(id int64) ([]coppice.Session, error) {
	l, err := t.Tx.SessionsOf(id)
	return rows(t.c, "SessionsOf", l, err)
}

func (t countedTx) UnsettledWork(id int64) ([]coppice.Work, error) {
	l, err := t.Tx.UnsettledWork(id)
	return rows(t.c, "UnsettledWork", l, err)
}

func (t countedTx) QueuedLandings(id int64, most int) ([]coppice.Landing, error) {
	l, err := t.Tx.QueuedLandings(id, most)
	return rows(t.c, "QueuedLandings", l, err)
}

func (t countedTx) Events(after int64, most int, f store.EventFilter) ([]coppice.Event, error) {
	l, err := t.Tx.Events(after, most, f)
	return rows(t.c, "Events", l, err)
}

func (t countedTx) DueTimers(now time.Time, most int) ([]store.Timer, error) {
	l, err := t.Tx.DueTimers(now, most)
	return rows(t.c, "DueTimers", l, err)
}

// readsWith counts what two turns read: one that finds the lane full, and one
// that finds room for one more.
func readsWith(t *testing.T, queued int) (full, free *counted) {
	t.Helper()
	b := open(t)
	b.project(func(p *coppice.Project) { p.Policy.Limits.Sessions = 1 })
	b.create(coppice.NewTask{Title: "runs"})
	b.turn()
	b.update(func(tx store.Tx) error {
		for n := range queued {
			task := coppice.Task{
				ProjectID: 1, Num: n + 2, Key: coppice.TaskKey("app", n+2), Title: fmt.Sprint("task ", n), Track: "main", Agent: "ann",
				CreatedAt: noon, Stage: coppice.StageQueued, StageAt: noon, Next: &coppice.Next{Role: coppice.RoleImplement, Agent: "ann"},
			}
			if err := tx.PutTask(&task); err != nil {
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
		p, err := tx.Project(1)
		p.Policy.Limits.Sessions = 2
		if err != nil {
			return err
		}
		return tx.PutProject(&p)
	})
	free = count()
	if s := b.task("app-2"); s.Stage != coppice.StageSession {
		t.Fatalf("the turn with room started nothing: %s is %s", s.Key, s.Stage)
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
	if manyFull.calls["LaneHeads"] != 0 {
		t.Error("a full lane's tasks were read")
	}
	if d := cmp.Diff(fewFree.calls, manyFree.calls); d != "" {
		t.Errorf("a lane with room, calls:\n%s", d)
	}
	if more := manyFree.rows - fewFree.rows; more > mostStarts {
		t.Errorf("a lane with room: %d more rows, at most %d heads", more, mostStarts)
	}
}
