//go:build linux

package gitfiles

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestCleanIsGits leaves files behind at random: what is not tracked goes as with
// git clean, and a checkout is clean only where git finds nothing.
func TestCleanIsGits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write(t, b.root, ".gitignore", "*.log\nbuild/\n")
	write(t, b.root, "d/e.txt", "deep")
	write(t, b.root, "d/f/g.txt", "deeper")
	commit(t, b.root, "more")
	head := run(t, b.root, "git", "rev-parse", "HEAD")
	tree := b.Checkout(b.root, b.git)
	leave := map[string]func(){
		"untracked": func() { write(t, b.root, "new.txt", "n") },
		"ignored":   func() { write(t, b.root, "d/x.log", "n") },
		"directory": func() { write(t, b.root, "build/out/x", "n") },
		"empty":     func() { _ = os.MkdirAll(filepath.Join(b.root, "d/f/none/at/all"), 0o755) },
		"below":     func() { write(t, b.root, "d/f/h/i.txt", "n") },
		"dots":      func() { write(t, b.root, "d/.hidden", "n") },
		"link":      func() { _ = os.Symlink("/", filepath.Join(b.root, "d/root")) },
		"dangling":  func() { _ = os.Symlink("nowhere", filepath.Join(b.root, "d/f/none.txt")) },
		"nested":    func() { run(t, b.root, "git", "init", "-q", "other") },
		"changed":   func() { write(t, b.root, "d/e.txt", "peed") },
		"touched":   func() { write(t, b.root, "d/e.txt", "deep") },
		"gone":      func() { _ = os.Remove(filepath.Join(b.root, "d/f/g.txt")) },
		"staged":    func() { write(t, b.root, "staged.txt", "s"); run(t, b.root, "git", "add", "staged.txt") },
		"unstaged":  func() { run(t, b.root, "git", "rm", "-q", "--cached", "--ignore-unmatch", "a.txt") },
	}
	names := slices.Sorted(maps.Keys(leave))
	found := 0
	rapid.Check(t, func(rt *rapid.T) {
		run(t, b.root, "git", "reset", "-q", "--hard", head)
		run(t, b.root, "git", "clean", "-ffdxq")
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 3).Draw(rt, "left") {
			leave[name]()
		}
		differs := run(t, b.root, "git", "status", "--porcelain", "--untracked-files=all", "--ignored") != "" || exists(filepath.Join(b.root, "d/f/none/at/all"))
		if got := tree.IsClean(head); got {
			found++
			if differs {
				rt.Fatal("it is clean, and git finds something")
			}
		}
		want := strings.Fields(run(t, b.root, "git", "ls-files"))
		want = slices.DeleteFunc(want, func(f string) bool { return !exists(filepath.Join(b.root, f)) })
		if err := tree.Clean(); err != nil {
			rt.Fatal(err)
		}
		if got := strings.Fields(run(t, b.root, "find", ".", "-path", "./.git", "-prune", "-o", "(", "-not", "-type", "d", ")", "-printf", "%P\n")); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			rt.Fatalf("left are %q, want %q", got, want)
		}
		if out := run(t, b.root, "git", "clean", "-ffdxn"); out != "" {
			rt.Fatalf("git would remove more: %s", out)
		}
	})
	if found == 0 {
		t.Error("nothing was ever clean")
	}
}

// What cannot be judged without git is left to it.
func TestCleanLeftToGit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	head := run(t, b.root, "git", "rev-parse", "HEAD")
	tree := b.Checkout(b.root, b.git)
	if !tree.IsClean(head) {
		t.Fatal("it is not clean")
	}
	run(t, b.root, "git", "update-index", "--add", "--cacheinfo", "160000,"+head+",module")
	if err := tree.Clean(); err == nil {
		t.Error("a submodule was judged")
	}
	run(t, b.root, "git", "reset", "-q", "--hard")
	run(t, b.root, "git", "update-index", "--assume-unchanged", "a.txt")
	if tree.IsClean(head) {
		t.Error("what git is not to look at was judged")
	}
}
