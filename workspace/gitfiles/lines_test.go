package gitfiles

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// numstat returns counts as git prints them.
func numstat(list []LineCount) string {
	var b strings.Builder
	for _, n := range list {
		if n.Binary {
			fmt.Fprintf(&b, "-\t-\t%s\x00", n.Path)
			continue
		}
		fmt.Fprintf(&b, "%d\t%d\t%s\x00", n.Added, n.Removed, n.Path)
	}
	return b.String()
}

// TestCountLinesIsGits compares counts for random texts with git's.
func TestCountLinesIsGits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	line := rapid.SampledFrom([]string{"\n", "}\n", "a\n", "b\n", "c\n", "d\n", "e\n", "f\n", "g\n", "h\n", "last", "\x00"})
	text := rapid.Custom(func(rt *rapid.T) string { return strings.Join(rapid.SliceOfN(line, 0, 30).Draw(rt, "lines"), "") })
	counted := 0
	rapid.Check(t, func(rt *rapid.T) {
		var ids [2]string
		for i := range ids {
			write(t, b.root, "a.txt", text.Draw(rt, "a"))
			write(t, b.root, "long.txt", strings.Repeat("one\ntwo\n", 10)+text.Draw(rt, "long")+strings.Repeat("three\n", 10))
			ids[i] = commit(t, b.root, "more")
		}
		got, err := b.Checkout(b.root, b.git).CountLines(ids[0], ids[1])
		if err != nil {
			return
		}
		counted++
		if want := raw(t, b.root, "diff", "--numstat", "-z", ids[0], ids[1]); numstat(got) != want {
			rt.Fatalf("counted %q, git %q", numstat(got), want)
		}
	})
	if counted == 0 {
		t.Error("nothing was ever counted without git")
	}
}

func TestCountLines(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := run(t, b.root, "git", "rev-parse", "HEAD")
	write(t, b.root, "a.txt", "zero\none\n2\nthree")
	write(t, b.root, "new/binary", "\x00")
	write(t, b.root, "new/text", "x")
	link(t, b.root, "a.txt", "new/link")
	if err := os.Chmod(filepath.Join(b.root, "dir/b.txt"), 0o755); err != nil {
		t.Fatal(err)
	}
	second := commit(t, b.root, "more")
	tree := b.Checkout(b.root, b.git)
	got, err := tree.CountLines(first, second)
	if want := raw(t, b.root, "diff", "--numstat", "-z", first, second); err != nil || numstat(got) != want {
		t.Errorf("counted %q, git %q: %v", numstat(got), want, err)
	}
	for name, odd := range map[string]func(){
		"large":      func() { write(t, b.root, "a.txt", strings.Repeat("x\n", maxCountedBytes)) },
		"attributes": func() { write(t, b.root, "new/.gitattributes", "* -diff\n") },
		"renamed":    func() { _ = os.Rename(filepath.Join(b.root, "a.txt"), filepath.Join(b.root, "b.txt")) },
		"to a link": func() {
			_ = os.Remove(filepath.Join(b.root, "a.txt"))
			link(t, b.root, "dir", "a.txt")
		},
		"other": func() {
			write(t, b.root, "a.txt", fmt.Sprint(strings.Repeat("x\ny\n", 200)))
			second = commit(t, b.root, "long")
			write(t, b.root, "a.txt", strings.Repeat("y\nx\nx\n", 200))
		},
	} {
		run(t, b.root, "git", "reset", "-q", "--hard", second)
		odd()
		third := commit(t, b.root, "odd")
		if got, err := tree.CountLines(second, third); !errors.Is(err, ErrUseGit) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
