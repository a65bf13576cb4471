package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/workspace/repo"
)

func (b *bundle) mergeSpec(head, strategy string) coppice.MergeSpec {
	return coppice.MergeSpec{Repo: b.root, Base: "main", Head: head, Strategy: strategy, Message: "Do it\n\nTask: app-1\nSession: app-1.1\n",
		At: time.Unix(1700001000, 0), Ref: "refs/coppice/land/app-1"}
}

func (b *bundle) moveSpec(m coppice.MergeResult) coppice.MoveSpec {
	return coppice.MoveSpec{Repo: b.root, Base: "main", Old: m.Base, New: m.Commit, Ref: "refs/coppice/land/app-1"}
}

// candidate commits each file as a separate commit and returns the last.
func (b *bundle) candidate(key string, files ...string) string {
	b.t.Helper()
	res := b.prepare(key)
	for _, f := range files {
		write(b.t, res.Path, f, "by "+key+"\n")
		commit(b.t, res.Path, "Add "+f)
	}
	head, _, err := b.Save(b.ctx, res.Path, "nothing is left", coppice.Identity{}, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return head
}

// saved is the head of a workspace, as Coppice knows it.
func (b *bundle) saved(path string) string {
	b.t.Helper()
	head, _, err := b.Save(b.ctx, path, "nothing is left", coppice.Identity{}, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return head
}

func TestMerge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	head := b.candidate("app-1", "x.txt", "y.txt")
	write(t, b.root, "base.txt", "base")
	base := commit(t, b.root, "later")
	before := print(t, b.root, ".git")
	for strategy, want := range map[string]string{
		coppice.StrategySquash: "Bot|Ann|Do it|" + base,
		coppice.StrategyMerge:  "Bot|Ann|Do it|" + base + " " + head,
		coppice.StrategyRebase: "Bot|Ann|Add y.txt|",
	} {
		one := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(head, strategy)))
		two := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(head, strategy)))
		if d := cmp.Diff(one, two); d != "" || one.Commit == "" || one.Base != base {
			t.Errorf("%s: %+v %s", strategy, one, d)
		}
		if got := run(t, b.own(), "git", "log", "-1", "--format=%an|%cn|%s|%P", one.Commit); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", strategy, got)
		}
		if got := run(t, b.own(), "git", "log", "-1", "--format=%(trailers:only)", one.Commit); got != "Task: app-1\nSession: app-1.1" {
			t.Errorf("%s: trailers %q", strategy, got)
		}
		if got := run(t, b.own(), "git", "ls-tree", "-r", "--name-only", one.Tree); got != ".gitignore\na.txt\nbase.txt\ndir/b.txt\nx.txt\ny.txt" {
			t.Errorf("%s: %s", strategy, got)
		}
		if got := run(t, b.own(), "git", "rev-parse", "refs/coppice/land/app-1"); got != one.Commit {
			t.Errorf("%s: kept %s", strategy, got)
		}
		if n := run(t, b.own(), "git", "rev-list", "--count", base+".."+one.Commit); strategy == coppice.StrategyRebase && n != "2" {
			t.Errorf("%s commits were replayed", n)
		}
	}
	if got := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(base, coppice.StrategySquash))); !got.Empty || got.Commit != "" {
		t.Errorf("%+v", got)
	}
	if d := cmp.Diff(before, print(t, b.root, ".git")); d != "" {
		t.Error(d)
	}
}

// TestSquashKeepsMessages checks that a squashed commit says what the commits said
// that it replaces.
func TestSquashKeepsMessages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	message := func(head string) string {
		t.Helper()
		m := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(head, coppice.StrategySquash)))
		return run(t, b.own(), "git", "log", "-1", "--format=%B", m.Commit)
	}
	const trailers = "\nTask: app-1\nSession: app-1.1"
	one := b.prepare("app-1")
	write(t, one.Path, "x.txt", "x")
	commit(t, one.Path, "Add x\n\nIt is needed.\n\nCoppice-Session: app-1.1")
	if got, want := message(b.saved(one.Path)), "Do it\n\n* Add x\n\n  It is needed.\n"+trailers; got != want {
		t.Errorf("one commit: %q, want %q", got, want)
	}
	write(t, one.Path, "y.txt", "y")
	commit(t, one.Path, "Do it\n\nCoppice-Task: app-1\nCoppice-Session: app-1.1") // by Coppice itself
	write(t, one.Path, "z.txt", "z")
	commit(t, one.Path, "Add \x1b[31mz")
	if got, want := message(b.saved(one.Path)), "Do it\n\n* Add x\n\n  It is needed.\n* Add z\n"+trailers; got != want {
		t.Errorf("three commits: %q, want %q", got, want)
	}
	for i := range 30 {
		write(t, one.Path, "n.txt", strconv.Itoa(i))
		commit(t, one.Path, fmt.Sprintf("Step %d\n\n%s", i, strings.Repeat("very long ", 50)))
	}
	if got := message(b.saved(one.Path)); len(got) > 5000 || !strings.Contains(got, "* Step 10\n") || !strings.HasSuffix(got, "\n* …\n"+trailers) {
		t.Errorf("many commits: %q", got)
	}
}

