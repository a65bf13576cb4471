package workspace

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"coppice"
	"coppice/workspace/git"
)

// refNames get into each other's way as files and directories.
var refNames = []string{"refs/heads/main", "refs/heads/a", "refs/heads/a/b", "refs/heads/a/b/c", "refs/heads/ünï", "refs/coppice/trash/app-1-1",
	"refs/coppice/trash/app-1-2", "refs/coppice/landing/app-1/7", "refs/coppice/landing/app-10/8", "refs/heads/none"}

// try runs git and does not mind that it refuses.
func try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// TestRefsLikeGit brings refs into random states and reads them both ways.
func TestRefsLikeGit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := b.prepare("app-1").Path
	first := run(t, b.root, "git", "rev-parse", "HEAD")
	ids := []string{first, run(t, b.root, "git", "commit-tree", "-p", first, "-m", "x", "HEAD^{tree}")}
	r := must[repo](t)(b.find(b.ctx, b.root))
	b.Workspaces.git = must[*git.Runner](t)(git.New(git.Config{Program: "/bin/false"})) // so nothing is left to it
	if !plainRefs(r.user) {
		t.Fatal("the refs are not in plain files")
	}
	rapid.Check(t, func(rt *rapid.T) {
		for _, name := range []string{"packed-refs", "refs/heads", "refs/coppice"} {
			if err := os.RemoveAll(filepath.Join(r.user, name)); err != nil {
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
		compareRefs(rt, b, r, path)
	})
}

func compareRefs(rt *rapid.T, b *bundle, r repo, path string) {
	listed, _ := try(b.root, "for-each-ref", "--format=%(refname) %(objectname)")
	want := map[string]string{}
	for line := range strings.Lines(listed) {
		name, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		want[name] = id
	}
	for _, n := range refNames {
		_, id, err := resolve(r.user, r.user, n)
		if errors.Is(err, errOdd) && want[n] == "" {
			continue // one that leads to itself is left to git
		}
		if err != nil || id != want[n] {
			rt.Fatalf("%s is at %q, not %q: %v", n, id, want[n], err)
		}
	}
	for _, prefix := range []string{trashRefs, landingRefs + "app-1/", "refs/heads/a/", "refs/nothing/"} {
		got, err := filesBelow(r.user, prefix)
		var below []string
		for n := range want {
			if strings.HasPrefix(n, prefix) {
				below = append(below, n)
			}
		}
		slices.Sort(below)
		if err != nil && errors.Is(err, errOdd) {
			continue
		}
		if d := cmp.Diff(below, got); d != "" || err != nil {
			rt.Fatalf("below %s: %v %s", prefix, err, d)
		}
	}
	for _, d := range []struct{ path, git string }{{b.root, r.user}, {path, must[string](b.t)(gitDir(path))}} {
		on, id, err := resolve(d.git, d.git, "HEAD")
		if errors.Is(err, errOdd) {
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
		root := filepath.Join(realDir(t), "repo")
		newRepo(t, root)
		dir := filepath.Join(root, ".git")
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		if _, id, err := resolve(dir, dir, "refs/heads/x"); !errors.Is(err, errOdd) || id != "" {
			t.Errorf("%s: %q %v", name, id, err)
		}
	}
	root := filepath.Join(realDir(t), "repo")
	newRepo(t, root)
	run(t, root, "git", "config", "extensions.refStorage", "files")
	if plainRefs(filepath.Join(root, ".git")) {
		t.Error("a ref store that is named is taken for plain files")
	}
}

// TestLikeWithoutFiles does a task's work in a repository whose refs are not
// read from files, and gets the same.
func TestLikeWithoutFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write(t, b.root, ".git/reftable/note", "git reads its files all the same")
	m := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(b.candidate("app-1", "x.txt"), coppice.StrategySquash)))
	if got := must[coppice.MoveResult](t)(b.Move(b.ctx, b.moveSpec(m))); !got.Moved || read(t, b.root, "x.txt") == "" {
		t.Errorf("%+v", got)
	}
	path := b.prepare("app-1").Path
	write(t, path, "y.txt", "y")
	head, changed, err := b.Save(b.ctx, path, "left over", nil)
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
	add := func(name string, more ...string) string {
		path := filepath.Join(filepath.Dir(b.root), name)
		run(t, b.root, append([]string{"git", "worktree", "add", "-q", path}, more...)...)
		return path
	}
	add("one")
	gone := add("two")
	add("three", "--detach")
	r := must[repo](t)(b.find(b.ctx, b.root))
	for _, spoil := range []func(){func() {}, func() { run(t, b.root, "git", "pack-refs", "--all") }, func() { _ = os.RemoveAll(gone) }} {
		spoil()
		plain := must[[]worktree](t)(b.plainWorktrees(b.ctx, r))
		var want []worktree
		for block := range strings.SplitSeq(run(t, b.root, "git", "worktree", "list", "--porcelain"), "\n\n") {
			var w worktree
			for line := range strings.Lines(block) {
				if p, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree "); ok {
					w.path = p
				} else if ref, ok := strings.CutPrefix(strings.TrimSpace(line), "branch "); ok {
					w.branch = ref
				}
			}
			if exists(w.path) {
				w.git = run(t, w.path, "git", "rev-parse", "--absolute-git-dir")
			}
			want = append(want, w)
		}
		byPath := func(a, b worktree) int { return strings.Compare(a.path, b.path) }
		slices.SortFunc(plain, byPath)
		slices.SortFunc(want, byPath)
		if d := cmp.Diff(want, plain, cmp.AllowUnexported(worktree{})); d != "" {
			t.Error(d)
		}
	}
	run(t, b.root, "git", "config", "core.bare", "true")
	if _, err := b.plainWorktrees(b.ctx, r); !errors.Is(err, errOdd) {
		t.Errorf("a bare repository: %v", err)
	}
}
