package workspace

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/internal/filelock"
	"coppice/workspace/repo"
)

// checkEnv changes when checks are run in another way, so that earlier results no
// longer count.
const checkEnv = "coppice-check-1"

// Check runs the commands on a tree, in order, in a worktree for checks. The
// worktree has nothing that an earlier check left, ignored files included; caches
// outside of it make up for that. Between commands Check restores the tracked
// files, so that no command sees changes of another. A command that was killed,
// also one of workspace.setup, is reported as killed. The caller decides what
// follows. If a command fails, the result has the tree of the base.
func (w *Workspaces) Check(ctx context.Context, spec coppice.CheckSpec) (coppice.CheckResult, error) {
	base := cmp.Or(spec.Base, spec.Commit)
	if err := cmp.Or(coppice.ValidHash(spec.Commit), coppice.ValidHash(spec.Tree), coppice.ValidHash(base), validPolicy(spec.Policy)); err != nil {
		return coppice.CheckResult{}, err
	}
	return repo.In(ctx, w.Repos, spec.Repo, func(r repo.Repo) (coppice.CheckResult, error) { return w.check(ctx, r, spec) })
}

func (w *Workspaces) check(ctx context.Context, r repo.Repo, spec coppice.CheckSpec) (coppice.CheckResult, error) {
	var res coppice.CheckResult
	s, unlock, err := w.checkWorktree(ctx, r)
	if err != nil {
		return res, err
	}
	defer unlock()
	path := s.path(r)
	if err := w.vacate(ctx, r, s, spec.Commit); err != nil {
		return res, err
	}
	tree, err := w.treeOf(ctx, path, spec.Commit)
	if err != nil {
		return res, err
	}
	if tree != spec.Tree {
		return res, coppice.Errorf(coppice.EInvalid, "the commit %.12s has the tree %.12s, not %.12s", spec.Commit, tree, spec.Tree)
	}
	if err := w.submodules(ctx, r, path); err != nil {
		return res, err
	}
	if _, err := w.provide(ctx, r, path, spec.Policy); err != nil {
		return res, err
	}
	ports, err := w.ports.Give(ctx, portOwner(r, s.Name), spec.Policy.Ports)
	if err != nil {
		return res, err
	}
	env := Env("", path, "", ports)
	if res.Env, err = w.fingerprint(ctx, r, spec.Policy); err != nil {
		return res, err
	}
	began := w.Now()
	err = w.setup(ctx, r, path, spec.Policy, env)
	if err == nil && len(spec.Policy.Setup) == 0 { // otherwise setup has checked it
		err = w.reachable(ctx, r, path, spec.Policy, env)
	}
	var killed *killedError
	if errors.As(err, &killed) {
		// No command has checked the tree. The caller gets what was killed.
		res.Checks = append(res.Checks, w.checkOf(spec, res.Env, killed.command, killed.ran, began))
		return res, nil
	}
	if err != nil {
		return res, err
	}
	for i, c := range spec.Commands {
		if i > 0 {
			if _, err := w.Git.Run(ctx, path, "checkout", "--force", "--quiet", "--detach", spec.Commit, "--"); err != nil {
				return res, err
			}
		}
		began := w.Now()
		e, err := runShell(observe(ctx, c, false), path, w.CommandEnv(spec.Policy.PassEnv, env), Command(spec.Policy, c), spec.Timeout.D())
		if err != nil {
			return res, err
		}
		res.Checks = append(res.Checks, w.checkOf(spec, res.Env, c, e, began))
	}
	if spec.Base != "" && slices.ContainsFunc(res.Checks, func(c coppice.Check) bool { return !c.Passed() }) {
		res.BaseTree, err = w.treeOf(ctx, path, spec.Base)
	}
	return res, err
}

// treeOf returns the tree of a commit.
func (w *Workspaces) treeOf(ctx context.Context, path, commit string) (string, error) {
	if tree, known := w.MergedTree(commit); known {
		return tree, nil
	}
	return w.Git.Run(ctx, path, "rev-parse", "--verify", commit+"^{tree}")
}

// checkOf returns the result of a command that has just ended.
func (w *Workspaces) checkOf(spec coppice.CheckSpec, env, command string, e ran, began time.Time) coppice.Check {
	now := w.Now()
	return coppice.Check{
		Tree: spec.Tree, Command: command, Env: env, Exit: e.exit, Signal: e.signal, TimedOut: e.late, Log: e.log,
		Took: max(now.Sub(began), 0), StartedAt: began.UTC().Round(time.Microsecond), EndedAt: now.UTC().Round(time.Microsecond),
	}
}

// checkWorktree returns a worktree for checks that nobody uses, or creates one. A
// lock marks it as in use, and a crash releases the lock.
func (w *Workspaces) checkWorktree(ctx context.Context, r repo.Repo) (slot, func(), error) {
	unlock, err := w.Locks.Wait(ctx, r.LockFile())
	if err != nil {
		return slot{}, nil, err
	}
	defer unlock()
	list, err := w.slots(r)
	if err != nil {
		return slot{}, nil, err
	}
	taken := map[string]bool{}
	for _, s := range list {
		taken[s.Name] = true
	}
	for _, s := range list {
		if !strings.HasPrefix(s.Name, checkPrefix) {
			continue
		}
		free, err := w.Locks.Try(s.slotLock(r))
		if err == nil {
			return s, free, nil
		}
		if !errors.Is(err, filelock.ErrHeld) {
			return slot{}, nil, err
		}
	}
	s := slot{Name: freeName(checkPrefix, taken), State: slotReady, Key: ""}
	if err := w.writeSlot(r, s); err != nil {
		return slot{}, nil, err
	}
	free, err := w.Locks.Try(s.slotLock(r))
	if err != nil {
		return slot{}, nil, fmt.Errorf("locking the new worktree %s: %w", s.Name, err)
	}
	return s, free, nil
}

// fingerprint identifies an environment in which the same tree can give other
// results: the platform, and the files in the worktree besides the tree.
func (w *Workspaces) fingerprint(ctx context.Context, r repo.Repo, p coppice.WorkspacePolicy) (string, error) {
	h := sha256.New()
	put := func(s string) { fmt.Fprintf(h, "%d:%s", len(s), s) }
	for _, s := range []string{checkEnv, runtime.GOOS, runtime.GOARCH} {
		put(s)
	}
	put("setup")
	for _, c := range p.Setup {
		put(c)
	}
	put("link")
	for _, l := range slices.Sorted(slices.Values(p.Link)) {
		put(l)
	}
	if len(p.PassEnv) > 0 { // the names only: values do not leave the machine's memory
		put("pass_env")
		for _, name := range slices.Sorted(slices.Values(p.PassEnv)) {
			put(name)
		}
	}
	if d := p.Docker; d.Set() {
		for _, s := range []string{"docker", d.Service, d.Dir, d.File} {
			put(s)
		}
	}
	put("copy")
	files, err := w.copies(ctx, r, p)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(r.Root)
	if err != nil {
		return "", err
	}
	defer root.Close()
	for _, f := range files {
		put(f)
		if target, err := root.Readlink(f); err == nil {
			put("-> " + target)
			continue
		}
		in, err := root.Open(f)
		if err != nil {
			return "", err
		}
		sum := sha256.New()
		_, err = io.Copy(sum, in)
		in.Close()
		if err != nil {
			return "", err
		}
		put(hex.EncodeToString(sum.Sum(nil)))
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}
