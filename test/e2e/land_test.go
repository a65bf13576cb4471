//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

func TestAFailedCheckIsFixed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{
		"coppice.yaml": policy + "checks: [sh check.sh]\n",
		"check.sh":     "[ ! -f count ] || [ \"$(cat count)\" = 3 ] || { echo \"expected 3 but found $(cat count)\"; exit 7; }\n",
		".coppice/scripted.yaml": `cases:
  - role: implement
    steps: [write: {path: count, content: "2\n"}]
  - role: fix
    steps: [write: {path: count, content: "3\n"}]
`})
	w.serve()
	key := w.new("Count")
	d := w.landed(key)[0]
	want(t, "landings", outcomes(d), []coppice.LandingOutcome{coppice.LandingRefused, coppice.LandingLanded})
	fix := w.session(key + ".2")
	if fix.Role != coppice.RoleFix {
		t.Errorf("the second session's role is %s", fix.Role)
	}
	w.wantPrompt(fix.Key, "$ sh check.sh", "expected 3 but found 2", "exit code 7")
	w.wantOnBase("count", "3")
	if got := w.git("rev-list", "--count", "main"); got != "2" {
		t.Errorf("main has %s commits", got)
	}
}

func TestAConflictIsHandedBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"line": "nobody\n", ".coppice/scripted.yaml": `cases:
  - {match: slow, role: implement, steps: [{write: {path: line, content: "slow\n"}}, {wait_message: true}]}
  - {match: slow, role: fix, steps: [{merge: {resolve: {line: "quick and slow\n"}}}]}
  - {match: quick, steps: [{write: {path: line, content: "quick\n"}}]}
`})
	w.serve()
	slow := w.new("The slow one")
	w.working(slow, coppice.SessionIdle)
	w.landed(w.new("The quick one"))
	w.cli("send", slow, "continue")
	d := w.landed(slow)[0]
	want(t, "landings", outcomes(d), []coppice.LandingOutcome{coppice.LandingConflict, coppice.LandingLanded})
	w.wantPrompt(slow+".2", "== line", "<<<<<<<", "quick\n", "slow\n", "Merge main into your branch")
	w.wantOnBase("line", "quick and slow")
}

func TestLandByHand(t *testing.T) {
	t.Parallel()
	for how, stage := range map[string]coppice.Stage{coppice.LandBranch: coppice.StageHeld, coppice.LandReview: coppice.StageReview} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, files{"coppice.yaml": policy + "land: {how: " + how + "}\nchecks: ['true']\n", ".coppice/scripted.yaml": "cases: [{steps: [{write: {path: a, content: b}}]}]\n"})
			w.serve()
			before := w.git("rev-parse", "main")
			key := w.new("Wait for me")
			d := w.await(key, "a person's turn", func(d api.TaskDetail) bool { return d.Stage == stage })
			if d.Status != coppice.StatusNeedsYou || len(d.CheckRuns) != 1 {
				t.Errorf("%s after %d checks", d.Status, len(d.CheckRuns))
			}
			if got := w.git("rev-parse", "main"); got != before {
				t.Error("main moved before anybody said so")
			}
			if out := w.cli("status"); !strings.Contains(out, d.Reason) || !strings.Contains(out, "coppice land "+key) {
				t.Errorf("the status does not say what to do:\n%s", out)
			}
			w.cli("land", key)
			if d := w.landed(key)[0]; w.git("rev-parse", "main") != d.Landed {
				t.Error("main is elsewhere")
			}
		})
	}
}

// mine describes what belongs to the person: every file of the checkout, the
// index, the stash and the branches besides Coppice's.
func (w *world) mine(base bool) string {
	w.t.Helper()
	index, err := os.ReadFile(filepath.Join(w.repo, ".git", "index"))
	if err != nil {
		w.t.Fatal(err)
	}
	var refs []string
	for _, line := range strings.Split(w.git("for-each-ref", "--format=%(refname) %(objectname)"), "\n") {
		if strings.Contains(line, "/coppice/") || !base && strings.HasPrefix(line, "refs/heads/main ") {
			continue
		}
		refs = append(refs, line)
	}
	head, err := os.ReadFile(filepath.Join(w.repo, ".git", "HEAD"))
	if err != nil {
		w.t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(w.repo, ".git", "config"))
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.Join(append(refs, tree(w.t, w.repo), string(index), string(head), string(config), w.git("stash", "list", "--format=%H")), "\n")
}

