package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"coppice"
	"coppice/workspace/repo"
)

var errCrash = errors.New("crash")

// crashes runs do again and again, with a crash at each step the first time it
// gets there, until it gets through, and returns how often it crashed.
func crashes(t testing.TB, w *Workspaces, do func() error) int {
	t.Helper()
	hit := map[string]bool{}
	w.Step = func(name string) error {
		if !hit[name] {
			hit[name] = true
			return errCrash
		}
		return nil
	}
	defer func() { w.Step = func(string) error { return nil } }()
	for {
		err := do()
		if err == nil {
			return len(hit)
		}
		if !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
	}
}

func TestCrashAnywhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write(t, b.root, ".env", "S=1")
	spec := b.spec("app-1")
	spec.Policy = coppice.WorkspacePolicy{Copy: []string{".env"}, Setup: []string{"echo x > made.log"}, Ports: 1}
	var res coppice.PrepareResult
	prepare := func() (err error) { res, err = b.Prepare(b.ctx, spec); return err }
	if n := crashes(t, b.Workspaces, prepare); n < 4 {
		t.Errorf("prepare has %d steps", n)
	}
	first := res
	write(t, res.Path, "a.txt", "changed")
	write(t, res.Path, "new.txt", "new")
	write(t, res.Path, ".env", "S=2")
	before := print(t, res.Path, ".git")
	var gone coppice.RemoveResult
	remove := func() (err error) { gone, err = b.Remove(b.ctx, b.removeSpec("app-1")); return err }
	if n := crashes(t, b.Workspaces, remove); n < 5 {
		t.Errorf("remove has %d steps", n)
	}
	again := must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-1")))
	if d := cmp.Diff(gone, again); d != "" {
		t.Error(d)
	}
	if refs := run(t, b.own(), "git", "for-each-ref", "--format=%(refname)", "refs/coppice/", "refs/heads/coppice/"); refs != gone.Ref {
		t.Errorf("refs: %s", refs)
	}
	back := b.restoreSpec("app-1", gone)
	back.Policy = spec.Policy
	restore := func() (err error) { res, err = b.Restore(b.ctx, back); return err }
	if n := crashes(t, b.Workspaces, restore); n < 4 {
		t.Errorf("restore has %d steps", n)
	}
	if d := cmp.Diff(first, res); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(before, print(t, res.Path, ".git")); d != "" {
		t.Error(d)
	}
	if err := b.Purge(b.ctx, coppice.PurgeSpec{Repo: b.root, Ref: gone.Ref, Archive: gone.Archive}); err != nil {
		t.Fatal(err)
	}
	if repo.Exists(gone.Archive) {
		t.Error("the archive is still there")
	}
	if st, err := os.Stat(res.Path + ".json"); err != nil || st.Mode().Perm() != 0o600 {
		t.Error("the metadata can be read by others")
	}
}

// TestTrashRoundTrip brings random dirty states through the trash and back.
func TestTrashRoundTrip(t *testing.T) {
	t.Parallel()
	b := setup(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		key := fmt.Sprintf("app-%d", n)
		res := must[coppice.PrepareResult](t)(b.Prepare(b.ctx, b.spec(key)))
		dirty(rt, t, res.Path)
		files := print(t, res.Path, ".git")
		status := run(t, res.Path, "git", "status", "--porcelain=v1", "--no-renames", "-uall")
		staged := run(t, res.Path, "git", "ls-files", "--stage")
		head := run(t, res.Path, "git", "rev-parse", "HEAD")
		gone := must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec(key)))
		if out := run(t, res.Path, "git", "status", "--porcelain", "--ignored"); out != "" {
			rt.Fatalf("not clean: %s", out)
		}
		back := must[coppice.PrepareResult](t)(b.Restore(b.ctx, b.restoreSpec(key, gone)))
		for name, d := range map[string]string{
			"files":  cmp.Diff(files, print(t, back.Path, ".git")),
			"status": cmp.Diff(status, run(t, back.Path, "git", "status", "--porcelain=v1", "--no-renames", "-uall")),
			"index":  cmp.Diff(staged, run(t, back.Path, "git", "ls-files", "--stage")),
			"head":   cmp.Diff(head, back.Head),
		} {
			if d != "" {
				rt.Fatalf("%s: %s", name, d)
			}
		}
		must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec(key)))
	})
}

