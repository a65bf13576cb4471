package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/workspace/repo"
)

func (b *bundle) checkSpec(commit string, commands ...string) coppice.CheckSpec {
	return coppice.CheckSpec{Repo: b.root, Commit: commit, Tree: run(b.t, b.own(), "git", "rev-parse", commit+"^{tree}"), Commands: commands, Timeout: coppice.Duration(time.Minute)}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.env = append(b.env, "SECRET_TOKEN=x")
	write(t, b.root, ".env", "A=1")
	head := b.candidate("app-1", "x.txt")
	spec := b.checkSpec(head, "cat x.txt; echo broken > a.txt; echo left > left.log", "cat a.txt; echo out; echo err >&2; exit 3",
		"test -z \"$SECRET_TOKEN\" && test -n \"$COPPICE_PORT\" && cat .env made.log", "kill -9 $$", "yes 0123456789 | head -c 1000000")
	spec.Policy = coppice.WorkspacePolicy{Copy: []string{".env"}, Setup: []string{"echo made > made.log"}, Ports: 1}
	got := must[coppice.CheckResult](t)(b.Check(b.ctx, spec))
	for i, want := range []struct {
		exit int
		log  string
	}{{0, "by app-1\n"}, {3, "one\ntwo\nthree\nout\nerr\n"}, {0, "A=1made\n"}, {137, "\nkilled by signal 9 (killed)\n"}} {
		if c := got.Checks[i]; c.Exit != want.exit || c.Log != want.log || c.Command != spec.Commands[i] || c.Tree != spec.Tree || c.Env != got.Env {
			t.Errorf("%+v", c)
		}
	}
	if long := got.Checks[4].Log; len(long) > maxLog+100 || !strings.Contains(long, "bytes left out") {
		t.Errorf("%d bytes of output are kept", len(long))
	}
	// The next one finds nothing of it, and another environment has another fingerprint.
	next := must[coppice.CheckResult](t)(b.Check(b.ctx, b.checkSpec(head, "ls -A")))
	if got := next.Checks[0].Log; got != ".git\n.gitignore\na.txt\ndir\nx.txt\n" {
		t.Errorf("left over: %s", got)
	}
	again := must[coppice.CheckResult](t)(b.Check(b.ctx, spec))
	write(t, b.root, ".env", "A=2")
	other := must[coppice.CheckResult](t)(b.Check(b.ctx, spec))
	if next.Env == got.Env || again.Env != got.Env || other.Env == got.Env {
		t.Errorf("environments %s, %s, %s, %s", next.Env, got.Env, again.Env, other.Env)
	}
	if own := must[slot](t)(readSlot(b.prepare("app-1").Path + ".json")); strings.HasPrefix(own.Name, checkPrefix) {
		t.Error("a check ran in an agent's workspace")
	}
}

// A check that fails reports the tree of the base, and runs there too.
func TestCheckOnTheBase(t *testing.T) {
	t.Parallel()
	b := setup(t)
	base := run(t, b.root, "git", "rev-parse", "main")
	spec := b.checkSpec(b.candidate("app-1", "x.txt"), "true")
	spec.Base = base
	if got := must[coppice.CheckResult](t)(b.Check(b.ctx, spec)); got.BaseTree != "" {
		t.Errorf("a check that passed needs the base %s", got.BaseTree)
	}
	spec.Commands = []string{"true", "test ! -f x.txt", "no-such-command"}
	got := must[coppice.CheckResult](t)(b.Check(b.ctx, spec))
	if tree := run(t, b.root, "git", "rev-parse", "main^{tree}"); got.BaseTree != tree || got.Checks[1].Missing() || !got.Checks[2].Missing() {
		t.Errorf("%+v, the tree of the base is %s", got, tree)
	}
	on := must[coppice.CheckResult](t)(b.Check(b.ctx, coppice.CheckSpec{
		Repo: b.root, Commit: base, Tree: got.BaseTree, Commands: spec.Commands[1:2], Timeout: spec.Timeout, OnBase: true,
	}))
	if !on.Checks[0].Passed() || on.Env != got.Env {
		t.Errorf("on the base: %+v, in %s and %s", on.Checks[0], on.Env, got.Env)
	}
	spec.Base = "HEAD; true"
	if _, err := b.Check(b.ctx, spec); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a base that is not a commit: %v", err)
	}
}

// A git that a check runs does not pack the repository.
func TestGitInACheckPacksNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run(t, b.root, "git", "config", "gc.auto", "1")
	run(t, b.root, "git", "config", "maintenance.auto", "true")
	got := must[coppice.CheckResult](t)(b.Check(b.ctx, b.checkSpec(run(t, b.root, "git", "rev-parse", "main"), "git config gc.auto; git config maintenance.auto")))
	if log := got.Checks[0].Log; log != "0\nfalse\n" {
		t.Errorf("the check's git sees %q", log)
	}
}

// heldPipe returns a pipe for a child to hold open. ended reports that it has ended.
func heldPipe(t *testing.T) (fifo string, ended <-chan error) {
	t.Helper()
	fifo = filepath.Join(t.TempDir(), "fifo")
	run(t, t.TempDir(), "mkfifo", fifo)
	read := make(chan error, 1)
	go func() { _, err := os.ReadFile(fifo); read <- err }()
	return fifo, read
}

