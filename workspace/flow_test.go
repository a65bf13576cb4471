package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/workspace/repo"
)

const flowRef = trashRefs + "app-13-flow-1"

// flow creates the branch of the flow app-13.
func (b *bundle) flow() string {
	b.t.Helper()
	return must[coppice.BranchResult](b.t)(b.FlowBranch(b.ctx, coppice.BranchSpec{Repo: b.root, Branch: "coppice/app-13", From: "main"})).Tip
}

func (b *bundle) dropSpec() coppice.BranchSpec {
	return coppice.BranchSpec{Repo: b.root, Branch: "coppice/app-13", Drop: true, Ref: flowRef}
}

// step lands a file on the branch of the flow app-13, as a step of it does.
func (b *bundle) step(key, file string) string {
	b.t.Helper()
	spec := b.spec(key)
	spec.Base = "coppice/app-13"
	res := must[coppice.PrepareResult](b.t)(b.Prepare(b.ctx, spec))
	write(b.t, res.Path, file, "by "+key+"\n")
	return b.land("coppice/app-13", b.saved(res.Path), coppice.StrategySquash)
}

// land merges a head onto a branch and moves the branch.
func (b *bundle) land(base, head, strategy string) string {
	b.t.Helper()
	merge := b.mergeSpec(head, strategy)
	merge.Base = base
	m := must[coppice.MergeResult](b.t)(b.Merge(b.ctx, merge))
	if m.Commit == "" || m.Refused != "" {
		b.t.Fatalf("merging %s onto %s: %+v", head, base, m)
	}
	move := b.moveSpec(m)
	move.Base = base
	if res := must[coppice.MoveResult](b.t)(b.Move(b.ctx, move)); !res.Moved || b.run("git", "rev-parse", "refs/heads/"+base) != m.Commit {
		b.t.Fatalf("landing %s on %s: %+v", head, base, res)
	}
	return m.Commit
}

// prune removes everything from the person's repository that no ref of it has.
func (b *bundle) prune() {
	b.t.Helper()
	b.sh(b.root, "git reflog expire --expire=now --all; git gc -q --prune=now")
}

// The branch of a flow starts where its base is, and stays if it exists. No checkout
// changes.
func TestFlowBranchCreated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := print(t, b.root, ".git")
	start := b.base()
	if got := b.flow(); got != start || b.run("git", "rev-parse", "coppice/app-13") != start {
		t.Fatalf("the branch is at %s, want %s", got, start)
	}
	if got := b.run("git", "reflog", "show", "--format=%gs", "coppice/app-13"); got != "coppice: start of a flow" {
		t.Errorf("git's log of the branch has %q", got)
	}
	if after := print(t, b.root, ".git"); len(after) != len(before) || b.run("git", "status", "--porcelain") != "" {
		t.Errorf("the checkout has %d files, want %d", len(after), len(before))
	}
	b.run("git", "commit", "-q", "--allow-empty", "-m", "the base moves")
	if got := b.flow(); got != start {
		t.Errorf("a second request answers %s, want %s", got, start)
	}
	tip := b.step("app-14", "x.txt")
	if got := b.flow(); got != tip {
		t.Errorf("after a step the answer is %s, want %s", got, tip)
	}
}

func TestFlowBranchRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.run("git", "branch", "topic")
	before := b.run("git", "for-each-ref")
	for name, c := range map[string]struct {
		spec coppice.BranchSpec
		want coppice.Code
	}{
		"no base":            {coppice.BranchSpec{Branch: "coppice/app-13", From: "gone"}, coppice.ENotFound},
		"an invalid base":    {coppice.BranchSpec{Branch: "coppice/app-13", From: "-x"}, coppice.EInvalid},
		"without a base":     {coppice.BranchSpec{Branch: "coppice/app-13"}, coppice.EInvalid},
		"an invalid commit":  {coppice.BranchSpec{Branch: "coppice/app-13", From: "main", Head: "HEAD"}, coppice.EInvalid},
		"a missing commit":   {coppice.BranchSpec{Branch: "coppice/app-13", From: "main", Head: strings.Repeat("1", 40)}, coppice.ENotFound},
		"another branch":     {coppice.BranchSpec{Branch: "topic", Drop: true, Ref: flowRef}, coppice.EInvalid},
		"a session":          {coppice.BranchSpec{Branch: "coppice/app-13.1", From: "main"}, coppice.EInvalid},
		"a directory":        {coppice.BranchSpec{Branch: "coppice/x/app-13", From: "main"}, coppice.EInvalid},
		"no trash":           {coppice.BranchSpec{Branch: "coppice/app-13", Drop: true}, coppice.EInvalid},
		"a ref of no trash":  {coppice.BranchSpec{Branch: "coppice/app-13", Drop: true, Ref: "refs/heads/main"}, coppice.EInvalid},
		"a branch in a file": {coppice.BranchSpec{Branch: "coppice/app-13", From: "coppice"}, coppice.EConflict},
	} {
		c.spec.Repo = b.root
		if name == "a branch in a file" { // git cannot have both branches
			b.run("git", "branch", "coppice")
		}
		if _, err := b.FlowBranch(b.ctx, c.spec); coppice.ErrorCode(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if name == "a branch in a file" {
			b.run("git", "branch", "-D", "coppice")
		}
	}
	if after := b.run("git", "for-each-ref"); after != before {
		t.Errorf("the refs are\n%s\nwant\n%s", after, before)
	}
	if repo.Exists(filepath.Join(must[repo.Repo](t)(b.Use(b.ctx, b.root)).Dir, "move.json")) {
		t.Error("the record of a refused change is left")
	}
}

// The trash keeps the commits that only the branch of a flow has, and the branch can be
// created again from it, also after the person's git has pruned everything.
func TestFlowBranchDropped(t *testing.T) {
	t.Parallel()
	for _, packed := range []bool{false, true} {
		b := setup(t)
		b.flow()
		first := b.step("app-14", "x.txt")
		b.step("app-15", "y.txt")
		// Only the person's repository has the objects of a commit by the person.
		b.sh(b.root, "git worktree add -q ../tree coppice/app-13; cd ../tree; echo mine >mine.txt; git add -A; git commit -q -m mine; git worktree remove .")
		tip := b.run("git", "rev-parse", "coppice/app-13")
		if packed {
			b.run("git", "pack-refs", "--all")
		}
		want := coppice.BranchResult{Tip: tip, Kept: true}
		for range 2 { // the second time reports the same
			if got := must[coppice.BranchResult](t)(b.FlowBranch(b.ctx, b.dropSpec())); got != want {
				t.Fatalf("dropped %+v, want %+v", got, want)
			}
			if refs := b.run("git", "for-each-ref", "--format=%(refname)", "refs/heads"); refs != "refs/heads/main" {
				t.Fatalf("the person has %s", refs)
			}
		}
		b.run("git", "update-ref", "-d", repo.KeepRef)
		b.run("git", "update-ref", repo.KeepRef, "main")
		b.prune()
		if _, err := os.Stat(filepath.Join(b.root, ".git", "objects", tip[:2], tip[2:])); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("the person's repository still has the commit: %v", err)
		}
		if got := run(t, b.own(), "git", "show", flowRef+"^1^1^1:x.txt"); got != "by app-14" {
			t.Errorf("the trash has %q, want the file of %s", got, first)
		}
		run(t, b.own(), "git", "rev-list", "--objects", flowRef)
		back := coppice.BranchSpec{Repo: b.root, Branch: "coppice/app-13", From: "main", Head: tip}
		if got := must[coppice.BranchResult](t)(b.FlowBranch(b.ctx, back)); got.Tip != tip || b.run("git", "show", "coppice/app-13:mine.txt", "coppice/app-13:y.txt") != "mine\nby app-15" {
			t.Errorf("restored at %s, want %s", got.Tip, tip)
		}
		b.run("git", "fsck", "--strict")
		b.run("git", "pack-refs", "--all")
	}
}