func dirty(rt *rapid.T, t testing.TB, dir string) {
	names := []string{"a.txt", "dir/b.txt", "new.txt", "deep/er/x y.txt", ".env", "q\"uote", "line\nbreak", "-dash", "dir", "ünï", "crlf.txt"}
	for range rapid.IntRange(0, 8).Draw(rt, "changes") {
		p := filepath.Join(dir, rapid.SampledFrom(names).Draw(rt, "name"))
		what := rapid.SampledFrom([]string{"write", "exec", "link", "delete", "rename", "stage", "commit"}).Draw(rt, "what")
		text := rapid.SampledFrom([]string{"", "x", "one\r\ntwo\r\n", "bin\x00ary", "one\ntwo\nthree\n"}).Draw(rt, "text")
		switch what {
		case "stage":
			run(t, dir, "git", "add", "-A")
			continue
		case "commit":
			commit(t, dir, "by the agent")
			continue
		case "rename":
			to := filepath.Join(dir, rapid.SampledFrom([]string{"moved", "dir2"}).Draw(rt, "to"))
			_ = os.Rename(p, to)
			continue
		}
		if os.RemoveAll(p) != nil || what == "delete" {
			continue // a file is in place of its directory
		}
		if os.MkdirAll(filepath.Dir(p), 0o755) != nil {
			continue // the same
		}
		var err error
		switch what {
		case "link":
			err = os.Symlink(rapid.SampledFrom([]string{"a.txt", "/etc/passwd", "../.."}).Draw(rt, "target"), p)
		case "exec":
			err = os.WriteFile(p, []byte(text), 0o755)
		default:
			err = os.WriteFile(p, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestSave(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, c := range []struct {
		name  string
		do    string
		fails string
		files string // that the branch has besides, in the end
	}{
		{"nothing", "true", "", ""},
		{"leftovers", "echo x > new; echo y >> a.txt; rm dir/b.txt; echo z > z.log", "", "new"},
		{"new branch", "git checkout -q -b mine; echo x > new; git add new; git commit -qm x; echo y > more", "", "more new"},
		{"detached ahead", "git commit -q --allow-empty -m x; git checkout -q --detach; echo x > new", "", "new"},
		{"detached behind", "git commit -q --allow-empty -m x; git checkout -q --detach HEAD~1", "", ""},
		{"elsewhere", "git commit -q --allow-empty -m x; git checkout -q --detach HEAD~1; echo x > new", "does not continue its branch", ""},
		{"deleted branch", "git checkout -q --detach; git branch -D $COPPICE_BRANCH; echo x > new", "", "new"},
		{"merged", "git checkout -q -b other; echo x > new; git add .; git commit -qm x; git checkout -q -; echo y > more; git add .; git commit -qm y; git merge --no-commit other", "", "more new"},
		{"conflict", "git checkout -q -b side; echo x > a.txt; git commit -qam x; git checkout -q -; echo y > a.txt; git commit -qam y; git merge side || true", "unresolved conflicts in \"a.txt\"", ""},
		{"rebase", "git checkout -q -b third; echo x > a.txt; git commit -qam x; git checkout -q -; echo y > a.txt; git commit -qam y; git rebase third || true", "middle of a rebase", ""},
	} {
		key := fmt.Sprintf("app-%d", i+1)
		res := b.prepare(key)
		run(t, res.Path, "env", "COPPICE_BRANCH=coppice/"+key, "GIT_AUTHOR_NAME=B", "GIT_AUTHOR_EMAIL=b@x", "GIT_EDITOR=true", "sh", "-ec", c.do)
		head, _, err := b.Save(b.ctx, res.Path, "left over", coppice.Identity{}, nil)
		if c.fails != "" {
			var f *coppice.Failure
			if !errors.As(err, &f) || f.Class != coppice.ClassImplementation || !strings.Contains(f.Text, c.fails) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if tip := run(t, b.own(), "git", "rev-parse", "coppice/"+key); tip != head {
			t.Errorf("%s: the branch is at %s, not %s", c.name, tip, head)
		}
		if on := run(t, res.Path, "git", "symbolic-ref", "HEAD"); on != "refs/heads/coppice/"+key {
			t.Errorf("%s: on %s", c.name, on)
		}
		got := strings.Fields(run(t, res.Path, "git", "diff", "--name-only", "--diff-filter=A", "main", head))
		if strings.Join(got, " ") != c.files {
			t.Errorf("%s: added %s", c.name, got)
		}
		if s := run(t, res.Path, "git", "status", "--porcelain"); s != "" {
			t.Errorf("%s: left %s", c.name, s)
		}
	}
}

// TestRemoveDropsLandings has refs of refused landings, whole and packed, beside
// those of another task.
func TestRemoveDropsLandings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	head := b.candidate("app-1", "x.txt")
	for _, ref := range []string{"app-1/1", "app-1/2", "app-10/3"} {
		spec := b.mergeSpec(head, coppice.StrategySquash)
		spec.Ref = landingRefs + ref
		must[coppice.MergeResult](t)(b.Merge(b.ctx, spec))
		if ref == "app-1/1" {
			run(t, b.own(), "git", "pack-refs", "--all")
		}
	}
	left := func() string {
		return run(t, b.own(), "git", "for-each-ref", "--format=%(refname)", "refs/coppice/landing/", "refs/heads/coppice/")
	}
	must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-1")))
	if got := left(); got != landingRefs+"app-10/3" {
		t.Errorf("left: %s", got)
	}
	// One that comes late goes with the next removal.
	run(t, b.own(), "git", "update-ref", landingRefs+"app-1/4", head)
	must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-1")))
	if got := left(); got != landingRefs+"app-10/3" {
		t.Errorf("left: %s", got)
	}
}

// TestCleanOnce has a preparation in a used worktree that stops half-way: the
// next one must not take the worktree for clean.
func TestCleanOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.prepare("app-1")
	must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-1")))
	spec := b.spec("app-2")
	spec.Policy.Setup = []string{"echo x > half.log; mkdir -p some/where; false"}
	if _, err := b.Prepare(b.ctx, spec); err == nil {
		t.Fatal("the setup did not fail")
	}
	res := b.prepare("app-2")
	if repo.Exists(filepath.Join(res.Path, "half.log")) || repo.Exists(filepath.Join(res.Path, "some")) {
		t.Error("what the first preparation left is still there")
	}
}

// The newest trash of a task is found by its name, also when older trash has
// expired.
func TestLastTrash(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := must[repo.Repo](t)(b.Use(b.ctx, b.root))
	head := run(t, b.root, "git", "rev-parse", "HEAD")
	last := func() int { return must[int](t)(b.lastTrash(b.ctx, r, "app-1")) }
	if n := last(); n != 0 {
		t.Errorf("%d without any", n)
	}
	for _, c := range []struct {
		name string
		want int
	}{{"app-11-40", 0}, {"app-1-1", 1}, {"app-1-9", 9}, {"app-1-20", 20}, {"app-1-21", 21}, {"app-2-22", 21}} {
		if err := b.SetRef(b.ctx, r, trashRefs+c.name, head); err != nil {
			t.Fatal(err)
		}
		if n := last(); n != c.want {
			t.Errorf("%d with %s, want %d", n, c.name, c.want)
		}
	}
	if err := b.DropRefs(b.ctx, r, trashRefs+"app-1-1", trashRefs+"app-1-9"); err != nil {
		t.Fatal(err)
	}
	if err := b.SetRef(b.ctx, r, trashRefs+"app-1-16", head); err != nil {
		t.Fatal(err)
	}
	if n := last(); n != 21 {
		t.Errorf("%d once the oldest have expired", n)
	}
}
