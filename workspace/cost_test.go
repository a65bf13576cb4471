package workspace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/workspace/git"
)

// TestCost counts the processes of git that a simple task takes: they are most
// of what a task costs besides its agent.
func TestCost(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	log, shim := filepath.Join(dir, "log"), filepath.Join(dir, "git")
	if err := os.WriteFile(shim, fmt.Appendf(nil, "#!/bin/sh\necho \"$*\" >>%q\nexec %q \"$@\"\n", log, real), 0o755); err != nil {
		t.Fatal(err)
	}
	b := &bundle{t: t, root: filepath.Join(dir, "repo"), ctx: t.Context(), Workspaces: open(t, dir)}
	newRepo(t, b.root)
	b.Workspaces.Git = must[*git.Runner](t)(git.New(git.Config{Program: shim, Env: append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "HOME="+dir)}))
	must[string](t)(b.Root(b.ctx, b.root)) // a repository is looked at once
	total := 0
	cost := func(what string, most int, do func()) {
		t.Helper()
		_ = os.Remove(log)
		do()
		text, _ := os.ReadFile(log)
		n := 0
		for line := range strings.Lines(string(text)) {
			// Settings are remembered, but not while their files are as new as here.
			if !strings.HasPrefix(line, "config --null --list") {
				n++
			}
		}
		if total += n; n > most {
			t.Errorf("%s takes %d processes, more than %d:\n%s", what, n, most, text)
		}
	}
	// The second one gets a used worktree, and much lands while the third one runs.
	for _, key := range []string{"app-1", "app-2", "app-3"} {
		total = 0
		var res coppice.PrepareResult
		var m coppice.MergeResult
		head := ""
		save := func() { head, _, err = b.Save(b.ctx, res.Path, "left over", coppice.Identity{}, []string{"notes"}) }
		cost("prepare", map[string]int{"app-1": 1}[key], func() { res = b.prepare(key) })
		cost("prepare again", 0, func() { res = b.prepare(key) })
		write(t, res.Path, "notes/n.txt", "never committed\n")
		cost("save nothing", 0, save)
		if err != nil || head != res.Head {
			t.Fatalf("saved %s: %v", head, err)
		}
		if err := os.RemoveAll(filepath.Join(res.Path, "notes")); err != nil {
			t.Fatal(err)
		}
		write(t, res.Path, key+".txt", "by the agent\n")
		cost("save something", 0, save)
		if err != nil {
			t.Fatal(err)
		}
		for range map[string]int{"app-3": 40}[key] {
			run(t, b.root, "git", "commit", "-q", "--allow-empty", "-m", "other")
		}
		spec := b.mergeSpec(head, coppice.StrategySquash)
		spec.Ref = landingRefs + key + "/1"
		cost("merge", 0, func() { m = must[coppice.MergeResult](t)(b.Merge(b.ctx, spec)) })
		check := coppice.CheckSpec{Repo: b.root, Commit: m.Commit, Tree: m.Tree, Commands: []string{"true"}}
		cost("check", 0, func() { must[coppice.CheckResult](t)(b.Check(b.ctx, check)) })
		move := b.moveSpec(m)
		move.Ref = spec.Ref
		cost("move", 0, func() {
			if got := must[coppice.MoveResult](t)(b.Move(b.ctx, move)); !got.Moved {
				t.Errorf("%+v", got)
			}
		})
		cost("remove", 0, func() { must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec(key))) })
		if t.Logf("%s took %d processes", key, total); total > 1 {
			t.Errorf("%s took %d processes", key, total)
		}
	}
}