func TestMergeConflicts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	res := b.prepare("app-1")
	write(t, res.Path, "a.txt", "one\nTWO\nthree\n")
	write(t, res.Path, "bin", "\x00\x01")
	if err := os.Remove(filepath.Join(res.Path, "dir/b.txt")); err != nil {
		t.Fatal(err)
	}
	commit(t, res.Path, "theirs")
	head := b.saved(res.Path)
	write(t, b.root, "a.txt", "one\n2\nthree\n")
	write(t, b.root, "bin", "\x00\x02")
	write(t, b.root, "dir/b.txt", "changed")
	commit(t, b.root, "ours")
	got := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(head, coppice.StrategySquash)))
	if got.Commit != "" || len(got.Conflicts) != 3 {
		t.Fatalf("%+v", got)
	}
	for i, want := range []struct{ path, has string }{
		{"a.txt", "one\n<<<<<<< main\n2\n"}, {"bin", "Cannot merge binary files"}, {"dir/b.txt", "deleted in the candidate and modified in main"},
	} {
		if c := got.Conflicts[i]; c.Path != want.path || !strings.Contains(c.Text, want.has) {
			t.Errorf("%+v", c)
		}
	}
	if !strings.Contains(got.Conflicts[0].Text, "TWO\n>>>>>>> the candidate\n") {
		t.Error(got.Conflicts[0].Text)
	}
}

func TestLinkNeverLands(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write(t, b.root, "node_modules/x.js", "x")
	spec := b.spec("app-1")
	spec.Policy.Link = []string{"node_modules"}
	res := must[coppice.PrepareResult](t)(b.Prepare(b.ctx, spec))
	write(t, res.Path, "work.txt", "w")
	commit(t, res.Path, "everything") // git add -A: the link is not ignored
	head := b.saved(res.Path)
	if !strings.Contains(run(t, b.own(), "git", "ls-tree", "--name-only", head), "node_modules") {
		t.Fatal("the agent did not commit the link")
	}
	for _, s := range []string{coppice.StrategySquash, coppice.StrategyMerge, coppice.StrategyRebase} {
		m := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(head, s)))
		if got := run(t, b.own(), "git", "ls-tree", "--name-only", m.Commit); strings.Contains(got, "node_modules") || !strings.Contains(got, "work.txt") {
			t.Errorf("%s: %s", s, got)
		}
	}
}

func TestMove(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(b.candidate("app-1", "x.txt", "a.txt"), coppice.StrategySquash)))
	blocked := func(name, has string, do, undo func()) {
		t.Helper()
		do()
		before := print(t, b.root)
		got := must[coppice.MoveResult](t)(b.Move(b.ctx, b.moveSpec(m)))
		if got.Moved || got.Now != m.Base || !strings.Contains(got.Blocked, has) || !strings.Contains(got.Blocked, b.root) {
			t.Errorf("%s: %+v", name, got)
		}
		if d := cmp.Diff(before, print(t, b.root)); d != "" {
			t.Errorf("%s: the checkout changed: %s", name, d)
		}
		undo()
	}
	reset := func() { run(t, b.root, "git", "reset", "-q", "--hard") }
	drop := func(name string) func() { return func() { _ = os.RemoveAll(filepath.Join(b.root, name)) } }
	blocked("dirty", `"a.txt"`, func() { write(t, b.root, "a.txt", "mine") }, reset)
	blocked("deleted", `"a.txt"`, drop("a.txt"), reset)
	blocked("staged", `"a.txt"`, func() { write(t, b.root, "a.txt", "s"); run(t, b.root, "git", "add", "a.txt") }, reset)
	blocked("staged where a file comes", `"x.txt"`, func() { write(t, b.root, "x.txt", "s"); run(t, b.root, "git", "add", "x.txt") }, reset)
	blocked("untracked in the way", "x.txt", func() { write(t, b.root, "x.txt", "mine") }, drop("x.txt"))
	for _, p := range repo.Operations {
		blocked(p.File, p.What, func() { write(t, b.root, ".git/"+p.File, m.Base) }, drop(".git/"+p.File))
	}
	blocked("rebase of the base", "a rebase of main", func() {
		run(t, b.root, "git", "checkout", "-q", "--detach")
		write(t, b.root, ".git/rebase-merge/head-name", "refs/heads/main\n")
	}, func() { drop(".git/rebase-merge")(); run(t, b.root, "git", "checkout", "-q", "main") })

	write(t, b.root, "untracked.txt", "stays")
	got := must[coppice.MoveResult](t)(b.Move(b.ctx, b.moveSpec(m)))
	if want := (coppice.MoveResult{Moved: true, Now: m.Commit}); got != want {
		t.Fatalf("%+v", got)
	}
	if s := run(t, b.root, "git", "status", "--porcelain"); s != "?? untracked.txt" || read(t, b.root, "x.txt") != "by app-1\n" {
		t.Errorf("the checkout did not follow: %s", s)
	}
	if again := must[coppice.MoveResult](t)(b.Move(b.ctx, b.moveSpec(m))); again != got {
		t.Errorf("%+v", again)
	}
	if refs := run(t, b.own(), "git", "for-each-ref", "refs/coppice/land"); refs != "" {
		t.Error(refs)
	}
	// Somebody else moved it: the result says so, and nothing changes.
	old := b.moveSpec(m)
	old.New = b.candidate("app-2", "z.txt")
	if res, err := b.Move(b.ctx, old); err != nil || res.Moved || res.Now != m.Commit || res.Blocked != "" {
		t.Errorf("%+v %v", res, err)
	}
}