// mess leaves a stash, a staged file, a changed one and a new one.
func (w *world) mess() {
	w.t.Helper()
	w.write(w.repo, files{"README.md": "stashed\n"})
	w.git("stash", "push", "--quiet")
	w.git("branch", "mine")
	w.write(w.repo, files{"README.md": "changed\n", "staged.txt": "staged\n", "new.txt": "new\n"})
	w.git("add", "staged.txt")
}

const oneFile = `cases: [{steps: [{write: {path: landed.txt, content: "landed\n"}}]}]
`

// A landing waits for a file that the person has changed too, and for no other:
// all the rest of their work stays as it is.
func TestADirtyBaseIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": oneFile})
	w.mess()
	w.write(w.repo, files{"landed.txt": "the person's\n"})
	w.serve()
	before := w.mine(true)
	key := w.new("Land when you can")
	d := w.await(key, "a reason to wait", func(d api.TaskDetail) bool { return d.Stage == coppice.StageLanding && d.Reason != "" })
	if !strings.Contains(d.Reason, w.repo) || !strings.Contains(d.Reason, "landed.txt") || strings.Contains(d.Reason, "README.md") {
		t.Errorf("the reason does not say what is in the way: %q", d.Reason)
	}
	if out := w.cli("show", key); !strings.Contains(out, w.repo) {
		t.Errorf("show does not tell the reason:\n%s", out)
	}
	if after := w.mine(true); after != before {
		t.Errorf("something of the person's changed:\n%s\nwas\n%s", after, before)
	}
	dirt := w.git("status", "--porcelain", "--", ".", ":!landed.txt")
	if err := os.Remove(filepath.Join(w.repo, "landed.txt")); err != nil {
		t.Fatal(err)
	}
	w.landed(key)
	if got, err := os.ReadFile(filepath.Join(w.repo, "landed.txt")); err != nil || string(got) != "landed\n" {
		t.Errorf("the checkout did not follow: %q, %v", got, err)
	}
	if got := w.git("status", "--porcelain"); got != dirt {
		t.Errorf("the person's changes were %q and are %q", dirt, got)
	}
}

func TestThePersonsOwnIsUntouched(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": oneFile})
	w.git("checkout", "--quiet", "-b", "topic")
	w.mess()
	w.serve()
	before := w.mine(false)
	w.landed(w.new("Land beside me"))
	if after := w.mine(false); after != before {
		t.Errorf("something of the person's changed:\n%s\nwas\n%s", after, before)
	}
	w.wantOnBase("landed.txt", "landed")
}

func TestPushMeetsAnotherPush(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": policy + "land: {push: true}\n", ".coppice/scripted.yaml": `cases:
  - steps: [{write: {path: ours.txt, content: "ours\n"}}, {wait_message: true}]
`})
	origin, other := filepath.Join(w.Root, "origin.git"), filepath.Join(w.Root, "other")
	w.git("clone", "--quiet", "--bare", w.repo, origin)
	w.git("remote", "add", "origin", origin)
	w.git("clone", "--quiet", origin, other)
	w.serve()
	key := w.new("Push ours")
	w.working(key, coppice.SessionIdle)
	w.write(other, files{"theirs.txt": "theirs\n"})
	w.gitIn(other, "add", "--all")
	w.gitIn(other, "commit", "--quiet", "--message=Theirs")
	w.gitIn(other, "push", "--quiet", "origin", "main")
	w.cli("send", key, "continue")
	d := w.landed(key)[0]
	for name, dir := range map[string]string{"the remote": origin, "the repository": w.repo} {
		if got := w.gitIn(dir, "rev-parse", "main"); got != d.Landed {
			t.Errorf("%s is at %s, not at %s", name, got, d.Landed)
		}
		if got := w.gitIn(dir, "show", "main:ours.txt") + w.gitIn(dir, "show", "main:theirs.txt"); got != "ourstheirs" {
			t.Errorf("%s has %q", name, got)
		}
	}
	if out := w.cli("show", key); !strings.Contains(out, "landed, pushed") {
		t.Errorf("show does not name the push:\n%s", out)
	}
}
