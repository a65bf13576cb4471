package gitfiles

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestDirtyIsGits changes a checkout at random: where its changes can be found
// without git, git finds the same ones.
func TestDirtyIsGits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write(t, b.root, "kept.json", "[]")
	write(t, b.root, "d/e.txt", "deep")
	commit(t, b.root, "more")
	head := run(t, b.root, "git", "rev-parse", "HEAD")
	tree := b.Checkout(b.root, b.git)
	var all []Change // as if a move changed every file
	for line := range strings.Lines(run(t, b.root, "git", "ls-tree", "-r", head) + "\n") {
		f := strings.Fields(line)
		all = append(all, Change{Path: f[3], OldMode: f[0], Old: f[2]})
	}
	found, moment := 0, int64(0)
	change := map[string]func(rt *rapid.T){
		"edit": func(rt *rapid.T) { write(t, b.root, "a.txt", rapid.StringMatching(`[a-z]{3}`).Draw(rt, "text")) },
		"kept": func(rt *rapid.T) {
			write(t, b.root, "kept.json", rapid.SampledFrom([]string{"[]", "[1]", "{}"}).Draw(rt, "kept"))
		},
		"same":  func(*rapid.T) { write(t, b.root, "d/e.txt", "deep") },
		"alike": func(*rapid.T) { write(t, b.root, "d/e.txt", "peed") },
		"touched": func(*rapid.T) {
			moment++ // git compares whole seconds: it would take two files of one size and one old time for the same
			_ = os.Chtimes(filepath.Join(b.root, "d/e.txt"), time.Unix(moment, 0), time.Unix(moment, 0))
		},
		"mode": func(*rapid.T) { _ = os.Chmod(filepath.Join(b.root, "a.txt"), 0o755) },
		"gone": func(*rapid.T) { _ = os.Remove(filepath.Join(b.root, "a.txt")) },
		"link": func(*rapid.T) {
			_ = os.Remove(filepath.Join(b.root, "a.txt"))
			_ = os.Symlink("kept.json", filepath.Join(b.root, "a.txt"))
		},
		"staged":  func(*rapid.T) { run(t, b.root, "git", "add", "--all") },
		"refresh": func(*rapid.T) { _, _ = try(b.root, "status") },
	}
	names := slices.Sorted(maps.Keys(change))
	rapid.Check(t, func(rt *rapid.T) {
		run(t, b.root, "git", "reset", "-q", "--hard", head)
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 3).Draw(rt, "changes") {
			change[name](rt)
		}
		dirty, err := tree.Dirty(all)
		if err != nil {
			return
		}
		found++
		var got, want []string
		for _, c := range all {
			if dirty[c.Path] {
				got = append(got, c.Path)
			}
		}
		for line := range strings.Lines(run(t, b.root, "git", "status", "--porcelain", "--untracked-files=no") + "\n") {
			if f := strings.Fields(line); len(f) == 2 {
				want = append(want, f[1])
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("found %q, git finds %q", got, want)
		}
	})
	if found == 0 {
		t.Error("nothing was ever found without git")
	}
	run(t, b.root, "git", "reset", "-q", "--hard", head)
	for name, odd := range map[string]func(){
		"skipped":   func() { run(t, b.root, "git", "update-index", "--skip-worktree", "a.txt") },
		"assumed":   func() { run(t, b.root, "git", "update-index", "--assume-unchanged", "a.txt") },
		"elsewhere": func() { run(t, b.root, "git", "update-index", "--split-index") },
	} {
		odd()
		if got, err := tree.Dirty(all); err == nil {
			t.Errorf("%s: found %v", name, got)
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
	index, file := filepath.Join(b.git, "index"), filepath.Join(b.root, "a.txt")
	was := must[[]byte](t)(os.ReadFile(file))
	write(t, b.root, "a.txt", strings.Repeat("x", len(was)))
	info := must[os.FileInfo](t)(os.Lstat(file))
	changeIndex(t, b.root, func(all []byte) []byte {
		at := bytes.Index(all, []byte("a.txt\x00")) - 62
		ctime := changeTime(info.Sys().(*syscall.Stat_t))
		for i, n := range []int64{ctime.Unix(), int64(ctime.Nanosecond()), info.ModTime().Unix(), int64(info.ModTime().Nanosecond())} {
			binary.BigEndian.PutUint32(all[at+4*i:], uint32(n))
		}
		body := all[:len(all)-sha1.Size]
		sum := sha1.Sum(body)
		return append(body, sum[:]...)
	})
	tree := b.Checkout(b.root, b.git)
	id := run(t, b.root, "git", "rev-parse", head+":a.txt")
	for later, want := range map[time.Duration]bool{time.Second: false, 0: true} { // git would say the same
		moment := info.ModTime().Add(later)
		if err := os.Chtimes(index, moment, moment); err != nil {
			t.Fatal(err)
		}
		if got, err := tree.Dirty([]Change{{Path: "a.txt", OldMode: "100644", Old: id}}); err != nil || got["a.txt"] != want {
			t.Errorf("an index written %s after it: %v, %v, want %v", later, got, err, want)
		}
	}
}
