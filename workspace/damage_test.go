package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/workspace/repo"
)

// damages are what agents do to their workspaces. Each is done in a workspace with
// a commit and an uncommitted file.
var damages = map[string]struct {
	do   func(t *testing.T, path string)
	says string // part of what the agent is shown; empty if the work can be saved anyway
}{
	"a repository without a commit inside": {func(t *testing.T, p string) { run(t, p, "git", "init", "-q", "vendor/lib") }, "vendor/lib"},
	"a repository with commits inside": {func(t *testing.T, p string) {
		run(t, p, "git", "init", "-q", "vendor/lib")
		write(t, p, "vendor/lib/x", "x")
		commit(t, filepath.Join(p, "vendor/lib"), "x")
	}, "vendor/lib"},
	"a directory .GIT":           {func(t *testing.T, p string) { write(t, p, "sub/.GIT/config", "x") }, ".GIT"},
	"the index is garbage":       {func(t *testing.T, p string) { write(t, p, ".git/index", "garbage") }, "index"},
	"the index is empty":         {func(t *testing.T, p string) { write(t, p, ".git/index", "") }, "index"},
	"the index is a directory":   {func(t *testing.T, p string) { remove(t, p, ".git/index"); write(t, p, ".git/index/x", "") }, "index"},
	"the index is cut":           {func(t *testing.T, p string) { cutFile(t, filepath.Join(p, ".git/index")) }, "index"},
	".git is deleted":            {func(t *testing.T, p string) { remove(t, p, ".git") }, "deleted"},
	".git leads elsewhere":       {func(t *testing.T, p string) { remove(t, p, ".git"); write(t, p, ".git", "gitdir: /nowhere\n") }, "replaced"},
	".git is a link":             {func(t *testing.T, p string) { remove(t, p, ".git"); link2(t, "/nowhere", filepath.Join(p, ".git")) }, "replaced"},
	".git is emptied":            {func(t *testing.T, p string) { remove(t, p, ".git"); mkdir(t, filepath.Join(p, ".git")) }, ".git/objects"},
	"the workspace is deleted":   {func(t *testing.T, p string) { remove(t, p, "") }, "deleted"},
	"the workspace is a file":    {func(t *testing.T, p string) { remove(t, p, ""); write(t, filepath.Dir(p), filepath.Base(p), "") }, "replaced"},
	"the config is broken":       {func(t *testing.T, p string) { write(t, p, ".git/config", "[broken\n") }, "config"},
	"the config is deleted":      {func(t *testing.T, p string) { remove(t, p, ".git/config") }, "config"},
	"it is bare":                 {func(t *testing.T, p string) { run(t, p, "git", "config", "core.bare", "true") }, "core.bare"},
	"its work tree is elsewhere": {func(t *testing.T, p string) { run(t, p, "git", "config", "core.worktree", "/nowhere") }, "core.worktree"},
	"an unknown extension": {func(t *testing.T, p string) {
		appendTo(t, p, ".git/config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tfoo = 1\n")
	}, "repositoryformatversion"},
	"the objects are deleted":   {func(t *testing.T, p string) { remove(t, p, ".git/objects") }, ".git/objects"},
	"the refs are deleted":      {func(t *testing.T, p string) { remove(t, p, ".git/refs") }, ".git/refs"},
	"alternates are deleted":    {func(t *testing.T, p string) { remove(t, p, ".git/objects/info/alternates") }, "alternates"},
	"it has a common directory": {func(t *testing.T, p string) { write(t, p, ".git/commondir", "/nowhere\n") }, "commondir"},
	"a missing blob": {func(t *testing.T, p string) {
		run(t, p, "git", "update-index", "--add", "--cacheinfo", "100644,1111111111111111111111111111111111111111,zmissing")
		run(t, p, "git", "update-index", "--skip-worktree", "zmissing")
	}, "1111111111"},
	"a rebase in progress": {func(t *testing.T, p string) { mkdir(t, filepath.Join(p, ".git/rebase-merge")) }, "rebase"},
	// These are safe: what is saved is complete.
	"a split index": {func(t *testing.T, p string) { run(t, p, "git", "update-index", "--split-index") }, ""},
	"a sparse index": {func(t *testing.T, p string) {
		run(t, p, "git", "sparse-checkout", "init", "--sparse-index")
		run(t, p, "git", "sparse-checkout", "disable")
	}, ""},
	"index version 4": {func(t *testing.T, p string) { run(t, p, "git", "update-index", "--index-version=4") }, ""},
	"locks are left": {func(t *testing.T, p string) {
		write(t, p, ".git/index.lock", "")
		write(t, p, ".git/refs/heads/coppice/app-1.lock", "")
	}, ""},
	"its objects are packed": {func(t *testing.T, p string) { run(t, p, "git", "gc", "-q", "--prune=now") }, ""},
	"a filter is set": {func(t *testing.T, p string) {
		run(t, p, "git", "config", "filter.x.clean", "false")
		write(t, p, ".git/info/attributes", "* filter=x\n")
	}, ""},
	"a hook is set": {func(t *testing.T, p string) {
		write(t, p, ".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
		run(t, p, "chmod", "+x", ".git/hooks/pre-commit")
	}, ""},
	"all other refs are gone":  {func(t *testing.T, p string) { remove(t, p, ".git/packed-refs") }, ""},
	"HEAD is detached":         {func(t *testing.T, p string) { run(t, p, "git", "checkout", "-q", "--detach") }, ""},
	"another branch is made":   {func(t *testing.T, p string) { run(t, p, "git", "checkout", "-q", "-b", "mine") }, ""},
	"the base is moved":        {func(t *testing.T, p string) { run(t, p, "git", "update-ref", "refs/heads/main", "HEAD") }, ""},
	"a damaged object is made": {func(t *testing.T, p string) { write(t, p, ".git/objects/aa/"+strings.Repeat("b", 38), "garbage") }, ""},
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func link2(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Fatal(err)
	}
}

func cutFile(t *testing.T, file string) {
	t.Helper()
	st, err := os.Stat(file)
	if err == nil {
		err = os.Truncate(file, st.Size()/2)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func appendTo(t *testing.T, dir, name, text string) {
	t.Helper()
	write(t, dir, name, read(t, dir, name)+text)
}

// TestDamage has an agent that damages its workspace. The failure names the damage
// and is the agent's; the next session finds a workspace that works, with what
// could be saved; another task in the same repository, and the next one in the
// same slot, notice nothing.
func TestDamage(t *testing.T) {
	t.Parallel()
	for name, c := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			saved := b.candidate("app-1", "saved.txt")
			path := b.prepare("app-1").Path
			other := b.prepare("app-2").Path
			write(t, path, "done.txt", "committed\n")
			commit(t, path, "work")
			write(t, path, "left.txt", "uncommitted\n")
			c.do(t, path)
			head, _, err := b.Save(b.ctx, path, "left over", coppice.Identity{}, nil)
			var fail *coppice.Failure
			if c.says == "" {
				if err != nil {
					t.Fatalf("it could not be saved: %v", err)
				}
			} else if !errors.As(err, &fail) || fail.Class != coppice.ClassImplementation || !strings.Contains(fail.Text, c.says) || fail.Fix == "" {
				t.Fatalf("the failure is %v", err)
			}
			if onTop, err := b.IsAncestor(b.ctx, must[repo.Repo](t)(b.Use(b.ctx, b.root)), saved, head); err != nil || !onTop {
				t.Fatalf("the head %s does not have what was saved: %v", head, err)
			}
			if c.says == "" {
				if files := run(t, b.own(), "git", "ls-tree", "-r", "--name-only", head); !strings.Contains(files, "left.txt") || !strings.Contains(files, "done.txt") {
					t.Errorf("saved %s", files)
				}
			}
			// The next session starts at the branch's head, in a workspace in
			// which git works, once it has followed the advice.
			again := b.prepare("app-1")
			if again.Path != path {
				t.Errorf("prepared %+v", again)
			}
			for _, leftover := range []string{"vendor", "sub", ".git/rebase-merge"} {
				remove(t, path, leftover)
			}
			run(t, path, "git", "reset", "-q", "--hard")
			write(t, path, "fixed.txt", "after the damage\n")
			fixed, changed, err := b.Save(b.ctx, path, "fixed", coppice.Identity{}, nil)
			if err != nil || !changed {
				t.Fatalf("after the damage: %v, %v", changed, err)
			}
			// Both tasks land, and the next task in each slot finds it as new.
			write(t, other, "other.txt", "innocent\n")
			for key, head := range map[string]string{"app-1": fixed, "app-2": b.saved(other)} {
				spec := b.mergeSpec(head, coppice.StrategySquash)
				spec.Ref = landingRefs + key + "/1"
				m := must[coppice.MergeResult](t)(b.Merge(b.ctx, spec))
				move := b.moveSpec(m)
				move.Ref = spec.Ref
				if got := must[coppice.MoveResult](t)(b.Move(b.ctx, move)); !got.Moved {
					t.Fatalf("%s: %+v", key, got)
				}
				must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec(key)))
			}
			for _, key := range []string{"app-3", "app-4"} {
				next := b.prepare(key)
				if s := run(t, next.Path, "git", "status", "--porcelain", "--ignored"); s != "" {
					t.Errorf("inherited: %s", s)
				}
				write(t, next.Path, key+".txt", "next\n")
				if _, _, err := b.Save(b.ctx, next.Path, "next", coppice.Identity{}, nil); err != nil {
					t.Errorf("the next task in the slot: %v", err)
				}
			}
			run(t, b.root, "git", "fsck", "--strict", "--no-dangling")
		})
	}
}