// Nothing is kept of a branch whose commits another branch has, and nothing happens to
// a branch that does not exist.
func TestFlowBranchWithoutCommits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if got, err := b.FlowBranch(b.ctx, b.dropSpec()); err != nil || got != (coppice.BranchResult{}) {
		t.Errorf("a missing branch: %+v, %v", got, err)
	}
	start := b.flow()
	if got, err := b.FlowBranch(b.ctx, b.dropSpec()); err != nil || got != (coppice.BranchResult{Tip: start}) {
		t.Errorf("a branch without commits: %+v, %v; want %s, and nothing kept", got, err, start)
	}
	b.flow()
	tip := b.step("app-14", "x.txt")
	b.land("main", tip, coppice.StrategyMerge)
	if got, err := b.FlowBranch(b.ctx, b.dropSpec()); err != nil || got != (coppice.BranchResult{Tip: tip}) {
		t.Errorf("a merged branch: %+v, %v; want %s, and nothing kept", got, err, tip)
	}
	if refs := run(t, b.own(), "git", "for-each-ref", trashRefs); refs != "" {
		t.Errorf("the trash has %s", refs)
	}
}

// A branch that the person has checked out stays.
func TestFlowBranchCheckedOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.flow()
	tip := b.step("app-14", "x.txt")
	tree := filepath.Join(filepath.Dir(b.root), "tree")
	b.run("git", "worktree", "add", "-q", tree, "coppice/app-13")
	_, err := b.FlowBranch(b.ctx, b.dropSpec())
	if e := coppice.Public(err); coppice.ErrorCode(err) != coppice.EConflict || !strings.Contains(e.Cause, tree) || !strings.Contains(e.Fix, "git switch") {
		t.Errorf("a checked out branch: %v", err)
	}
	if refs := run(t, b.own(), "git", "for-each-ref", trashRefs); b.run("git", "rev-parse", "coppice/app-13") != tip || refs != "" {
		t.Errorf("the branch has moved, or the trash has %q", refs)
	}
	b.run("git", "worktree", "remove", "--force", tree)
	if got, err := b.FlowBranch(b.ctx, b.dropSpec()); err != nil || got != (coppice.BranchResult{Tip: tip, Kept: true}) {
		t.Errorf("afterwards: %+v, %v", got, err)
	}
}

// A crash at any step of a removal leaves nothing that a repeated one does not
// complete, and the answer is the same.
func TestFlowBranchCrash(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"flow kept", "recorded", "branch set"} {
		b := setup(t)
		b.flow()
		tip := b.step("app-14", "x.txt")
		crash := errors.New("crash")
		b.Step = func(name string) error {
			if name == at {
				return crash
			}
			return nil
		}
		if _, err := b.FlowBranch(b.ctx, b.dropSpec()); !errors.Is(err, crash) {
			t.Fatalf("no crash at %q: %v", at, err)
		}
		b.Step = func(string) error { return nil }
		if got, err := b.FlowBranch(b.ctx, b.dropSpec()); err != nil || got != (coppice.BranchResult{Tip: tip, Kept: true}) {
			t.Errorf("after a crash at %q: %+v, %v", at, got, err)
		}
		if refs := b.run("git", "for-each-ref", "refs/heads/coppice"); refs != "" {
			t.Errorf("after a crash at %q there is %s", at, refs)
		}
	}
}

// A step works on a branch that starts at the flow's, and lands there.
func TestFlowStep(t *testing.T) {
	t.Parallel()
	b := setup(t)
	main := b.base()
	b.flow()
	first := b.step("app-14", "x.txt")
	spec := b.spec("app-15")
	spec.Base = "coppice/app-13"
	res := must[coppice.PrepareResult](t)(b.Prepare(b.ctx, spec))
	if res.Head != first || res.BaseCommit != first || read(t, res.Path, "x.txt") != "by app-14\n" {
		t.Errorf("the second step starts at %s, from %s; want %s", res.Head, res.BaseCommit, first)
	}
	if got := run(t, res.Path, "git", "rev-parse", "coppice/app-13"); got != first {
		t.Errorf("the workspace has the flow at %s, want %s", got, first)
	}
	// Another step lands, and the flow ends, while this one works.
	third := b.step("app-16", "z.txt")
	write(t, res.Path, "y.txt", "y\n")
	head := b.saved(res.Path)
	if got := run(t, res.Path, "git", "rev-parse", "coppice/app-13"); got != third {
		t.Errorf("after a save the workspace has the flow at %s, want %s", got, third)
	}
	tip := b.land("coppice/app-13", head, coppice.StrategySquash)
	other := b.prepare("app-17") // it has the flow's branch among its refs
	must[coppice.BranchResult](t)(b.FlowBranch(b.ctx, b.dropSpec()))
	for _, path := range []string{res.Path, other.Path} {
		if got := must[[]coppice.StrayBranch](t)(b.Strays(b.ctx, path)); len(got) > 0 {
			t.Errorf("%s has the stray branches %+v", path, got)
		}
	}
	// What the agent itself commits there is its own.
	run(t, other.Path, "git", "checkout", "-q", "coppice/app-13")
	mine := commit(t, other.Path, "mine")
	run(t, other.Path, "git", "checkout", "-q", "coppice/app-17")
	run(t, other.Path, "git", "pack-refs", "--all")
	if got := must[[]coppice.StrayBranch](t)(b.Strays(b.ctx, other.Path)); len(got) != 1 || got[0].Head != mine || !got[0].Own {
		t.Errorf("the stray branches are %+v, want coppice/app-13 at %s", got, mine)
	}
	if b.base() != main || tip == third {
		t.Errorf("main is at %s, want %s", b.base(), main)
	}
}

