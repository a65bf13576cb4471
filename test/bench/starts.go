package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"coppice"
)

// startsByHand is one of several that run side by side: a worktree, a process of
// our size, and the agent.
const startsByHand = `git worktree add -q -b "$1" "$2" main && cd "$2" && "$4" && exec "$3"`

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

// shellStarts starts so many agents by hand, side by side.
func (b *bench) shellStarts(ctx context.Context, n int) (float64, error) {
	var all []*exec.Cmd
	var trees []string
	posted := time.Now()
	for range n {
		branch := b.lab.name("baseline")
		tree := filepath.Join(b.lab.trees, branch)
		cmd := b.lab.command(ctx, b.repo, "sh", "-c", startsByHand, "sh", branch, tree, b.lab.probe, b.lab.empty)
		cmd.Env = append(cmd.Env, "BENCH_SOCKET="+b.probes.socket, "COPPICE_TASK="+branch)
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		all, trees = append(all, cmd), append(trees, tree)
	}
	last, err := b.allBegin(ctx, n)
	if err != nil {
		return 0, err
	}
	for i, cmd := range all {
		if err := cmd.Wait(); err != nil {
			return 0, err
		}
		if err := b.lab.run(ctx, b.repo, "git", "worktree", "remove", "--force", trees[i]); err != nil {
			return 0, err
		}
	}
	return millis(last.Sub(posted)), nil
}
