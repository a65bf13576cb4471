package gitfiles

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"coppice/test/gitrepo"
)

// refNames get into each other's way as files and directories.
var refNames = []string{"refs/heads/main", "refs/heads/a", "refs/heads/a/b", "refs/heads/a/b/c", "refs/heads/ünï", "refs/coppice/trash/app-1-1",
	"refs/coppice/trash/app-1-2", "refs/coppice/landing/app-1/7", "refs/coppice/landing/app-10/8", "refs/heads/none"}

// TestRefsLikeGit brings refs into random states and reads them both ways.
func TestRefsLikeGit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := filepath.Join(b.dir, "linked")
	run(t, b.root, "git", "worktree", "add", "-q", "--detach", path)
	first := run(t, b.root, "git", "rev-parse", "HEAD")
	ids := []string{first, run(t, b.root, "git", "commit-tree", "-p", first, "-m", "x", "HEAD^{tree}")}
	rapid.Check(t, func(rt *rapid.T) {
		for _, name := range []string{"packed-refs", "refs/heads", "refs/coppice"} {
			if err := os.RemoveAll(filepath.Join(b.git, name)); err != nil {
				t.Fatal(err)
			}
		}
		name := rapid.SampledFrom(refNames)
		dir := rapid.SampledFrom([]string{b.root, path})
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			n, id, d := name.Draw(rt, "name"), rapid.SampledFrom(ids).Draw(rt, "id"), dir.Draw(rt, "dir")
			switch rapid.SampledFrom([]string{"write", "write", "delete", "pack", "symbolic", "detach", "attach"}).Draw(rt, "step") {
			case "write":
				_, _ = try(b.root, "update-ref", n, id)
			case "delete":
				_, _ = try(b.root, "update-ref", "--no-deref", "-d", n)
			case "pack":
				_, _ = try(b.root, "pack-refs", "--all")
			case "symbolic":
				_, _ = try(b.root, "symbolic-ref", n, name.Draw(rt, "to"))
			case "detach":
				_, _ = try(d, "update-ref", "--no-deref", "HEAD", id)
			case "attach":
				_, _ = try(d, "symbolic-ref", "HEAD", "refs/heads/"+rapid.SampledFrom([]string{"main", "a", "none"}).Draw(rt, "branch"))
			}
		}
		compareRefs(rt, b, path)
	})
}

func compareRefs(rt *rapid.T, b *bundle, path string) {
	listed, _ := try(b.root, "for-each-ref", "--format=%(refname) %(objectname)")
	want := map[string]string{}
	for line := range strings.Lines(listed) {
		name, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		want[name] = id
	}
	for _, n := range refNames {
		_, id, err := b.Resolve(b.git, n)
		if errors.Is(err, ErrUseGit) && want[n] == "" {
			continue // one that leads to itself is left to git
		}
		if err != nil || id != want[n] {
			rt.Fatalf("%s is at %q, not %q: %v", n, id, want[n], err)
		}
	}
	for _, prefix := range []string{"refs/coppice/trash/", "refs/coppice/landing/app-1/", "refs/heads/a/", "refs/nothing/"} {
		refs, symbolic, err := b.List(prefix)
		for n := range symbolic {
			if want[n] != "" {
				refs[n] = want[n]
			}
		}
		got := slices.Sorted(maps.Keys(refs))
		var below []string
		for n := range want {
			if strings.HasPrefix(n, prefix) {
				below = append(below, n)
			}
		}
		slices.Sort(below)
		if err != nil && errors.Is(err, ErrUseGit) {
			continue
		}
		if d := cmp.Diff(below, got); d != "" || err != nil {
			rt.Fatalf("below %s: %v %s", prefix, err, d)
		}
	}
	for _, d := range []struct{ path, git string }{{b.root, b.git}, {path, filepath.Join(b.git, "worktrees", "linked")}} {
		on, id, err := b.Head(d.git)
		if errors.Is(err, ErrUseGit) {
			continue
		}
		wantID, _ := try(d.path, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
		wantOn, _ := try(d.path, "symbolic-ref", "--quiet", "HEAD")
		for next := wantOn; next != ""; next, _ = try(d.path, "symbolic-ref", "--quiet", next) {
			wantOn = next
		}
		if err != nil || on != wantOn || id != wantID {
			rt.Fatalf("HEAD of %s is %s %s, not %s %s: %v", d.path, on, id, wantOn, wantID, err)
		}
	}
}

// TestRefsOdd has files in the way that only git can judge, or nobody.
func TestRefsOdd(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(dir string) error{
		"empty": func(dir string) error { return os.WriteFile(dir+"/refs/heads/x", nil, 0o644) },
		"no id": func(dir string) error { return os.WriteFile(dir+"/refs/heads/x", []byte("hello\n"), 0o644) },
		"cut": func(dir string) error {
			return os.WriteFile(dir+"/refs/heads/x", []byte(strings.Repeat("a", 39)+"\n"), 0o644)
		},
		"nothing": func(dir string) error {
			return os.WriteFile(dir+"/refs/heads/x", []byte(strings.Repeat("0", 40)+"\n"), 0o644)
		},
		"outside":   func(dir string) error { return os.WriteFile(dir+"/refs/heads/x", []byte("ref: refs/../../x\n"), 0o644) },
		"itself":    func(dir string) error { return os.WriteFile(dir+"/refs/heads/x", []byte("ref: refs/heads/x\n"), 0o644) },
		"link":      func(dir string) error { return os.Symlink("main", dir+"/refs/heads/x") },
		"pipe":      func(dir string) error { return syscall.Mkfifo(dir+"/refs/heads/x", 0o644) },
		"in packed": func(dir string) error { return os.WriteFile(dir+"/packed-refs", []byte("abc refs/heads/x\n"), 0o644) },
	} {
		root := filepath.Join(t.TempDir(), "repo")
		gitrepo.New(t, root, gitEnv, gitrepo.Sample())
		dir := filepath.Join(root, ".git")
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		if _, id, err := Open(dir, Config{}).Resolve(dir, "refs/heads/x"); !errors.Is(err, ErrUseGit) || id != "" {
			t.Errorf("%s: %q %v", name, id, err)
		}
	}
	root := filepath.Join(t.TempDir(), "repo")
	gitrepo.New(t, root, gitEnv, gitrepo.Sample())
	run(t, root, "git", "config", "extensions.refStorage", "files")
	if _, err := Open(filepath.Join(root, ".git"), Config{}).Refs("refs/heads/main"); err == nil {
		t.Error("a ref store that is named is taken for plain files")
	}
}
