package gitfiles

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// kinds is a repository with two commits, between which files of all kinds change.
func kinds(t *testing.T) (b *bundle, first, second string) {
	t.Helper()
	b = setup(t)
	write(t, b.root, "run", "#!")
	write(t, b.root, "file", "to a directory\n")
	write(t, b.root, "gone/deep/x", "removed\n")
	write(t, b.root, "kept/x", "kept\n")
	write(t, b.root, "kept/y", "kept\n")
	link(t, b.root, "a.txt", "link")
	first = commit(t, b.root, "first")
	write(t, b.root, "a.txt", "changed\n")
	write(t, b.root, "new/deep/z", "new\n")
	write(t, b.root, "empty", "")
	for _, name := range []string{"file", "gone", "link", "dir"} {
		if err := os.RemoveAll(filepath.Join(b.root, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, b.root, "file/inner", "below\n")
	write(t, b.root, "dir", "was a directory\n")
	link(t, b.root, "kept/y", "link")
	if err := os.Chmod(filepath.Join(b.root, "run"), 0o755); err != nil {
		t.Fatal(err)
	}
	return b, first, commit(t, b.root, "second")
}

func link(t *testing.T, root, to, name string) {
	t.Helper()
	if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
		t.Fatal(err)
	}
}

// isAt reports what git finds different from a commit.
func isAt(t *testing.T, b *bundle, id string) string {
	t.Helper()
	run(t, b.root, "git", "update-ref", "refs/heads/main", id)
	run(t, b.root, "git", "fsck", "--strict", "--no-dangling")
	return run(t, b.root, "git", "status", "--porcelain", "--untracked-files=all")
}

// TestReset goes from commit to commit, also when files of the checkout changed.
func TestReset(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	write(t, outside, "y", "not in the repository\n")
	changes := map[string]func(root string){
		"nothing":      func(string) {},
		"edited":       func(root string) { write(t, root, "kept/y", "edit\n") },
		"edited alike": func(root string) { write(t, root, "kept/y", "tpek\n") },
		"removed":      func(root string) { _ = os.RemoveAll(filepath.Join(root, "kept")) },
		"permissions":  func(root string) { _ = os.Chmod(filepath.Join(root, "kept/y"), 0o600) },
		"executable":   func(root string) { _ = os.Chmod(filepath.Join(root, "kept/y"), 0o755) },
		"directory":    func(root string) { _ = os.Remove(filepath.Join(root, "run")); write(t, root, "run/other", "x") },
		"in the way":   func(root string) { _ = os.RemoveAll(filepath.Join(root, "new")); write(t, root, "new", "x") },
		"link": func(root string) {
			_ = os.RemoveAll(filepath.Join(root, "kept"))
			link(t, root, outside, "kept")
		},
		"link to a directory": func(root string) {
			_ = os.RemoveAll(filepath.Join(root, "gone"))
			_ = os.Mkdir(filepath.Join(root, "gone"), 0o755)
			link(t, root, "../kept", "gone/deep")
		},
		"link inside": func(root string) {
			_ = os.Rename(filepath.Join(root, "kept"), filepath.Join(root, "moved.log"))
			link(t, root, "moved.log", "kept")
		},
	}
	for name, change := range changes {
		b, first, second := kinds(t)
		tree := b.Checkout(b.root, b.git)
		for _, to := range []string{first, second, first, first} {
			change(b.root)
			if err := tree.Reset(to); err != nil {
				t.Fatalf("%s: to %s: %v", name, to, err)
			}
			if _, err := os.Lstat(filepath.Join(b.root, "gone")); name == "nothing" && (err == nil) != (to == first) {
				t.Errorf("to %s: %v", to, err)
			}
			run(t, b.root, "git", "clean", "-fdxq")
			if got := isAt(t, b, to); got != "" {
				t.Errorf("%s: git finds\n%s", name, got)
			}
			if info, err := os.Lstat(filepath.Join(b.root, "kept")); err != nil || !info.IsDir() {
				t.Errorf("%s: %v, %v", name, info, err)
			}
			if info, err := os.Stat(filepath.Join(b.root, "kept", "y")); err != nil || info.Mode().Perm()&0o044 == 0 {
				t.Errorf("%s: %v, %v", name, info, err)
			}
		}
		if text := must[[]byte](t)(os.ReadFile(filepath.Join(outside, "y"))); string(text) != "not in the repository\n" {
			t.Fatalf("%s: a file elsewhere is %q", name, text)
		}
	}
}

// Git does what this package cannot do, and nothing has changed then.
func TestResetIsGits(t *testing.T) {
	t.Parallel()
	for name, odd := range map[string]func(b *bundle){
		"attributes":       func(b *bundle) { write(t, b.root, "d/.gitattributes", "* text\n"); commit(t, b.root, "more") },
		"other attributes": func(b *bundle) { write(t, b.git, "info/attributes", "* text\n") },
		"packed":           func(b *bundle) { run(t, b.root, "git", "repack", "-adq") },
		"skipped":          func(b *bundle) { run(t, b.root, "git", "update-index", "--skip-worktree", "a.txt") },
		"extension":        func(b *bundle) { run(t, b.root, "git", "update-index", "--untracked-cache") },
		"name":             func(b *bundle) { write(t, b.root, "ü", "x"); commit(t, b.root, "more") },
		"off":              func(b *bundle) { b.Off = true },
		"submodule": func(b *bundle) {
			head := run(t, b.root, "git", "rev-parse", "HEAD")
			run(t, b.root, "git", "update-index", "--add", "--cacheinfo", "160000,"+head+",sub")
		},
	} {
		b, first, _ := kinds(t)
		odd(b)
		head := run(t, b.root, "git", "rev-parse", "HEAD")
		before := listFiles(t, b.root)
		if err := b.Checkout(b.root, b.git).Reset(first); !errors.Is(err, ErrUseGit) {
			t.Errorf("%s: %v", name, err)
		}
		changes, _ := Open(b.git, Config{}).Diff(head, first)
		stage := t.TempDir()
		if err := b.Checkout(stage, b.git).Stage(changes); !errors.Is(err, ErrUseGit) && len(changes) > 0 {
			t.Errorf("%s: staging: %v", name, err)
		}
		after := listFiles(t, b.root)
		if len(before) != len(after) || len(listFiles(t, stage)) != 0 {
			t.Errorf("%s: the files were %q and are %q", name, before, after)
		}
	}
}

// Attributes of a file that stays can change others.
func TestResetWithAttributes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write(t, b.root, "d/.gitattributes", "* text\n")
	head := commit(t, b.root, "more")
	write(t, b.root, "a.txt", "changed\n")
	if err := b.Checkout(b.root, b.git).Reset(head); !errors.Is(err, ErrUseGit) {
		t.Error(err)
	}
}

