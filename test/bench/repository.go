package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"coppice"
	"coppice/workspace"
	"coppice/workspace/git"
)

const (
	landedTasks = 5000 // in the repository in which the user's git is measured
	realTasks   = 100  // of them, by agents
)

// fewMillis is how often a command runs that takes some milliseconds: anything else
// that runs shows in some of them.
const fewMillis = 61

// usersGit are the commands that a user runs all day.
var usersGit = [][]string{{"git", "fetch", "--quiet", "origin"}, {"git", "log", "--oneline"}, {"git", "branch", "-a"}, {"git", "status", "--porcelain"}}

// repositoryRows measures the user's git in a repository in which many tasks have
// landed, beside an untouched clone of it.
func repositoryRows(ctx context.Context, l *lab) ([]row, error) {
	b, err := l.bench(ctx, 200, landSlots, false)
	if err != nil {
		return nil, err
	}
	defer b.close()
	if err := b.post(ctx, realTasks); err != nil {
		return nil, err
	}
	if _, err := b.log.wait(ctx, coppice.EventWorkspaceRemoved, realTasks); err != nil {
		return nil, err
	}
	state, repo := b.state, b.repo
	b.server.stop()
	if err := l.landMany(ctx, state, repo, landedTasks-realTasks); err != nil {
		return nil, err
	}
	bare, clone := filepath.Join(l.disk, l.name("origin")), filepath.Join(l.disk, l.name("clone"))
	for _, args := range [][]string{{"git", "clone", "-q", "--bare", repo, bare}, {"git", "remote", "add", "origin", bare}, {"git", "fetch", "-q", "origin"}, {"git", "clone", "-q", bare, clone}} {
		if err := l.run(ctx, repo, args...); err != nil {
			return nil, err
		}
	}
	var rows []row
	for _, args := range usersGit {
		in := func(dir string) measurement {
			return func(ctx context.Context, _ int) (float64, error) {
				began := time.Now()
				err := l.run(ctx, dir, args...)
				return millis(time.Since(began)), err
			}
		}
		s, err := interleave(ctx, 4, fewMillis, in(repo), in(clone))
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{
			Figure: fmt.Sprintf("git %s after %d landed tasks", args[1], landedTasks), Ours: s[0].median(), Beside: "an untouched clone", Baseline: s[1].median(),
			Unit: "ms", N: fewMillis, Samples: sampled(s[0], s[1]),
		}.judge(goal{ratioMost, 1.2}))
	}
	return rows, nil
}

// landMany lands work as the server does, without agents.
func (l *lab) landMany(ctx context.Context, state, repo string, n int) error {
	g, err := git.New(git.Config{Env: l.environ()})
	if err != nil {
		return err
	}
	w, err := workspace.New(workspace.Config{Dir: filepath.Join(state, "workspaces"), Trash: filepath.Join(state, "trash"), Git: g, Env: l.environ()})
	if err != nil {
		return err
	}
	for i := range n {
		key := fmt.Sprintf("bench-%d", i+1)
		ref := "refs/coppice/landing/" + key + "/1"
		p, err := w.Prepare(ctx, coppice.PrepareSpec{Key: key, Repo: repo, Branch: coppice.TaskBranch(key), Base: "main"})
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(p.Path, fmt.Sprintf("file-%d.txt", i%500)), fmt.Appendf(nil, "by %s\n", key), 0o644); err != nil {
			return err
		}
		head, _, err := w.Save(ctx, p.Path, "Work\n", coppice.Identity{}, nil)
		if err != nil {
			return err
		}
		m, err := w.Merge(ctx, coppice.MergeSpec{Repo: repo, Base: "main", Head: head, Strategy: coppice.StrategySquash, Message: "Do " + key + "\n", At: time.Unix(1700000000+int64(i), 0), Ref: ref})
		if err != nil {
			return err
		}
		moved, err := w.Move(ctx, coppice.MoveSpec{Repo: repo, Base: "main", Old: m.Base, New: m.Commit, Ref: ref})
		if err != nil || !moved.Moved {
			return fmt.Errorf("%s did not land: %+v, %w", key, moved, err)
		}
		if _, err := w.Remove(ctx, coppice.RemoveSpec{Key: key, Repo: repo, Branch: coppice.TaskBranch(key)}); err != nil {
			return err
		}
	}
	return nil
}
