package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A worktree that was noted here is one to git, and one that was dropped is
// none, whatever stands beside it.
func TestNotedWorktreesAreGits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	common := filepath.Join(b.root, ".git")
	head := run(t, b.root, "git", "rev-parse", "HEAD")
	trees := filepath.Join(filepath.Dir(b.root), "trees")
	ours, twin := filepath.Join(trees, "one"), filepath.Join(trees, "more", "one")
	listed := func() string { return run(t, b.root, "git", "worktree", "list", "--porcelain") }
	theirs := filepath.Join(trees, "theirs")
	run(t, b.root, "git", "worktree", "add", "-q", "--no-checkout", "--detach", theirs, head)
	want := strings.NewReplacer(theirs, ours).Replace(listed())
	run(t, b.root, "git", "worktree", "remove", "--force", theirs)
	for _, path := range []string{ours, twin} {
		if err := notePlainly(common, path, head); err != nil {
			t.Fatal(err)
		}
		if err := notePlainly(common, path, head); err == nil {
			t.Error("it was noted twice")
		}
		if admin, err := adminDir(path); err != nil || admin != run(t, path, "git", "rev-parse", "--absolute-git-dir") {
			t.Errorf("git's directory is %s: %v", admin, err)
		}
	}
	if got := run(t, b.root, "git", "worktree", "prune", "--dry-run", "--verbose"); got != "" {
		t.Errorf("git would clear away %s", got)
	}
	run(t, ours, "git", "checkout", "-q", "-b", "work", "main")
	if read(t, ours, "a.txt") != "one\ntwo\nthree\n" || run(t, ours, "git", "status", "--porcelain") != "" {
		t.Error("the files are not there")
	}
	run(t, ours, "git", "checkout", "-q", "--detach")
	if err := dropPlainly(common, twin); err != nil || exists(twin) {
		t.Errorf("not dropped: %v", err)
	}
	if got := listed(); got != want {
		t.Errorf("git lists\n%s\nnot\n%s", got, want)
	}
	if err := dropPlainly(common, ours); err != nil || exists(ours) || exists(filepath.Join(common, "worktrees")) {
		t.Errorf("not dropped: %v", err)
	}
	run(t, b.root, "git", "fsck", "--strict", "--no-dangling")

	// What a crash left, or a setting decides, is git's.
	if err := notePlainly(common, ours, head); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(ours); err != nil {
		t.Fatal(err)
	}
	if err := notePlainly(common, ours, head); err == nil {
		t.Error("it was noted though git knows it")
	}
	run(t, b.root, "git", "worktree", "prune")
	write(t, common, "worktrees/one/commondir", "../..\n") // and no more
	if err := notePlainly(common, ours, head); err != nil || !strings.HasSuffix(run(t, ours, "git", "rev-parse", "--absolute-git-dir"), "/one") {
		t.Errorf("what a crash left is in the way: %v", err)
	}
	if err := dropPlainly(common, b.root); err == nil || !exists(b.root) {
		t.Error("the person's checkout was dropped")
	}
	run(t, b.root, "git", "config", "extensions.worktreeConfig", "true")
	if err := notePlainly(common, twin, head); err == nil || exists(twin) {
		t.Error("a worktree with settings of its own was noted")
	}
}

// As many idle worktrees are kept as are in use; what is left of a rush goes.
func TestReleaseKeepsWhatIsNeeded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.idle = 2
	r := must[repo](t)(b.find(b.ctx, b.root))
	keys := []string{"app-1", "app-2", "app-3", "app-4", "app-5", "app-6", "app-7", "app-8"}
	for _, k := range keys {
		b.prepare(k)
	}
	for i, want := range []int{1, 2, 3, 4, 3, 2, 2, 2} { // idle; 7, 6, 5, 4, 3, 2, 1, 0 are in use
		if _, err := b.Remove(b.ctx, b.removeSpec(keys[i])); err != nil {
			t.Fatal(err)
		}
		idle := 0
		list := must[[]slot](t)(b.slots(r))
		for _, s := range list {
			if s.State == slotIdle {
				idle++
			}
		}
		if idle != want || strings.Count(run(t, b.root, "git", "worktree", "list"), "\n") != len(list) {
			t.Errorf("after %s: %d idle of %d, want %d", keys[i], idle, len(list), want)
		}
	}
}
