//go:build linux

package e2e

import (
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// A person works with an agent that has no screen, turn by turn: they type while the
// conversation is shown, leave, come back, and land the work.
func TestInteractiveTurnByTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": policy + "agents: {plain: {protocol: scripted, command: [\"{coppice}\", scripted]}}\n", ".coppice/scripted.yaml": `cases:
  - {match: 'and a second', steps: [{write: {path: two.txt, content: "2\n"}}, {say: Two is there.}]}
  - {match: 'Add one', steps: [{write: {path: one.txt, content: "1\n"}}, {say: One is there.}]}
`})
	w.serve()
	w.cli("project", "add")
	p := w.person(100, 30, "new", "Add one", "-i", "--agent", "plain")
	p.Showed("One is there.")
	p.Showed("its agent has finished its turn")
	p.Types("/quit\r")
	p.Leaves(0)
	const key = "app-1"
	waits := func(d api.TaskDetail) bool { return d.Status == coppice.StatusNeedsYou }
	if d := w.await(key, "to wait for the person", waits); !d.Interactive || len(d.Landings) != 0 || d.Reason != coppice.ReasonTurn {
		t.Errorf("%+v", d)
	}
	q := w.person(100, 30, "attach", key)
	q.Showed("One is there.")
	q.Types("and a second\r")
	q.Showed("Two is there.")
	w.await(key, "to wait again", func(d api.TaskDetail) bool { return waits(d) && len(d.History) == 2 })
	q.Types("/land\r")
	q.Leaves(0)
	d := w.landed(key)[0]
	if files := w.git("ls-tree", "--name-only", "main"); !strings.Contains(files, "one.txt") || !strings.Contains(files, "two.txt") {
		t.Errorf("main has %s\n%s", files, w.story(d.Key))
	}
	if got := w.try(w.repo, "", "new", "x", "-i", "--wait"); got.code != 2 {
		t.Errorf("with --wait: %+v", got)
	}
}

// With a screen, the first session runs on it, and the command attaches.
func TestInteractiveOnAScreen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - match: mine
    steps: [{write: {path: mine.txt, content: "mine\n"}}, {commit: Write mine}, {say: It is written.}]
  - steps: [{say: I listen.}]
`})
	w.serve()
	w.cli("project", "add")
	p := w.person(100, 30, "new", "Together", "-i")
	p.Sees("I listen.")
	p.Types("mine\r")
	p.Sees("It is written.")
	p.Types("/exit\r") // who leaves gives it back
	p.Leaves(0)
	d := w.landed("app-1")[0]
	if d.Interactive || !d.History[0].Screen || !strings.HasPrefix(w.onBase("mine.txt"), "mine") {
		t.Errorf("%+v\n%s", d, w.story(d.Key))
	}
}