func TestCheckTimeoutKillsTheGroup(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fifo, ended := heldPipe(t)
	spec := b.checkSpec(run(t, b.root, "git", "rev-parse", "HEAD"), "sleep 1000 > "+fifo+" & echo begun; sleep 1000")
	spec.Timeout = coppice.Duration(2 * time.Second)
	got := must[coppice.CheckResult](t)(b.Check(b.ctx, spec))
	if c := got.Checks[0]; c.Exit != 124 || !strings.Contains(c.Log, "begun") || !strings.Contains(c.Log, "stopped after 2s") {
		t.Errorf("%+v", c)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("a child outlived the check")
	}
	ctx, cancel := context.WithCancel(b.ctx)
	cancel()
	if _, err := b.Check(ctx, spec); err == nil {
		t.Error("a cancelled check has a result")
	}
}

func TestChecksAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var wg sync.WaitGroup
	for _, key := range []string{"app-1", "app-2", "app-3", "app-4"} {
		spec := b.checkSpec(b.candidate(key, "x.txt"), "cat x.txt")
		wg.Go(func() {
			if got := must[coppice.CheckResult](t)(b.Check(b.ctx, spec)); got.Checks[0].Log != "by "+key+"\n" {
				t.Errorf("%s: %+v", key, got)
			}
		})
	}
	wg.Wait()
}

func TestDiff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	head := b.candidate("app-1", "x.txt")
	path := b.prepare("app-1").Path
	write(t, path, "untracked.txt", "u\n")
	write(t, path, "a.txt", "changed\n")
	write(t, b.root, "later.txt", "m")
	commit(t, b.root, "later")
	before := print(t, must[string](t)(repo.GitDir(path)), "objects")
	got := must[string](t)(b.Diff(b.ctx, b.root, "main", head, false))
	if !strings.Contains(got, "+by app-1") || strings.Contains(got, "later") || strings.Contains(got, "untracked") {
		t.Error(got)
	}
	if got := must[string](t)(b.Diff(b.ctx, b.root, "main", "coppice/app-1", true)); !strings.Contains(got, "x.txt | 1 +") {
		t.Error(got)
	}
	got = must[string](t)(b.DiffWorkspace(b.ctx, path, "main", false))
	for _, want := range []string{"+by app-1", "+++ b/untracked.txt", "+changed"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if d := cmp.Diff(before, print(t, must[string](t)(repo.GitDir(path)), "objects")); d != "" {
		t.Errorf("the agent's index was touched: %s", d)
	}
	for _, bad := range []string{"--output=/tmp/x", "$(x)", "main..x"} {
		if _, err := b.Diff(b.ctx, b.root, bad, head, false); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestPersonIsUntouched does everything there is beside a checkout that is as
// dirty as can be, and compares every byte of it.
func TestPersonIsUntouched(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run(t, b.root, "git", "branch", "land-here")
	write(t, b.root, "a.txt", "stashed")
	run(t, b.root, "git", "stash", "-q")
	write(t, b.root, "staged.txt", "s")
	run(t, b.root, "git", "add", "staged.txt")
	write(t, b.root, "a.txt", "unstaged")
	write(t, b.root, "untracked.txt", "u")
	write(t, b.root, ".env", "e")
	before := print(t, b.root, ".git/objects", ".git/refs/heads/land-here", ".git/logs/refs/heads/land-here", ".git/refs/coppice")

	spec := b.spec("app-1")
	spec.Base, spec.Policy.Copy = "land-here", []string{".env"}
	res := must[coppice.PrepareResult](t)(b.Prepare(b.ctx, spec))
	write(t, res.Path, "x.txt", "x")
	head, _, err := b.Save(b.ctx, res.Path, "work", coppice.Identity{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ms := b.mergeSpec(head, coppice.StrategySquash)
	ms.Base = "land-here"
	m := must[coppice.MergeResult](t)(b.Merge(b.ctx, ms))
	must[coppice.CheckResult](t)(b.Check(b.ctx, b.checkSpec(m.Commit, "test -f x.txt")))
	mv := b.moveSpec(m)
	mv.Base = "land-here"
	if got := must[coppice.MoveResult](t)(b.Move(b.ctx, mv)); !got.Moved {
		t.Fatalf("%+v", got)
	}
	must[string](t)(b.DiffWorkspace(b.ctx, res.Path, "land-here", false))
	gone := must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-1")))
	must[coppice.PrepareResult](t)(b.Restore(b.ctx, b.restoreSpec("app-1", gone)))
	must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-1")))
	if err := b.Sweep(b.ctx); err != nil {
		t.Fatal(err)
	}
	after := print(t, b.root, ".git/objects", ".git/refs/heads/land-here", ".git/logs/refs/heads/land-here", ".git/refs/coppice")
	if d := cmp.Diff(before, after); d != "" {
		t.Error(d)
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one := b.prepare("app-1")
	two := b.prepare("app-2")
	must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-2")))
	lock := func(path string) string { return filepath.Join(must[string](t)(repo.GitDir(path)), "index.lock") }
	for _, l := range []string{lock(one.Path), lock(two.Path), filepath.Join(b.root, ".git/index.lock")} {
		write(t, filepath.Dir(l), filepath.Base(l), "")
	}
	if err := b.Sweep(b.ctx); err != nil {
		t.Fatal(err)
	}
	if !repo.Exists(lock(one.Path)) || repo.Exists(lock(two.Path)) {
		t.Error("the lock of an idle worktree goes, that of a workspace in use stays")
	}
	b.Now = func() time.Time { return time.Now().Add(time.Hour) }
	if err := b.Sweep(b.ctx); err != nil {
		t.Fatal(err)
	}
	if repo.Exists(lock(one.Path)) || !repo.Exists(filepath.Join(b.root, ".git/index.lock")) {
		t.Error("old locks of Coppice are removed, those of the person never")
	}
}
