package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"coppice"
	"coppice/test/web/seed"
)

const (
	webFew   = 100  // tasks on a small board
	webMany  = 5000 // tasks on a large board
	webLoads = 9    // of each
)

// webFirst measures how long the first load of the board takes with few and with
// many tasks, half of which have ended. The loads alternate.
func webFirst(ctx context.Context, l *lab) (_ []row, err error) {
	var took [2]samples
	var open [2]*browser
	for i, n := range []int{webFew, webMany} {
		b, err := l.benchWithHistory(ctx, n)
		if err != nil {
			return nil, err
		}
		defer b.close()
		if open[i], err = l.browse(ctx, b.server); err != nil {
			return nil, err
		}
		defer open[i].close()
	}
	for range webLoads {
		for i, web := range open {
			var ms float64
			if err := web.ask(map[string]any{"do": "first"}, &ms); err != nil {
				return nil, err
			}
			took[i] = append(took[i], ms)
		}
	}
	return []row{row{
		Figure: fmt.Sprintf("the board's first load, %d tasks", webMany), Ours: took[1].median(), Beside: fmt.Sprintf("%d tasks", webFew), Baseline: took[0].median(), Unit: "ms", N: webLoads,
		Samples: map[string]samples{"ours": took[1], "baseline": took[0]},
	}.judge(goal{ratioMost, 1.2})}, nil
}

// benchWithHistory makes a bench with n tasks: half of them ended, the others
// wait because the project is paused.
func (l *lab) benchWithHistory(ctx context.Context, n int) (_ *bench, err error) {
	b, err := l.bench(ctx, 20, 1, false)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	b.log.stop()
	b.log = nil
	b.server.stop()
	if err := seed.History(ctx, filepath.Join(b.state, "coppice.db"), b.project, n/2, time.Now()); err != nil {
		return nil, err
	}
	if b.server, err = l.serve(ctx, b.state); err != nil {
		return nil, err
	}
	client := b.server.client
	if _, err := client.Pause(ctx, b.project, "", true); err != nil {
		return nil, err
	}
	for left := n - n/2; left > 0; left -= 1000 {
		tasks := make([]coppice.NewTask, min(left, 1000))
		for i := range tasks {
			tasks[i].Title = fmt.Sprintf("Task %d that waits", left-i)
		}
		if made, err := client.CreateTasks(ctx, b.project, tasks); err != nil {
			return nil, errors.Join(fmt.Errorf("%d tasks", len(made)), err)
		}
	}
	return b, nil
}
