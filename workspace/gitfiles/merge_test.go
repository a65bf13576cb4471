package gitfiles

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// mergeFiles are files that get into each other's way as names.
var mergeFiles = []string{"a", "a.b", "a/x", "b", "d/a", "d/e/f", "d/e/g", "d.e", "z"}

// TestMergesAreGits makes random histories and merges them both ways.
func TestMergesAreGits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	native, left := 0, 0
	commitOf := func(rt *rapid.T, label string, parents ...string) string {
		for range rapid.IntRange(0, 3).Draw(rt, label+" changes") {
			name := rapid.SampledFrom(mergeFiles).Draw(rt, label)
			file := filepath.Join(b.root, name)
			what := rapid.SampledFrom([]string{"write", "write", "write", "write", "write", "run", "link", "drop"}).Draw(rt, label+" what")
			if what == "drop" {
				_ = os.RemoveAll(file)
				continue
			}
			if rapid.IntRange(0, 9).Draw(rt, "replace") == 0 { // a file becomes a directory, or the other way
				_ = os.RemoveAll(file)
				_ = os.Remove(filepath.Dir(file))
			}
			_ = os.MkdirAll(filepath.Dir(file), 0o755)
			text := strings.Repeat(name+"\n", 20) + fmt.Sprint(rapid.IntRange(0, 3).Draw(rt, "text")) + "\n"
			switch what {
			case "write":
				_ = os.WriteFile(file, []byte(text), 0o644)
				_ = os.Chmod(file, 0o644)
			case "run":
				_ = os.WriteFile(file, []byte(text), 0o755)
				_ = os.Chmod(file, 0o755)
			case "link":
				if os.Remove(file) == nil || !exists(file) {
					_ = os.Symlink(text[:5], file)
				}
			}
		}
		run(t, b.root, "git", "add", "--all")
		args := []string{"git", "-c", "user.name=A", "-c", "user.email=a@x", "commit-tree", "-m", label}
		for _, p := range parents {
			args = append(args, "-p", p)
		}
		return run(t, b.root, append(args, run(t, b.root, "git", "write-tree"))...)
	}
	goTo := func(commit string) { run(t, b.root, "git", "read-tree", "--reset", "-u", commit) }
	rapid.Check(t, func(rt *rapid.T) {
		for _, e := range must[[]os.DirEntry](t)(os.ReadDir(b.root)) {
			if e.Name() != ".git" {
				_ = os.RemoveAll(filepath.Join(b.root, e.Name()))
			}
		}
		root := commitOf(rt, "root")
		root = commitOf(rt, "base", root)
		tips := [2]string{root, root}
		for i, label := range []string{"ours", "theirs"} {
			goTo(root)
			for range rapid.IntRange(0, 3).Draw(rt, label+" commits") {
				parents := []string{tips[i]}
				if rapid.IntRange(0, 9).Draw(rt, "merge") == 0 && tips[i] != tips[0] {
					parents = append(parents, tips[0])
				}
				tips[i] = commitOf(rt, label, parents...)
			}
		}
		got, err := b.Merge(tips[0], tips[1])
		if err != nil {
			left++
			return
		}
		native++
		want, err := try(b.root, "merge-tree", "--write-tree", "--allow-unrelated-histories", tips[0], tips[1])
		if err != nil || want != got {
			rt.Fatalf("merged to %s, git to %s (%v)", got, want, err)
		}
	})
	t.Logf("%d merged without git, %d left to it", native, left)
	run(t, b.root, "git", "fsck", "--strict", "--no-dangling")
}

// What has to be weighed is git's.
func TestMergesLeftToGit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := run(t, b.root, "git", "rev-parse", "HEAD")
	side := func(change func()) string {
		run(t, b.root, "git", "checkout", "-q", "--detach", first)
		change()
		return commit(t, b.root, "side")
	}
	plain := side(func() { write(t, b.root, "new.txt", "new\n") })
	for name, c := range map[string]struct {
		ours, theirs string
		plain        bool
	}{
		"another file":  {plain, side(func() { write(t, b.root, "dir/b.txt", "changed\n") }), true},
		"nothing":       {plain, first, true},
		"forward":       {first, plain, true},
		"the same":      {plain, plain, true},
		"the same file": {side(func() { write(t, b.root, "a.txt", "0\ntwo\nthree\n") }), side(func() { write(t, b.root, "a.txt", "one\ntwo\n4\n") }), false},
		"a file gone":   {plain, side(func() { run(t, b.root, "git", "rm", "-q", "a.txt") }), false},
		"a file moved":  {side(func() { run(t, b.root, "git", "mv", "a.txt", "c.txt") }), plain, false},
		"a directory now": {plain, side(func() {
			run(t, b.root, "git", "rm", "-q", "a.txt")
			write(t, b.root, "a.txt/in", "in\n")
		}), false},
		"both added": {plain, side(func() { write(t, b.root, "new.txt", "other\n") }), false},
		"unrelated":  {plain, run(t, b.root, "git", "-c", "user.name=A", "-c", "user.email=a@x", "commit-tree", "-m", "x", first+"^{tree}"), false},
	} {
		if _, err := b.Merge(c.ours, c.theirs); (err == nil) != c.plain {
			t.Errorf("%s: %v", name, err)
		}
	}
	write(t, b.git, "info/grafts", "")
	if _, err := b.Merge(first, plain); err == nil {
		t.Error("histories with grafts are git's")
	}
}
