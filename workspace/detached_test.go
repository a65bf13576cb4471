package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/workspace/repo"
)

func (b *bundle) lookSpec(key, commit string) coppice.PrepareSpec {
	return coppice.PrepareSpec{Key: key, Repo: b.root, Base: "main", From: commit, Detached: true, Policy: coppice.WorkspacePolicy{Ports: 2}}
}

func (b *bundle) look(key, commit string) coppice.PrepareResult {
	b.t.Helper()
	return must[coppice.PrepareResult](b.t)(b.Prepare(b.ctx, b.lookSpec(key, commit)))
}

func (b *bundle) unlook(key string) {
	b.t.Helper()
	res := must[coppice.RemoveResult](b.t)(b.Remove(b.ctx, coppice.RemoveSpec{Key: key, Repo: b.root}))
	if res.Ref != "" || res.Head != "" || res.Archive != "" || len(res.Strays) > 0 {
		b.t.Fatalf("the trash keeps %+v", res)
	}
}

// refs lists every ref of the repository.
func (b *bundle) allRefs() string {
	b.t.Helper()
	return run(b.t, b.root, "git", "for-each-ref", "--format=%(refname) %(objectname)")
}

func TestDetachedWorkspaceIsAtItsCommit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := run(t, b.root, "git", "rev-parse", "HEAD")
	work := b.prepare("app-1")
	write(t, work.Path, "a.txt", "changed by the task\n")
	second := commit(t, b.root, "second")
	refs := b.allRefs()

	got := b.look("app-1.2", first)
	if got.Path == work.Path || got.Head != first || got.BaseCommit != first || len(got.Ports) != 2 {
		t.Fatalf("prepared %+v", got)
	}
	if text := read(t, got.Path, "a.txt"); text != "one\ntwo\nthree\n" {
		t.Errorf("it shows %q", text)
	}
	if on := run(t, got.Path, "git", "rev-parse", "--abbrev-ref", "HEAD"); on != "HEAD" {
		t.Errorf("it is on the branch %s", on)
	}
	if again := b.look("app-1.2", first); again.Path != got.Path || !slices.Equal(again.Ports, got.Ports) {
		t.Errorf("prepared again: %+v, first %+v", again, got)
	}
	if other := b.look("app-1.3", second); other.Path == got.Path || slices.ContainsFunc(other.Ports, func(p int) bool { return slices.Contains(got.Ports, p) }) {
		t.Errorf("two share: %+v and %+v", other, got)
	}
	if moved := b.look("app-1.2", second); moved.Head != second {
		t.Errorf("at %s when asked for %s", moved.Head, second)
	}
	b.unlook("app-1.2")
	b.unlook("app-1.2")
	b.unlook("app-1.3")
	if now := b.allRefs(); now != refs {
		t.Errorf("refs before:\n%s\nafter:\n%s", refs, now)
	}
	if text := read(t, work.Path, "a.txt"); text != "changed by the task\n" {
		t.Error("the task's own workspace was touched")
	}
	if next := b.prepare("app-2"); next.Path != got.Path {
		t.Errorf("the next task got %s, not the idle %s", next.Path, got.Path)
	}
	ledger := read(t, b.Dir, "ports.json")
	if strings.Contains(ledger, "app-1.") {
		t.Errorf("ports are still given: %s", ledger)
	}
}

func TestDetachedWorkspaceHasAPort(t *testing.T) {
	t.Parallel()
	b := setup(t)
	spec := b.lookSpec("app-1.1", run(t, b.root, "git", "rev-parse", "HEAD"))
	spec.Policy = coppice.WorkspacePolicy{Serve: coppice.ServePolicy{Run: "serve"}}
	if res := must[coppice.PrepareResult](t)(b.Prepare(b.ctx, spec)); len(res.Ports) != 1 {
		t.Errorf("ports %v", res.Ports)
	}
}

// Without a commit, a session looks at the tip of the branch, wherever that is by
// now.
func TestLookAtTheTip(t *testing.T) {
	t.Parallel()
	b := setup(t)
	spec := b.lookSpec("app-1.1", "")
	for range 2 {
		tip := commit(t, b.root, "further")
		if res := must[coppice.PrepareResult](t)(b.Prepare(b.ctx, spec)); res.Head != tip || run(t, res.Path, "git", "rev-parse", "HEAD") != tip {
			t.Errorf("%+v, the tip is %s", res, tip)
		}
	}
	spec.Base = "nowhere"
	if _, err := b.Prepare(b.ctx, spec); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("%v, and there is no such branch", err)
	}
}

