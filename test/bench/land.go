package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"coppice"
)

const (
	landTasks = 50
	landSlots = 10
)

// landByHand is the baseline: the least git commands that give a task a worktree,
// commit what its agent left, merge it on trees and move the base.
const landByHand = `set -e
for i in $(seq 1 "$1"); do
	b=$2-$i
	git worktree add -q -b "$b" "$3/$b" main
	(cd "$3/$b" && COPPICE_TASK=$b "$4")
	git -C "$3/$b" add --all
	git -C "$3/$b" commit -q -m "$b"
	tree=$(git merge-tree --write-tree main "$b")
	commit=$(git commit-tree "$tree" -p main -m "$b")
	git update-ref refs/heads/main "$commit"
	git worktree remove --force "$3/$b"
done`

// landRows measures how many instant tasks land in a second.
func landRows(ctx context.Context, l *lab) ([]row, error) {
	small, err := landRow(ctx, l, 20, 3)
	if err != nil {
		return nil, err
	}
	large, err := landRow(ctx, l, l.files, 1)
	return []row{small, large}, err
}

func landRow(ctx context.Context, l *lab, files, n int) (row, error) {
	b, err := l.bench(ctx, files, landSlots, false)
	if err != nil {
		return row{}, err
	}
	defer b.close()
	hand, err := l.repository(ctx, files, "")
	if err != nil {
		return row{}, err
	}
	// A first few make the worktrees that later ones find.
	if err := b.post(ctx, landSlots); err != nil {
		return row{}, err
	}
	if _, err := b.log.wait(ctx, coppice.EventWorkspaceRemoved, landSlots); err != nil {
		return row{}, err
	}
	s, err := interleave(ctx, 0, n, func(ctx context.Context, _ int) (float64, error) {
		began := time.Now()
		if err := b.post(ctx, landTasks); err != nil {
			return 0, err
		}
		_, err := b.log.wait(ctx, coppice.EventTaskEnded, landTasks)
		return landTasks / time.Since(began).Seconds(), err
	}, func(ctx context.Context, _ int) (float64, error) {
		began := time.Now()
		name := l.name("hand")
		err := l.run(ctx, hand, "sh", "-c", landByHand, "sh", fmt.Sprint(landTasks), name, filepath.Clean(l.trees), l.probe)
		return landTasks / time.Since(began).Seconds(), err
	})
	if err != nil {
		return row{}, err
	}
	return row{
		Figure: fmt.Sprintf("%d instant tasks, %d slots, posted → landed, %d files", landTasks, landSlots, files), Ours: s[0].median(),
		Beside: "the git commands in a shell loop", Baseline: s[1].median(), Unit: "tasks/s", N: n,
		Samples: sampled(s[0], s[1]),
	}.judge(goal{ratioLeast, 0.8}), nil
}
