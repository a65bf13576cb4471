package gitfiles

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestStagedTreesAreGits stages random files and writes their tree both ways.
func TestStagedTreesAreGits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	names := []string{"a", "a.b", "a/x", "a0", "b", "d/a", "d/e/f", "d/e/g", "d.e", "ü ü", "z/z/z"}
	old := run(t, b.root, "git", "rev-parse", "HEAD^{tree}")
	rapid.Check(t, func(rt *rapid.T) {
		for range rapid.IntRange(1, 6).Draw(rt, "changes") {
			file := filepath.Join(b.root, rapid.SampledFrom(names).Draw(rt, "name"))
			_ = os.RemoveAll(file)
			if os.MkdirAll(filepath.Dir(file), 0o755) != nil {
				continue // a file is where the directory would be
			}
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0:
				_ = os.WriteFile(file, []byte(rapid.StringMatching(`[ab]{0,2}`).Draw(rt, "text")), 0o644)
			case 1:
				_ = os.WriteFile(file, []byte("#!"), 0o755)
			case 2:
				_ = os.Symlink("to", file)
			}
		}
		run(t, b.root, "git", "add", "--all")
		x, err := readIndex(filepath.Join(b.git, "index"))
		if err != nil {
			rt.Fatal(err)
		}
		got, err := b.writeIndexTree(x.files, old)
		if want := run(t, b.root, "git", "write-tree"); err != nil || got != want {
			rt.Fatalf("wrote %s, git %s (%v)", got, want, err)
		}
		old = rapid.SampledFrom([]string{old, got, ""}).Draw(rt, "old")
	})
	run(t, b.root, "git", "fsck", "--strict", "--no-dangling")
}

// An index that does not say all by itself is git's, and a damaged one as well.
func TestOddIndexes(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(root string){
		"version 4": func(root string) { run(t, root, "git", "update-index", "--index-version=4") },
		"split":     func(root string) { run(t, root, "git", "update-index", "--split-index") },
		"intended":  func(root string) { write(t, root, "new", "x"); run(t, root, "git", "add", "--intent-to-add", "new") },
		"conflicted": func(root string) {
			id := run(t, root, "git", "hash-object", "a.txt")
			c := must[string](t)(try(root, "ls-files", "--stage", "a.txt"))
			if !strings.Contains(c, id) {
				t.Error(c)
			}
			for _, side := range []string{"ours", "theirs"} {
				run(t, root, "git", "checkout", "-q", "-B", side, "main")
				write(t, root, "a.txt", side)
				commit(t, root, side)
			}
			_, _ = try(root, "-c", "user.name=A", "-c", "user.email=a@x", "merge", "ours")
		},
		"cut":     func(root string) { changeIndex(t, root, func(b []byte) []byte { return b[:len(b)-30] }) },
		"changed": func(root string) { changeIndex(t, root, func(b []byte) []byte { b[60]++; return b }) },
		"unsaid": func(root string) {
			changeIndex(t, root, func(b []byte) []byte { return binary.BigEndian.AppendUint32(b[:12], 1) })
		},
		"none": func(root string) { _ = os.Remove(filepath.Join(root, ".git", "index")) },
	} {
		b := setup(t)
		file := filepath.Join(b.root, ".git", "index")
		if x, err := readIndex(file); err != nil || len(x.files) != 3 {
			t.Fatalf("%v, %v", x, err)
		}
		change(b.root)
		if _, err := readIndex(file); err == nil {
			t.Errorf("%s: it was believed", name)
		}
	}
}

func changeIndex(t *testing.T, root string, f func([]byte) []byte) {
	file := filepath.Join(root, ".git", "index")
	if err := os.WriteFile(file, f(bytes.Clone(must[[]byte](t)(os.ReadFile(file)))), 0o644); err != nil {
		t.Fatal(err)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		file := filepath.Join(t.TempDir(), "index")
		sum := sha1.Sum(b)
		if err := os.WriteFile(file, append(b, sum[:]...), 0o600); err != nil {
			t.Fatal(err)
		}
		if x, err := readIndex(file); err == nil { // whatever it holds, it must not panic
			_ = x.write(file, []Change{{Path: "a/b"}})
		}
	})
}