func TestBadLooks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	head := run(t, b.root, "git", "rev-parse", "HEAD")
	for name, c := range map[string]struct {
		key, from, says string
	}{
		"a task's key":       {"app-1", head, "is a task, not a session"},
		"no key":             {"", head, "key"},
		"a branch":           {"app-1.1", "main", "is not a valid object id"},
		"half a commit":      {"app-1.1", head[:12], "is not a valid object id"},
		"a commit that went": {"app-1.1", strings.Repeat("1", 40), "is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := b.Prepare(b.ctx, b.lookSpec(c.key, c.from))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

func TestChangesInADetachedWorkspaceAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		setup []string
		do    func(t *testing.T, dir string)
		want  []string
	}{
		"nothing":               {do: func(*testing.T, string) {}},
		"an ignored file":       {do: func(t *testing.T, dir string) { write(t, dir, "x.log", "x") }},
		"an untracked file":     {do: func(t *testing.T, dir string) { write(t, dir, "new", "x") }},
		"a tracked file":        {do: func(t *testing.T, dir string) { write(t, dir, "dir/b.txt", "x") }, want: []string{"dir/b.txt"}},
		"a file removed":        {do: func(t *testing.T, dir string) { run(t, dir, "rm", "a.txt") }, want: []string{"a.txt"}},
		"a commit":              {do: func(t *testing.T, dir string) { write(t, dir, "a.txt", "x"); commit(t, dir, "sly") }, want: []string{"a.txt"}},
		"a new file, committed": {do: func(t *testing.T, dir string) { write(t, dir, "new", "x"); commit(t, dir, "sly") }, want: []string{"new"}},
		"a lock left behind": {do: func(t *testing.T, dir string) {
			write(t, run(t, dir, "git", "rev-parse", "--absolute-git-dir"), "index.lock", "")
		}},
		"changed and back": {do: func(t *testing.T, dir string) {
			old := read(t, dir, "a.txt")
			write(t, dir, "a.txt", "x")
			write(t, dir, "a.txt", old)
		}},
		"the link to git":   {do: func(t *testing.T, dir string) { run(t, dir, "rm", "-r", ".git") }, want: []string{".git"}},
		"setup changed it":  {setup: []string{"echo more >> a.txt"}, do: func(*testing.T, string) {}},
		"setup and session": {setup: []string{"echo more >> a.txt"}, do: func(t *testing.T, dir string) { run(t, dir, "git", "checkout", "a.txt") }, want: []string{"a.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			spec := b.lookSpec("app-1.1", run(t, b.root, "git", "rev-parse", "HEAD"))
			spec.Policy.Setup = c.setup
			res := must[coppice.PrepareResult](t)(b.Prepare(b.ctx, spec))
			if err := writable(res.Path); err != nil { // also if root runs the tests
				t.Fatal(err)
			}
			c.do(t, res.Path)
			at, files, err := b.Changed(b.ctx, res.Path)
			if err != nil || at != spec.From || !slices.Equal(files, c.want) {
				t.Errorf("%s: %q, %v; want %q", at, files, err, c.want)
			}
			b.unlook("app-1.1")
			next := b.look("app-1.2", spec.From)
			if _, files, err := b.Changed(b.ctx, next.Path); err != nil || len(files) > 0 || fileExists(next.Path, "new") || fileExists(next.Path, "x.log") {
				t.Errorf("the next one finds %q, %v", files, err)
			}
		})
	}
}

func fileExists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

func TestOnlyChangesOfTheSessionAreFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if _, _, err := b.Changed(b.ctx, b.prepare("app-1").Path); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Error(err)
	}
}

func TestDetachedFilesAreReadOnly(t *testing.T) {
	t.Parallel()
	for name, dirs := range map[string]bool{"files": false, "directories too": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			res := b.look("app-1.1", run(t, b.root, "git", "rev-parse", "HEAD"))
			if err := writable(res.Path); err != nil {
				t.Fatal(err)
			}
			write(t, res.Path, "x.log", "not tracked")
			write(t, res.Path, "node_modules/m", "not tracked")
			if err := b.readOnly(b.ctx, res.Path, dirs); err != nil {
				t.Fatal(err)
			}
			for path, writes := range map[string]bool{"a.txt": false, "dir/b.txt": false, "x.log": true, "node_modules": true, "node_modules/m": true, ".": !dirs, "dir": !dirs} {
				st, err := os.Lstat(filepath.Join(res.Path, path))
				if err != nil || (st.Mode().Perm()&0o222 != 0) != writes {
					t.Errorf("%s: %v, %v", path, st.Mode(), err)
				}
			}
			if _, files, err := b.Changed(b.ctx, res.Path); err != nil || len(files) > 0 {
				t.Errorf("modes count as changes: %q, %v", files, err)
			}
			b.unlook("app-1.1")
			next := b.prepare("app-2")
			err := filepath.WalkDir(next.Path, func(p string, d fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				if st, err := d.Info(); err != nil || st.Mode().Perm()&0o200 == 0 {
					t.Errorf("%s stayed read-only: %v", p, err)
				}
				return nil
			})
			if err != nil || next.Path != res.Path {
				t.Errorf("%v in %s", err, next.Path)
			}
		})
	}
}

// TestDetachedSurvivesCrashes plays a crash at every step of making and removing
// it, and the next caller completes it.
func TestDetachedSurvivesCrashes(t *testing.T) {
	t.Parallel()
	crash := errors.New("crash")
	for _, at := range []string{"claimed", "checked out", "provided", "set up", "removing", "vacated"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			head := run(t, b.root, "git", "rev-parse", "HEAD")
			hit := false
			b.Step = func(name string) error {
				if name == at && !hit {
					hit = true
					return crash
				}
				return nil
			}
			_, err := b.Prepare(b.ctx, b.lookSpec("app-1.1", head))
			if hit != errors.Is(err, crash) {
				t.Fatal(err)
			}
			if res := b.look("app-1.1", head); res.Head != head {
				t.Errorf("prepared %+v", res)
			}
			if _, err := b.Remove(b.ctx, coppice.RemoveSpec{Key: "app-1.1", Repo: b.root}); err != nil && !errors.Is(err, crash) {
				t.Fatal(err)
			}
			if !hit {
				t.Fatal("no crash was played")
			}
			b.unlook("app-1.1")
			if list := must[[]slot](t)(b.slots(must[repo.Repo](t)(b.Find(b.ctx, b.root)))); len(list) != 1 || list[0].State != slotIdle {
				t.Errorf("slots %+v", list)
			}
		})
	}
}
