package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
)

// landedWork is a repository whose base has the landing of a task. It returns the
// move that takes it off.
func landedWork(t *testing.T) (*bundle, coppice.MoveSpec) {
	t.Helper()
	b := setup(t)
	head := b.candidate("app-1", "x.txt", "fresh/y.txt")
	m, err := b.Merge(b.ctx, b.mergeSpec(head, coppice.StrategySquash))
	if err != nil {
		t.Fatal(err)
	}
	spec := b.moveSpec(m)
	if res, err := b.Move(b.ctx, spec); err != nil || !res.Moved {
		t.Fatal(res, err)
	}
	spec.Old, spec.New, spec.Back = spec.New, spec.Old, true
	return b, spec
}

func (b *bundle) base() string { b.t.Helper(); return b.run("git", "rev-parse", "main") }

func TestMoveBack(t *testing.T) {
	t.Parallel()
	b, spec := landedWork(t)
	write(t, b.root, "mine.txt", "mine\n")
	for range 2 { // a repeated move reports the same
		res, err := b.Move(b.ctx, spec)
		if err != nil || !res.Moved || res.Now != spec.New {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	for _, gone := range []string{"x.txt", "fresh"} {
		if _, err := os.Stat(filepath.Join(b.root, gone)); err == nil {
			t.Errorf("%s is still in the checkout", gone)
		}
	}
	if at, status := b.base(), b.run("git", "status", "--porcelain"); at != spec.New || status != "?? mine.txt" {
		t.Errorf("the base is at %s, the status is %q", at, status)
	}
	if log := b.run("git", "log", "-1", "-g", "--format=%gs", "main"); log != "coppice: revert" {
		t.Errorf("git's log says %q", log)
	}
	if why, err := b.BaseMoved(b.ctx, b.root, "main", spec.Old, spec.New, nil); why != "" || err != nil {
		t.Errorf("the move is suspect: %q, %v", why, err)
	}
	b.sh(b.root, "git commit -q --allow-empty -m later")
	if res, err := b.Move(b.ctx, spec); err != nil || !res.Moved {
		t.Errorf("after a commit on top: %+v, %v", res, err)
	}
}

// Nothing moves back that something else has, and nothing of the person's is
// overwritten.
func TestMoveBackIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		also   func(*bundle)
		builds string // what builds on it
		blocks string // the file in the way
	}{
		"a branch":        {script: "git branch topic", builds: "topic"},
		"a commit on one": {script: "git checkout -q -b topic; git commit -q --allow-empty -m x; git checkout -q main", builds: "topic"},
		"a tag":           {script: "git tag v1", builds: "v1"},
		"a remote":        {script: "git update-ref refs/remotes/origin/main main", builds: "origin/main"},
		"a workspace":     {also: func(b *bundle) { b.prepare("app-2") }, builds: coppice.TaskBranch("app-2")},
		"a trash": {also: func(b *bundle) {
			res := b.prepare("app-2")
			write(b.t, res.Path, "more.txt", "more")
			b.saved(res.Path)
			if _, err := b.Remove(b.ctx, coppice.RemoveSpec{Key: "app-2", Repo: b.root, Path: res.Path, Branch: coppice.TaskBranch("app-2")}); err != nil {
				b.t.Fatal(err)
			}
		}, builds: "app-2"},
		"a file of the person's":   {script: "echo mine > x.txt", blocks: "x.txt"},
		"a commit of the person's": {script: "git commit -q --allow-empty -m x"},
		"a base that is elsewhere": {script: "git reset -q --hard HEAD~1; git commit -q --amend -m other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, spec := landedWork(t)
			if c.script != "" {
				b.sh(b.root, c.script)
			}
			if c.also != nil {
				c.also(b)
			}
			at := b.base()
			res, err := b.Move(b.ctx, spec)
			if err != nil || res.Moved || b.base() != at || res.Now != at {
				t.Fatalf("%+v, %v; the base is at %s", res, err, b.base())
			}
			if c.builds != "" && !strings.Contains(res.Builds, c.builds) || c.builds == "" && res.Builds != "" {
				t.Errorf("%q builds on it", res.Builds)
			}
			if c.blocks != "" && (res.Need == nil || !strings.Contains(res.Blocked, c.blocks)) || c.blocks == "" && res.Blocked != "" {
				t.Errorf("blocked by %q", res.Blocked)
			}
		})
	}
}

