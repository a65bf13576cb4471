package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"coppice"
	"coppice/api/client"
	"coppice/store"
	"coppice/store/sqlite"
)

const (
	longHistory  = 20_000 // tasks that have ended
	shortHistory = 20
	historyDays  = 20 // on which they were done: the report has a row for each
	usageAtOnce  = 50 // requests in a sample
)

// usageRows measures what a report of the usage costs after many tasks, beside
// what it costs after a few.
func usageRows(ctx context.Context, l *lab) ([]row, error) {
	const warm, n = 3, 41
	var takes []measurement
	for _, tasks := range []int{longHistory, shortHistory} {
		state, err := l.history(ctx, tasks)
		if err != nil {
			return nil, err
		}
		srv, err := l.serve(ctx, state)
		if err != nil {
			return nil, err
		}
		defer srv.stop()
		takes = append(takes, func(ctx context.Context, _ int) (float64, error) { return askUsage(ctx, srv.client, tasks) })
	}
	s, err := interleave(ctx, warm, n, takes...)
	if err != nil {
		return nil, err
	}
	return []row{row{
		Figure: fmt.Sprintf("usage of 30 days, %d finished tasks", longHistory), Ours: s[0].median(), Beside: fmt.Sprintf("%d finished tasks", shortHistory), Baseline: s[1].median(),
		Unit: "ms", N: n, Samples: sampled(s[0], s[1]),
	}.judge(goal{ratioMost, 1.5})}, nil
}

// askUsage is how long one of several reports takes.
func askUsage(ctx context.Context, c *client.Client, tasks int) (float64, error) {
	began := time.Now()
	for range usageAtOnce {
		u, err := c.Usage(ctx, client.UsageQuery{})
		if err != nil {
			return 0, err
		}
		if u.Count != tasks || len(u.Rows) != historyDays {
			return 0, fmt.Errorf("%d sessions in %d rows are reported, want %d in %d", u.Count, len(u.Rows), tasks, historyDays)
		}
	}
	return millis(time.Since(began)) / usageAtOnce, nil
}

// history makes a state with so many tasks that are done, a session each.
func (l *lab) history(ctx context.Context, tasks int) (string, error) {
	state, err := l.state()
	if err != nil {
		return "", err
	}
	repo, err := l.repository(ctx, 1, "agent: {use: scripted}\n")
	if err != nil {
		return "", err
	}
	s, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(state, "coppice.db"), Sync: sqlite.SyncOff})
	if err != nil {
		return "", err
	}
	defer s.Close()
	p := coppice.Project{Prefix: "app", Path: repo, Policy: coppice.DefaultPolicy(), CreatedAt: time.Now(), LastTask: tasks}
	if err := s.Update(ctx, func(tx store.Tx) error { return tx.Projects.Put(&p) }); err != nil {
		return "", err
	}
	noon := time.Now().UTC().Truncate(24 * time.Hour).Add(-12 * time.Hour)
	for from := 0; from < tasks; from += 1000 {
		err := s.Update(ctx, func(tx store.Tx) error {
			for i := from; i < min(from+1000, tasks); i++ {
				if err := putDone(tx, p, i+1, noon.AddDate(0, 0, -(i%historyDays))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return state, nil
}

func putDone(tx store.Tx, p coppice.Project, num int, at time.Time) error {
	t := coppice.Task{
		ProjectID: p.ID, Num: num, Key: coppice.TaskKey(p.Prefix, num), Title: fmt.Sprint("Task ", num), Track: "main", Agent: "scripted", Sessions: 1,
		Stage: coppice.StageEnded, Outcome: coppice.OutcomeDone, CreatedAt: at, StageAt: at, EndedAt: at,
	}
	if err := tx.Tasks.Put(&t); err != nil {
		return err
	}
	return tx.Sessions.Put(&coppice.Session{
		ProjectID: p.ID, TaskID: t.ID, N: 1, Key: coppice.SessionKey(t.Key, 1), Role: coppice.RoleImplement, Track: t.Track, Agent: t.Agent, Model: "big",
		State: coppice.SessionDone, CreatedAt: at, StartedAt: at, EndedAt: at, Usage: coppice.Usage{InputTokens: 1000, OutputTokens: 100, CostUSD: 0.25, Turns: 3},
	})
}
