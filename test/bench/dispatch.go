package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"coppice"
	"coppice/engine"
	"coppice/store"
	"coppice/store/sqlite"
)

// line is a store with a queue of tasks, and what is needed to start one of
// them at a time.
type line struct {
	store  *sqlite.Store
	intake *engine.Intake
	live   int // sessions started
}

const queuePage = 2000 // tasks in one request

func (l *lab) line(ctx context.Context, tasks int) (_ *line, err error) {
	q := &line{}
	if q.store, err = sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(l.disk, l.name("line")+".db")}); err != nil {
		return nil, err
	}
	policy := coppice.DefaultPolicy()
	policy.Base, policy.Agent.Use, policy.Limits.Sessions = "main", "probe", 100_000
	q.intake = engine.NewIntake(q.store, time.Now,
		func(context.Context, string) (coppice.Project, error) {
			return coppice.Project{Path: "/app", Prefix: "app", Policy: policy, BaseCommit: fmt.Sprintf("%040d", 1)}, nil
		},
		func(coppice.Project, string) error { return nil }, func(coppice.Project, string) error { return nil })
	if _, err = q.intake.AddProject(ctx, "/app"); err != nil {
		return nil, err
	}
	// A session runs already: a bound of one keeps all others waiting.
	if err := q.add(ctx, 1); err != nil {
		return nil, err
	}
	if err := q.turn(ctx, 1); err != nil {
		return nil, err
	}
	q.live = 1
	for left := tasks; left > 0; left -= queuePage {
		if err := q.add(ctx, min(left, queuePage)); err != nil {
			return nil, err
		}
		if err := q.turn(ctx, q.live); err != nil {
			return nil, err
		}
	}
	return q, nil
}

func (q *line) add(ctx context.Context, n int) error {
	tasks := make([]coppice.NewTask, n)
	for i := range tasks {
		tasks[i].Title = "A task in a queue"
	}
	_, err := q.intake.CreateTasks(ctx, "app", tasks)
	return err
}

// turn takes one turn of an engine that allows so many sessions.
func (q *line) turn(ctx context.Context, sessions int) error {
	e, err := engine.New(engine.Config{
		Store: q.store, Now: time.Now, MaxSessions: sessions,
		Nodes: func(context.Context) ([]coppice.Node, error) {
			return []coppice.Node{{Name: engine.PoolLocal}}, nil
		},
	})
	if err != nil {
		return err
	}
	_, err = e.Turn(ctx)
	return err
}

// measure takes one turn that starts one session. A new task fills its place
// in the queue before.
func (q *line) measure(ctx context.Context, _ int) (float64, error) {
	if err := q.add(ctx, 1); err != nil {
		return 0, err
	}
	if err := q.turn(ctx, q.live); err != nil {
		return 0, err
	}
	q.live++
	began := time.Now()
	err := q.turn(ctx, q.live)
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	running := 0
	err = q.store.View(ctx, func(r store.Reader) error {
		lanes, err := r.Lanes.Running()
		for _, n := range lanes {
			running += n
		}
		return err
	})
	if err == nil && running != q.live {
		err = fmt.Errorf("%d sessions run, not %d", running, q.live)
	}
	return millis(took), err
}

// dispatchRows measures the turn that starts a session behind queues of several
// lengths.
func dispatchRows(ctx context.Context, l *lab) ([]row, error) {
	lengths := []int{10, 100, 1_000, 10_000}
	var each []measurement
	for _, n := range lengths {
		q, err := l.line(ctx, n)
		if err != nil {
			return nil, err
		}
		defer q.store.Close()
		each = append(each, q.measure)
	}
	const warm, n = 3, 25
	s, err := interleave(ctx, warm, n, each...)
	if err != nil {
		return nil, err
	}
	var out []row
	for i, length := range lengths[1:] {
		out = append(out, row{
			Figure: fmt.Sprintf("a turn that starts a session, %d queued", length), Ours: s[i+1].median(), Beside: "itself with 10 queued",
			Baseline: s[0].median(), Unit: "ms", N: n, Samples: sampled(s[i+1], s[0]),
		}.judge(goal{ratioMost, 1.5}))
	}
	return out, nil
}
