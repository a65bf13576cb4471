//go:build linux

package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coppice"
)

// damages are commands by which agents harm their own workspaces, and a part of
// what the next session's prompt says about each.
var damages = []struct{ name, run, says string }{
	{"nested init", "git init -q vendor/lib", "vendor/lib"},
	{"nested repository", "git init -q vendor/lib && cd vendor/lib && touch x && git add x && git -c user.name=a -c user.email=a@x commit -qm x", "vendor/lib"},
	{"dot git in capitals", "mkdir -p sub/.GIT && echo x > sub/.GIT/config", ".GIT"},
	{"corrupt index", "echo garbage > .git/index", "index"},
	{"empty index", ": > .git/index", "index"},
	{"truncated index", "truncate -s 40 .git/index", "index"},
	{"dot git removed", "rm -rf .git", "deleted"},
	{"dot git redirected", "rm -rf .git; echo 'gitdir: /nowhere' > .git", "replaced"},
	{"dot git linked", "mv .git ../moved-$COPPICE_TASK; ln -s ../moved-$COPPICE_TASK .git", "replaced"},
	{"dot git emptied", "rm -rf .git/*", ".git/objects"},
	{"workspace deleted", "rm -rf \"$PWD\"", "deleted"},
	{"git directory deleted", "rm -rf \"$(git rev-parse --absolute-git-dir)\"", "deleted"},
	{"config broken", "echo '[broken' > .git/config", "config"},
	{"config removed", "rm .git/config", "config"},
	{"bare", "git config core.bare true", "core.bare"},
	{"work tree elsewhere", "git config core.worktree /nowhere", "core.worktree"},
	{"objects removed", "rm -rf .git/objects", ".git/objects"},
	{"refs removed", "rm -rf .git/refs", ".git/refs"},
	{"alternates removed", "rm .git/objects/info/alternates", "alternates"},
	{"common directory", "echo /nowhere > .git/commondir", "commondir"},
	{"missing blob", "git update-index --add --cacheinfo 100644,1111111111111111111111111111111111111111,zmissing && git update-index --skip-worktree zmissing && echo x > fine", "1111111111"},
	{"rebase in progress", "mkdir .git/rebase-merge", "rebase"},
}

// TestDamageStaysInItsTask has agents that harm their workspaces beside innocent
// ones, all in one track. The innocent tasks land. Each culprit gets one more
// session, whose prompt says what the damage is, and lands too.
func TestDamageStaysInItsTask(t *testing.T) {
	t.Parallel()
	var script strings.Builder
	script.WriteString("cases:\n")
	for i, d := range damages {
		fmt.Fprintf(&script, "  - {match: 'Harm %d\\.', session: 1, steps: [{write: {path: harm%d.txt, content: x}}, {run: %q}]}\n", i, i, d.run)
		// The second session does its work only if its prompt names the damage.
		fmt.Fprintf(&script, "  - {match: 'Harm %d\\.(?s:.*)%s', steps: [{run: %q}, {write: {path: fixed%d.txt, content: x}}]}\n", i, regexp.QuoteMeta(d.says), "rm -rf vendor sub .git/rebase-merge; git reset -q", i)
	}
	script.WriteString("  - {steps: [{run: 'mkdir -p done && echo $COPPICE_TASK > done/$COPPICE_TASK'}]}\n")
	w := newWorld(t, files{"coppice.yaml": policy, ".coppice/scripted.yaml": script.String()})
	w.serve()
	w.cli("project", "add")
	var harm, fine []string
	for i := range damages {
		harm = append(harm, w.new(fmt.Sprintf("Harm %d.", i)))
		if i%4 == 0 {
			fine = append(fine, w.new(fmt.Sprintf("Something fine %d", i)))
		}
	}
	for _, d := range w.landed(fine...) {
		if len(d.History) != 1 {
			t.Errorf("%s took %d sessions", d.Key, len(d.History))
		}
	}
	for i, d := range w.landed(harm...) {
		if len(d.History) != 2 {
			t.Errorf("%s: %d sessions: %v", damages[i].name, len(d.History), d.Failure)
			continue
		}
		if f := d.History[0].Failure; f == nil || f.Class != coppice.ClassImplementation || !strings.Contains(f.Text, damages[i].says) {
			t.Errorf("%s: the session failed with %+v", damages[i].name, f)
		}
	}
	if p, err := w.client.Project(t.Context(), "app"); err != nil || len(p.PausedTracks) > 0 || len(p.Strikes) > 0 {
		t.Errorf("tracks are paused %v, strikes %v, %v", p.PausedTracks, p.Strikes, err)
	}
	files := strings.Fields(w.git("ls-tree", "-r", "--name-only", "main"))
	for i := range damages {
		if !slices.Contains(files, fmt.Sprintf("fixed%d.txt", i)) {
			t.Errorf("%s: its work did not land", damages[i].name)
		}
	}
	w.git("fsck", "--strict")
	w.checkRepository()
}

// TestAnAgentCannotRedirectAPush has an agent that points the remote elsewhere.
// Nothing is pushed there, and the landing waits until a person has looked.
func TestAnAgentCannotRedirectAPush(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": policy + "land: {push: true}\n"})
	origin, evil := filepath.Join(w.Root, "origin.git"), filepath.Join(w.Root, "evil.git")
	w.git("clone", "--quiet", "--bare", w.repo, evil)
	clean := w.gitIn(evil, "rev-parse", "main")
	attack := fmt.Sprintf("git -C %s config remote.origin.pushurl %s", w.repo, evil)
	w.write(w.repo, files{".coppice/scripted.yaml": fmt.Sprintf("cases:\n  - {match: Redirect, steps: [{write: {path: x.txt, content: x}}, {run: %q}]}\n", attack)})
	w.git("add", "-A")
	w.git("commit", "-qm", "script")
	w.git("clone", "--quiet", "--bare", w.repo, origin)
	w.git("remote", "add", "origin", origin)
	before := w.git("rev-parse", "main")
	w.serve()
	w.cli("project", "add")
	key := w.new("Redirect the push")
	n := w.need(coppice.NeedGit, "git configuration")
	if !strings.Contains(n.Diff, "pushurl") || !strings.Contains(n.Diff, evil) {
		t.Errorf("the difference is %q", n.Diff)
	}
	if w.gitIn(origin, "rev-parse", "main") != before || w.gitIn(evil, "rev-parse", "main") != clean || w.git("rev-parse", "main") != before {
		t.Error("something moved")
	}
	w.git("config", "--unset", "remote.origin.pushurl")
	if r := w.try(w.repo, "", "land", key); r.code != 0 && !strings.Contains(r.err, "is landing already") { // it also tries again by itself
		t.Errorf("%+v", r)
	}
	d := w.landed(key)[0]
	if got := w.gitIn(origin, "rev-parse", "main"); got != d.Landed {
		t.Errorf("origin is at %s, not %s", got, d.Landed)
	}
	w.noNeed(coppice.NeedGit)
}