// TestStage stages changes beside a checkout, in whose index and files are others.
func TestStage(t *testing.T) {
	t.Parallel()
	b, first, second := kinds(t)
	run(t, b.root, "git", "reset", "-q", "--hard", first)
	write(t, b.root, "own", "staged\n")
	run(t, b.root, "git", "add", "own")
	write(t, b.root, "own", "edited\n") // of the same size, in the same moment
	index, info := filepath.Join(b.git, "index"), must[os.FileInfo](t)(os.Lstat(filepath.Join(b.root, "own")))
	changeIndex(t, b.root, func(all []byte) []byte {
		if err := putStat(all[bytes.Index(all, []byte("own\x00"))-62:], info); err != nil {
			t.Fatal(err)
		}
		body := all[:len(all)-sha1.Size]
		sum := sha1.Sum(body)
		return append(body, sum[:]...)
	})
	if err := os.Chtimes(index, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	changes := must[[]Change](t)(b.Diff(first, second))
	stage := t.TempDir()
	if err := b.Checkout(stage, b.git).Stage(changes); err != nil {
		t.Fatal(err)
	}
	later := info.ModTime().Add(2 * time.Second) // git compares whole seconds
	if err := os.Chtimes(index, later, later); err != nil {
		t.Fatal(err)
	}
	if got := run(t, b.root, "git", "diff-index", "--cached", "--name-only", second); got != "own" {
		t.Errorf("the index differs in %q", got)
	}
	if got := run(t, b.root, "git", "diff-files", "--name-only", "own"); got != "own" {
		t.Errorf("git does not see that the file changed: %q", got)
	}
	for _, c := range changes {
		if info, err := os.Lstat(filepath.Join(stage, c.Path)); (err == nil && !info.IsDir()) != (c.NewMode != "") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	// The index no longer has the old side.
	if err := b.Checkout(t.TempDir(), b.git).Stage(changes); !errors.Is(err, ErrUseGit) {
		t.Errorf("staged again: %v", err)
	}
}

// An index that is written again keeps what it knows of trees that did not change.
func TestIndexKeepsTrees(t *testing.T) {
	t.Parallel()
	b, first, second := kinds(t)
	run(t, b.root, "git", "write-tree")
	for _, to := range []string{first, second} {
		if err := b.Checkout(b.root, b.git).Reset(to); err != nil {
			t.Fatal(err)
		}
		x := must[index](t)(readIndex(filepath.Join(b.git, "index")))
		root, rest, _ := strings.Cut(string(x.trees), "\n")
		if !strings.HasPrefix(root, "\x00-1 ") || !strings.Contains(rest, "kept\x002 0\n") {
			t.Errorf("the index has %q", x.trees)
		}
		if got := isAt(t, b, to); got != "" {
			t.Errorf("git finds\n%s", got)
		}
	}
}

// Files that Reset writes are older than the index, so nobody has to read them to
// see that they are unchanged. A change in the same moment that keeps the size is
// found anyway.
func TestResetFilesAreOlderThanTheIndex(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write(t, b.root, "a.txt", "one\n")
	run(t, b.root, "git", "add", "--all")
	run(t, b.root, "git", "commit", "--quiet", "--message=one")
	to := run(t, b.root, "git", "rev-parse", "HEAD")
	write(t, b.root, "a.txt", "changed\n")
	run(t, b.root, "git", "commit", "--quiet", "--all", "--message=two")
	tree := b.Checkout(b.root, b.git)
	if err := tree.Reset(to); err != nil {
		t.Fatal(err)
	}
	write(t, b.root, "a.txt", "two\n")
	if tree.IsClean(to) {
		t.Error("a change right after the reset is not found")
	}
	if err := tree.Reset(to); err != nil {
		t.Fatal(err)
	}
	index, err := os.Lstat(filepath.Join(b.git, "index"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Lstat(filepath.Join(b.root, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !file.ModTime().Before(index.ModTime()) {
		t.Errorf("the file has the time %s, the index %s", file.ModTime(), index.ModTime())
	}
	if !tree.IsClean(to) {
		t.Error("it is not clean")
	}
}
