package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/workspace/repo"
)

// try runs git and does not mind that it refuses.
func try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// TestLikeWithoutFiles does a task's work in a repository whose refs are not
// read from files, and gets the same.
func TestLikeWithoutFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write(t, b.root, ".git/reftable/note", "git reads its files anyway")
	m := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(b.candidate("app-1", "x.txt"), coppice.StrategySquash)))
	if got := must[coppice.MoveResult](t)(b.Move(b.ctx, b.moveSpec(m))); !got.Moved || read(t, b.root, "x.txt") == "" {
		t.Errorf("%+v", got)
	}
	path := b.prepare("app-1").Path
	write(t, path, "y.txt", "y")
	head, changed, err := b.Save(b.ctx, path, "left over", coppice.Identity{}, nil)
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	gone := must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-1")))
	if back := must[coppice.PrepareResult](t)(b.Restore(b.ctx, b.restoreSpec("app-1", gone))); gone.Head != head || back.Head != head {
		t.Errorf("%+v %+v", gone, back)
	}
}

func TestWorktreesLikeGit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.NoGitFiles = false
	add := func(name string, more ...string) string {
		path := filepath.Join(filepath.Dir(b.root), name)
		run(t, b.root, append([]string{"git", "worktree", "add", "-q", path}, more...)...)
		return path
	}
	add("one")
	gone := add("two")
	add("three", "--detach")
	r := must[repo.Repo](t)(b.Find(b.ctx, b.root))
	for _, spoil := range []func(){func() {}, func() { run(t, b.root, "git", "pack-refs", "--all") }, func() { _ = os.RemoveAll(gone) }} {
		spoil()
		plain := must[[]repo.Worktree](t)(b.Worktrees(b.ctx, r))
		var want []repo.Worktree
		for block := range strings.SplitSeq(run(t, b.root, "git", "worktree", "list", "--porcelain"), "\n\n") {
			var w repo.Worktree
			for line := range strings.Lines(block) {
				if p, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree "); ok {
					w.Path = p
				} else if ref, ok := strings.CutPrefix(strings.TrimSpace(line), "branch "); ok {
					w.Branch = ref
				}
			}
			if repo.Exists(w.Path) {
				w.Git = run(t, w.Path, "git", "rev-parse", "--absolute-git-dir")
			}
			want = append(want, w)
		}
		byPath := func(a, b repo.Worktree) int { return strings.Compare(a.Path, b.Path) }
		slices.SortFunc(plain, byPath)
		slices.SortFunc(want, byPath)
		if d := cmp.Diff(want, plain); d != "" {
			t.Error(d)
		}
	}
	run(t, b.root, "git", "config", "core.bare", "true") // git's files are not enough then
	byFiles := must[[]repo.Worktree](t)(b.Worktrees(b.ctx, r))
	b.NoGitFiles = true
	if d := cmp.Diff(must[[]repo.Worktree](t)(b.Worktrees(b.ctx, r)), byFiles); d != "" {
		t.Errorf("a bare repository: %s", d)
	}
}