// A landing is reverted on top of later commits, and what they did stays.
func TestMergeReverts(t *testing.T) {
	t.Parallel()
	revert := func(b *bundle, back coppice.MoveSpec) coppice.MergeSpec {
		spec := b.mergeSpec(back.Old, coppice.StrategySquash)
		spec.Reverts, spec.Message, spec.Ref = back.New, "Revert it\n", "refs/coppice/land/app-1-revert"
		return spec
	}
	t.Run("clean", func(t *testing.T) {
		t.Parallel()
		b, back := landedWork(t)
		b.sh(b.root, "echo later > later.txt; git add later.txt; git commit -qm later")
		m, err := b.Merge(b.ctx, revert(b, back))
		if err != nil || m.Commit == "" || len(m.Conflicts) > 0 || m.Base != b.base() {
			t.Fatalf("%+v, %v", m, err)
		}
		again, err := b.Merge(b.ctx, revert(b, back))
		if err != nil || again.Commit != m.Commit {
			t.Errorf("repeated: %+v, %v", again, err)
		}
		if res, err := b.Move(b.ctx, b.moveSpec(m)); err != nil || !res.Moved {
			t.Fatal(res, err)
		}
		if files := b.run("git", "ls-tree", "-r", "--name-only", "main"); strings.Contains(files, "x.txt") || strings.Contains(files, "y.txt") || !strings.Contains(files, "later.txt") {
			t.Errorf("the base has %q", files)
		}
		if m, err := b.Merge(b.ctx, revert(b, back)); err != nil || !m.Empty {
			t.Errorf("reverted twice: %+v, %v", m, err)
		}
	})
	t.Run("conflict", func(t *testing.T) {
		t.Parallel()
		b, back := landedWork(t)
		b.sh(b.root, "echo later >> x.txt; git add x.txt; git commit -qm later")
		if m, err := b.Merge(b.ctx, revert(b, back)); err != nil || len(m.Conflicts) != 1 || m.Conflicts[0].Path != "x.txt" {
			t.Errorf("%+v, %v", m, err)
		}
	})
	t.Run("not on the base", func(t *testing.T) {
		t.Parallel()
		b, back := landedWork(t)
		b.sh(b.root, "git reset -q --hard HEAD~1; git commit -q --allow-empty -m other")
		if m, err := b.Merge(b.ctx, revert(b, back)); err != nil || !m.Empty || m.Tree == "" {
			t.Errorf("%+v, %v", m, err)
		}
	})
}

// After a crash, a move back that did not happen is undone, although the commits
// below it are part of the branch.
func TestInterruptedMoveBackIsUndone(t *testing.T) {
	t.Parallel()
	b, spec := landedWork(t)
	b.Step = func(at string) error {
		if at == "placed" {
			return os.ErrDeadlineExceeded
		}
		return nil
	}
	if _, err := b.Move(b.ctx, spec); err == nil {
		t.Fatal("the move was not interrupted")
	}
	b.Step = func(string) error { return nil }
	b.sh(b.root, "git update-ref -m commit refs/heads/main $(git commit-tree HEAD^{tree} -p HEAD -m later)")
	if res, err := b.Move(b.ctx, spec); err != nil || res.Moved {
		t.Fatalf("%+v, %v", res, err)
	}
	if status := b.run("git", "status", "--porcelain"); status != "" {
		t.Errorf("the status is %q", status)
	}
}