func TestMoveTouched(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(b.candidate("app-1", "a.txt"), coppice.StrategySquash)))
	then := time.Unix(1600000000, 0)
	if err := os.Chtimes(filepath.Join(b.root, "a.txt"), then, then); err != nil {
		t.Fatal(err)
	}
	if got := must[coppice.MoveResult](t)(b.Move(b.ctx, b.moveSpec(m))); !got.Moved || read(t, b.root, "a.txt") != "by app-1\n" {
		t.Errorf("%+v", got)
	}
}

// TestReplacedCommit has an agent that makes a commit look like another one:
// what is judged and what lands is the commit itself.
func TestReplacedCommit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(b.candidate("app-1", "bad.txt"), coppice.StrategySquash)))
	run(t, b.own(), "git", "replace", m.Commit, b.candidate("app-2", "good.txt"))
	spec := coppice.CheckSpec{Repo: b.root, Commit: m.Commit, Tree: m.Tree, Commands: []string{"test -f bad.txt"}}
	if got := must[coppice.CheckResult](t)(b.Check(b.ctx, spec)); got.Checks[0].Exit != 0 {
		t.Errorf("the check saw another commit: %+v", got)
	}
}

func TestMoveCrash(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(b.candidate("app-1", "x.txt", "a.txt"), coppice.StrategySquash)))
	var got coppice.MoveResult
	crashes(t, b.Workspaces, func() (err error) {
		got, err = b.Move(b.ctx, b.moveSpec(m))
		return err
	})
	if !got.Moved || run(t, b.root, "git", "status", "--porcelain") != "" || read(t, b.root, "x.txt") != "by app-1\n" {
		t.Errorf("%+v %s", got, run(t, b.root, "git", "status"))
	}
}

func TestMoveRace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := open(t, filepath.Dir(b.root)) // as another process
	var specs []coppice.MoveSpec
	for i := range 8 {
		spec := b.mergeSpec(b.candidate(fmt.Sprintf("app-%d", i+1), fmt.Sprintf("x%d", i)), coppice.StrategySquash)
		spec.Ref += fmt.Sprint(i)
		move := b.moveSpec(must[coppice.MergeResult](t)(b.Merge(b.ctx, spec)))
		move.Ref = spec.Ref
		specs = append(specs, move)
	}
	results := make([]coppice.MoveResult, len(specs))
	var wg sync.WaitGroup
	for i, s := range specs {
		w := []*Workspaces{b.Workspaces, other}[i%2]
		wg.Go(func() { results[i] = must[coppice.MoveResult](t)(w.Move(b.ctx, s)) })
	}
	wg.Wait()
	won := 0
	now := run(t, b.root, "git", "rev-parse", "main")
	for _, r := range results {
		if r.Moved {
			won++
		}
		if r.Now != now || r.Blocked != "" {
			t.Errorf("%+v, the base is at %s", r, now)
		}
	}
	if s := run(t, b.root, "git", "status", "--porcelain"); won != 1 || s != "" {
		t.Errorf("%d won; status %s", won, s)
	}
}