// The work of a flow lands on the base: directly, or after a session has changed it in
// a workspace on the flow's branch.
func TestFlowLands(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{coppice.StrategySquash, coppice.StrategyMerge, coppice.StrategyRebase} {
		for _, fixed := range []bool{false, true} {
			b := setup(t)
			start := b.flow()
			b.step("app-14", "x.txt")
			tip := b.step("app-15", "y.txt")
			write(t, b.root, "main.txt", "m\n")
			commit(t, b.root, "the base moves")
			head := tip
			if fixed {
				spec := b.spec("app-13")
				spec.From = "coppice/app-13"
				var res coppice.PrepareResult
				for range 2 { // the second time finds it
					res = must[coppice.PrepareResult](t)(b.Prepare(b.ctx, spec))
					if res.Head != tip || res.BaseCommit != start || run(t, res.Path, "git", "symbolic-ref", "--short", "HEAD") != "coppice/app-13" {
						t.Fatalf("the workspace is at %s from %s, want %s from %s", res.Head, res.BaseCommit, tip, start)
					}
				}
				write(t, res.Path, "fix.txt", "fixed\n")
				head = b.saved(res.Path)
				if got := must[[]coppice.StrayBranch](t)(b.Strays(b.ctx, res.Path)); len(got) > 0 {
					t.Errorf("stray branches %+v", got)
				}
			}
			b.land("main", head, strategy)
			want := map[bool]string{false: "main.txt\nx.txt\ny.txt", true: "fix.txt\nmain.txt\nx.txt\ny.txt"}[fixed]
			if got := b.run("git", "diff", "--name-only", start, "main"); got != want {
				t.Errorf("%s, fixed %t: main has %q, want %q", strategy, fixed, got, want)
			}
			if b.run("git", "rev-parse", "coppice/app-13") != tip || b.run("git", "status", "--porcelain") != "" {
				t.Errorf("%s: the flow's branch has moved, or the checkout did not follow", strategy)
			}
			if fixed {
				must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-13")))
			}
			kept := strategy != coppice.StrategyMerge
			if got, err := b.FlowBranch(b.ctx, b.dropSpec()); err != nil || got != (coppice.BranchResult{Tip: tip, Kept: kept}) {
				t.Errorf("%s: dropped %+v, %v; want kept %t", strategy, got, err, kept)
			}
			b.run("git", "fsck", "--strict")
		}
	}
}

// Moves of a flow's branch by Coppice need no confirmation. A person who merges the
// branch by hand has to confirm it.
func TestFlowBranchMoves(t *testing.T) {
	t.Parallel()
	b := setup(t)
	from := b.base()
	start := b.flow()
	tip := b.step("app-14", "x.txt")
	if why, err := b.BaseMoved(b.ctx, b.root, "coppice/app-13", start, tip, nil); err != nil || why != "" {
		t.Errorf("a landing of a step: %q, %v", why, err)
	}
	b.sh(b.root, "git merge -q coppice/app-13")
	if why, err := b.BaseMoved(b.ctx, b.root, "main", from, b.base(), nil); err != nil || !strings.Contains(why, "of coppice/app-13, which Coppice did not land") {
		t.Errorf("a merge by a person: %q, %v", why, err)
	}
}
