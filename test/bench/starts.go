package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"coppice"
)

// startsByHand is one of several that run side by side: a worktree, a process of
// our size, and the agent. Git sometimes fails when it reads a worktree that
// another git makes at that moment ("failed to read commondir: Success"), so a
// person's shell tries again.
const startsByHand = `until git worktree add -q -f -B "$1" "$2" main 2>&1; do rm -rf "$2"; done; cd "$2" && "$4" && exec "$3"`

// startsRows measures how long it takes until all agents run of tasks that are
// posted at once.
func startsRows(ctx context.Context, l *lab) ([]row, error) {
	var rows []row
	for _, n := range []int{20, 32} {
		r, err := l.startsRow(ctx, n)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func (l *lab) startsRow(ctx context.Context, n int) (row, error) {
	b, err := l.bench(ctx, burstFiles, n, true)
	if err != nil {
		return row{}, err
	}
	defer b.close()
	const rounds = 5
	s, err := interleave(ctx, 1, rounds, func(ctx context.Context, _ int) (float64, error) {
		posted := time.Now()
		if err := b.post(ctx, n); err != nil {
			return 0, err
		}
		last, err := b.allBegin(ctx, n)
		if err == nil {
			_, err = b.log.wait(ctx, coppice.EventWorkspaceRemoved, n)
		}
		return millis(last.Sub(posted)), err
	}, func(ctx context.Context, _ int) (float64, error) { return b.shellStarts(ctx, n) })
	if err != nil {
		return row{}, err
	}
	return row{
		Figure: fmt.Sprintf("%d tasks posted at once → all agents run", n), Ours: s[0].median(), Beside: "git worktree add, an empty program of our size and exec, in as many shells",
		Baseline: s[1].median(), Unit: "ms", N: rounds, Samples: sampled(s[0], s[1]),
	}.judge(goal{ratioMost, 1.3}), nil
}

// allBegin waits until so many agents run, and lets them go. It returns when the
// last one began.
func (b *bench) allBegin(ctx context.Context, n int) (last time.Time, err error) {
	held := make([]beginning, 0, n)
	defer func() {
		for _, h := range held {
			h.release()
		}
	}()
	for range n {
		began, err := b.probes.next(ctx)
		if err != nil {
			return last, err
		}
		held = append(held, began)
		if began.at.After(last) {
			last = began.at
		}
	}
	return last, nil
}

// shellStarts starts so many agents by hand, side by side. It gives up as soon as
// one of the shells fails.
func (b *bench) shellStarts(ctx context.Context, n int) (float64, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var shells sync.WaitGroup
	var trees []string
	posted := time.Now()
	for range n {
		branch := b.lab.name("baseline")
		tree := filepath.Join(b.lab.trees, branch)
		cmd := b.lab.command(ctx, b.repo, "sh", "-c", startsByHand, "sh", branch, tree, b.lab.probe, b.lab.empty)
		cmd.Env = append(cmd.Env, "BENCH_SOCKET="+b.probes.socket, "COPPICE_TASK="+branch)
		shells.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				fail(fmt.Errorf("starting an agent by hand: %w: %s", err, out))
			}
		})
		trees = append(trees, tree)
	}
	last, err := b.allBegin(ctx, n)
	shells.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	for _, tree := range trees {
		if err == nil {
			err = b.lab.run(ctx, b.repo, "git", "worktree", "remove", "--force", tree)
		}
	}
	return millis(last.Sub(posted)), err
}