// pushSpec asks to push what a move is about to land.
func pushSpec(m coppice.MoveSpec) coppice.PushSpec {
	return coppice.PushSpec{Repo: m.Repo, Base: m.Base, Old: m.Old, New: m.New}
}

func TestPush(t *testing.T) {
	t.Parallel()
	b := setup(t)
	remote := filepath.Join(filepath.Dir(b.root), "remote.git")
	run(t, b.root, "git", "clone", "-q", "--bare", b.root, remote)
	head := b.candidate("app-1", "x.txt")
	merge := func() coppice.MoveSpec {
		return b.moveSpec(must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(head, coppice.StrategySquash))))
	}
	push := func() coppice.PushResult { return must[coppice.PushResult](t)(b.Push(b.ctx, pushSpec(merge()))) }
	spec := merge()
	if res := push(); res.Pushed || !strings.Contains(res.Blocked, "git remote add origin") {
		t.Errorf("no remote: %+v", res)
	}
	run(t, b.root, "git", "remote", "add", "origin", remote)
	// What would block the move keeps the remote where it is.
	write(t, b.root, "x.txt", "the person's")
	if res := push(); res.Pushed || res.Need == nil || res.Need.Kind != coppice.NeedCheckout || !strings.Contains(res.Blocked, "x.txt") {
		t.Errorf("a file in the way: %+v", res)
	}
	if at := run(t, remote, "git", "rev-parse", "main"); at != spec.Old {
		t.Errorf("the remote moved to %s", at)
	}
	must[string](t)("", os.Remove(filepath.Join(b.root, "x.txt")))
	// Somebody pushed first: the base takes it over and the landing begins again.
	clone := filepath.Join(filepath.Dir(b.root), "clone")
	run(t, b.root, "git", "clone", "-q", remote, clone)
	write(t, clone, "theirs.txt", "t")
	theirs := commit(t, clone, "theirs")
	run(t, clone, "git", "push", "-q", "origin", "main")
	if got, want := push(), (coppice.PushResult{Now: theirs}); got != want {
		t.Fatalf("%+v", got)
	}
	if s := run(t, b.root, "git", "status", "--porcelain"); s != "" || read(t, b.root, "theirs.txt") != "t" {
		t.Error("the checkout did not follow the remote")
	}
	if got := must[coppice.PushResult](t)(b.Push(b.ctx, pushSpec(spec))); got != (coppice.PushResult{Now: theirs}) {
		t.Errorf("the base is elsewhere: %+v", got)
	}
	spec = merge()
	var got coppice.PushResult
	crashes(t, b.Workspaces, func() (err error) { got, err = b.Push(b.ctx, pushSpec(spec)); return err })
	if at := run(t, remote, "git", "rev-parse", "main"); !got.Pushed || at != spec.New || run(t, b.root, "git", "rev-parse", "main") != spec.Old {
		t.Errorf("%+v, the remote is at %s", got, at)
	}
	run(t, b.root, "git", "fetch", "-q", "origin") // a person does, and is where the remote is
	run(t, b.root, "git", "merge", "-q", "--ff-only", "origin/main")
	if got = pushAgain(t, b, spec); !got.Pushed || got.Now != spec.New {
		t.Errorf("the base has it already: %+v", got)
	}
	spec.Pushed = true
	if got := must[coppice.MoveResult](t)(b.Move(b.ctx, spec)); !got.Moved {
		t.Errorf("%+v", got)
	}
	// Somebody pushed more on top of it.
	run(t, clone, "git", "pull", "-q", "--ff-only")
	write(t, clone, "more.txt", "t")
	commit(t, clone, "more")
	run(t, clone, "git", "push", "-q", "origin", "main")
	if got = pushAgain(t, b, spec); !got.Pushed {
		t.Errorf("the remote moved: %+v", got)
	}
	// Both have other commits: a person has to decide.
	write(t, b.root, "local.txt", "l")
	commit(t, b.root, "local")
	head = b.candidate("app-2", "z.txt")
	if got = push(); got.Pushed || !strings.Contains(got.Blocked, "diverged") {
		t.Errorf("%+v", got)
	}
	// A remote that is not there.
	run(t, b.root, "git", "remote", "set-url", "origin", remote+"-gone")
	var f *coppice.Failure
	if _, err := b.Push(b.ctx, pushSpec(merge())); !errors.As(err, &f) || f.Class != coppice.ClassEnvironment {
		t.Errorf("%v", err)
	}
}

