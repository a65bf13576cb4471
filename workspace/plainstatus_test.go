package workspace

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestChangesAreGits changes a checkout at random: where its changes can be told
// without git, git tells the same ones.
func TestChangesAreGits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	keep := []string{"kept.json"}
	write(t, b.root, "kept.json", "[]")
	write(t, b.root, "d/e.txt", "deep")
	commit(t, b.root, "more")
	head := run(t, b.root, "git", "rev-parse", "HEAD")
	common := filepath.Join(b.root, ".git")
	tree := worktree{path: b.root, git: common}
	told := 0
	change := map[string]func(rt *rapid.T){
		"edit": func(rt *rapid.T) { write(t, b.root, "a.txt", rapid.StringMatching(`[a-z]{3}`).Draw(rt, "text")) },
		"kept": func(rt *rapid.T) {
			write(t, b.root, "kept.json", rapid.SampledFrom([]string{"[]", "[1]", "{}"}).Draw(rt, "kept"))
		},
		"same":    func(*rapid.T) { write(t, b.root, "d/e.txt", "deep") },
		"alike":   func(*rapid.T) { write(t, b.root, "d/e.txt", "peed") },
		"touched": func(*rapid.T) { _ = os.Chtimes(filepath.Join(b.root, "d/e.txt"), time.Unix(1, 0), time.Unix(1, 0)) },
		"mode":    func(*rapid.T) { _ = os.Chmod(filepath.Join(b.root, "a.txt"), 0o755) },
		"gone":    func(*rapid.T) { _ = os.Remove(filepath.Join(b.root, "a.txt")) },
		"link": func(*rapid.T) {
			_ = os.Remove(filepath.Join(b.root, "a.txt"))
			_ = os.Symlink("kept.json", filepath.Join(b.root, "a.txt"))
		},
		"new":     func(*rapid.T) { write(t, b.root, "new.txt", "untracked") },
		"staged":  func(*rapid.T) { run(t, b.root, "git", "add", "--all") },
		"refresh": func(*rapid.T) { _, _ = try(b.root, "status") },
	}
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range change {
			if !yield(name) {
				return
			}
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		run(t, b.root, "git", "reset", "-q", "--hard", head)
		run(t, b.root, "git", "clean", "-qfd")
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 3).Draw(rt, "changes") {
			change[name](rt)
		}
		got, err := keptChanges(common, tree, head, keep)
		if err != nil {
			return
		}
		told++
		var want []string
		for line := range strings.Lines(run(t, b.root, "git", "status", "--porcelain", "--untracked-files=no") + "\n") {
			if line = strings.TrimSpace(line); line != "" {
				want = append(want, strings.TrimPrefix(line, "M "))
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("told %q, git tells %q", got, want)
		}
	})
	if told == 0 {
		t.Error("nothing was ever told without git")
	}
	run(t, b.root, "git", "reset", "-q", "--hard", head)
	write(t, b.root, "kept.json", "[2]")
	if got, err := keptChanges(common, tree, head, keep); err != nil || !slices.Equal(got, keep) {
		t.Errorf("%q, %v", got, err)
	}
	for name, odd := range map[string]func(){
		"skipped":   func() { run(t, b.root, "git", "update-index", "--skip-worktree", "a.txt") },
		"assumed":   func() { run(t, b.root, "git", "update-index", "--assume-unchanged", "a.txt") },
		"elsewhere": func() { run(t, b.root, "git", "update-index", "--split-index") },
	} {
		odd()
		if got, err := keptChanges(common, tree, head, keep); err == nil {
			t.Errorf("%s: told %q", name, got)
		}
		run(t, b.root, "git", "update-index", "--no-skip-worktree", "--no-assume-unchanged", "a.txt")
		run(t, b.root, "git", "update-index", "--no-split-index")
	}
}

// A file that was changed in the moment in which it was staged looks as staged:
// it is read.
func TestChangedInTheSameMoment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	head := run(t, b.root, "git", "rev-parse", "HEAD")
	common := filepath.Join(b.root, ".git")
	index, file := filepath.Join(common, "index"), filepath.Join(b.root, "a.txt")
	was := must[[]byte](t)(os.ReadFile(file))
	write(t, b.root, "a.txt", strings.Repeat("x", len(was)))
	info := must[os.FileInfo](t)(os.Lstat(file))
	changeIndex(t, b.root, func(all []byte) []byte {
		at := bytes.Index(all, []byte("a.txt\x00")) - 62
		ctime := changedAt(info.Sys().(*syscall.Stat_t))
		for i, n := range []int64{ctime.Unix(), int64(ctime.Nanosecond()), info.ModTime().Unix(), int64(info.ModTime().Nanosecond())} {
			binary.BigEndian.PutUint32(all[at+4*i:], uint32(n))
		}
		body := all[:len(all)-sha1.Size]
		sum := sha1.Sum(body)
		return append(body, sum[:]...)
	})
	tree := worktree{path: b.root, git: common}
	for later, want := range map[time.Duration][]string{time.Second: nil, 0: {"a.txt"}} { // git would say the same
		moment := info.ModTime().Add(later)
		if err := os.Chtimes(index, moment, moment); err != nil {
			t.Fatal(err)
		}
		if got, err := keptChanges(common, tree, head, []string{"a.txt"}); err != nil || !slices.Equal(got, want) {
			t.Errorf("an index written %s after it: %q, %v, want %q", later, got, err, want)
		}
	}
}
