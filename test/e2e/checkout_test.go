//go:build linux

package e2e

import (
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

const twoFiles = `cases:
  - match: second
    steps: [{write: {path: b.txt, content: "second\n"}}]
  - steps: [{write: {path: sub/a.txt, content: "first\n"}}]
`

// A person edits a file that is about to land. The project needs them once, each
// task in the queue says what it waits for, and the landings continue when the
// file is as it was: no pause ends before the test does.
func TestALandingContinuesWhenTheFileChanges(t *testing.T) {
	t.Parallel()
	for name, fix := range map[string]func(w *world){
		"the file is changed back": func(w *world) { w.write(w.repo, files{"sub/a.txt": "nothing\n"}) },
		"the change is stashed":    func(w *world) { w.git("stash", "push", "--quiet") },
		"the change is committed": func(w *world) {
			w.write(w.repo, files{"sub/a.txt": "nothing\n", "mine.txt": "mine\n"})
			w.git("add", "--all")
			w.git("commit", "--quiet", "--message=Mine")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, files{".coppice/scripted.yaml": twoFiles, "sub/a.txt": "nothing\n"})
			w.write(w.repo, files{"sub/a.txt": "mine\n"})
			w.serve("--landing-pause", "24h")
			first := w.new("The first one")
			d := w.await(first, "a reason to wait", func(d api.TaskDetail) bool { return d.Stage == coppice.StageLanding && d.Reason != "" })
			if !strings.Contains(d.Reason, "sub/a.txt") || d.Status != coppice.StatusLanding || d.Fix == "" {
				t.Errorf("%s is %s: %q, %q", first, d.Status, d.Reason, d.Fix)
			}
			second := w.new("The second one")
			behind := w.await(second, "its place in the queue", func(d api.TaskDetail) bool { return d.Stage == coppice.StageLanding })
			if want := "waiting for " + first + ", which cannot land: " + d.Reason; behind.Reason != want {
				t.Errorf("%s says %q, want %q", second, behind.Reason, want)
			}
			needs := w.needs()
			if len(needs) != 1 || needs[0].Kind != coppice.NeedCheckout || strings.Join(needs[0].Paths, " ") != "sub/a.txt" {
				t.Errorf("needs %+v", needs)
			}
			fix(w)
			w.landed(first, second)
			if needs := w.needs(); len(needs) != 0 {
				t.Errorf("needs after all landed: %+v", needs)
			}
			w.wantOnBase("sub/a.txt", "first")
			w.wantOnBase("b.txt", "second")
		})
	}
}

// needs is what the one project needs a person for.
func (w *world) needs() []coppice.Need {
	w.t.Helper()
	list, err := w.client.Projects(w.t.Context())
	if err != nil || len(list) != 1 {
		w.t.Fatalf("%d projects, %v", len(list), err)
	}
	return list[0].Needs
}

// A server that starts finds the landings that wait, and watches for them.
func TestALandingContinuesAfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": twoFiles, "sub/a.txt": "nothing\n"})
	w.write(w.repo, files{"sub/a.txt": "mine\n"})
	s := w.serve("--landing-pause", "24h")
	key := w.new("The first one")
	blocked := func(d api.TaskDetail) bool { return d.Stage == coppice.StageLanding && d.Reason != "" }
	w.await(key, "a reason to wait", blocked)
	s.Stop(t)
	w.serve("--landing-pause", "24h")
	w.await(key, "a reason to wait", blocked)
	w.write(w.repo, files{"sub/a.txt": "nothing\n"})
	w.landed(key)
}