func pushAgain(t *testing.T, b *bundle, spec coppice.MoveSpec) coppice.PushResult {
	t.Helper()
	return must[coppice.PushResult](t)(b.Push(b.ctx, pushSpec(spec)))
}

// A move that an earlier version offered pushes before it moves. The
// remote-tracking branch follows each pushed move.
func TestMoveThatPushes(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bundle, *coppice.MoveSpec){
		"pushed by itself": func(_ *bundle, s *coppice.MoveSpec) { s.Push = true },
		"pushed before": func(b *bundle, s *coppice.MoveSpec) {
			s.Pushed = must[coppice.PushResult](t)(b.Push(b.ctx, pushSpec(*s))).Pushed
		},
	} {
		b := setup(t)
		remote := filepath.Join(filepath.Dir(b.root), "remote.git")
		run(t, b.root, "git", "clone", "-q", "--bare", b.root, remote)
		run(t, b.root, "git", "remote", "add", "origin", remote)
		run(t, b.root, "git", "fetch", "-q", "origin")
		spec := b.moveSpec(must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(b.candidate("app-1", "x.txt"), coppice.StrategySquash))))
		change(b, &spec)
		if got := must[coppice.MoveResult](t)(b.Move(b.ctx, spec)); !got.Moved {
			t.Errorf("%s: %+v", name, got)
		}
		for dir, ref := range map[string]string{remote: "main", b.root: "origin/main"} {
			if at := run(t, dir, "git", "rev-parse", ref); at != spec.New {
				t.Errorf("%s: %s of %s is at %s", name, ref, dir, at)
			}
		}
	}
}

// A merge onto a commit that has not landed yet can land right after it, and the
// same merge makes the same commit.
func TestMergeOnto(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(b.candidate("app-1", "x.txt"), coppice.StrategySquash)))
	spec := b.mergeSpec(b.candidate("app-2", "y.txt"), coppice.StrategySquash)
	spec.Ref, spec.Onto, spec.Seen = "refs/coppice/land/app-2", first.Commit, "0123456789012345678901234567890123456789"
	second := must[coppice.MergeResult](t)(b.Merge(b.ctx, spec))
	if second.Base != first.Commit || second.Need != nil || second.Commit == "" {
		t.Fatalf("%+v", second)
	}
	if got := must[coppice.MoveResult](t)(b.Move(b.ctx, b.moveSpec(first))); !got.Moved {
		t.Fatalf("%+v", got)
	}
	spec.Onto, spec.Seen = "", first.Commit
	if again := must[coppice.MergeResult](t)(b.Merge(b.ctx, spec)); again.Commit != second.Commit {
		t.Errorf("the commit is %s, onto the branch it is %s", second.Commit, again.Commit)
	}
	move := b.moveSpec(second)
	move.Ref = spec.Ref
	if got := must[coppice.MoveResult](t)(b.Move(b.ctx, move)); !got.Moved || read(t, b.root, "x.txt") == "" || read(t, b.root, "y.txt") == "" {
		t.Errorf("%+v", got)
	}
}

// A push that is tried again finds that the remote has the commit, also when
// something has come in the way here in the meantime.
func TestPushedBefore(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bundle){
		"a file in the way":   func(b *bundle) { write(t, b.root, "x.txt", "the person's") },
		"the base moved here": func(b *bundle) { write(t, b.root, "local.txt", "l"); commit(t, b.root, "local") },
	} {
		b := setup(t)
		remote := filepath.Join(filepath.Dir(b.root), "remote.git")
		run(t, b.root, "git", "init", "-q", "--bare", remote)
		run(t, b.root, "git", "remote", "add", "origin", remote)
		spec := b.moveSpec(must[coppice.MergeResult](t)(b.Merge(b.ctx, b.mergeSpec(b.candidate("app-1", "x.txt"), coppice.StrategySquash))))
		change(b)
		if got := pushAgain(t, b, spec); got.Pushed {
			t.Errorf("%s: %+v, and the remote has nothing", name, got)
		}
		run(t, b.own(), "git", "push", "-q", remote, spec.New+":refs/heads/main")
		if got := pushAgain(t, b, spec); !got.Pushed {
			t.Errorf("%s: %+v, and the remote has it", name, got)
		}
		clone := filepath.Join(filepath.Dir(b.root), "clone")
		run(t, b.root, "git", "clone", "-q", "-b", "main", remote, clone)
		write(t, clone, "more.txt", "t")
		commit(t, clone, "more")
		run(t, clone, "git", "push", "-q", "origin", "main")
		if got := pushAgain(t, b, spec); !got.Pushed {
			t.Errorf("%s: %+v, and the remote moved on top of it", name, got)
		}
	}
}
