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

// A task can work in the person's own checkout. Its changes stay there uncommitted,
// nothing else of the person's changes, and nothing lands. One such task runs at a
// time, and no failure starts another session.
func TestATaskWorksInTheCheckout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - {match: 'Explain it', role: checkout, steps: [{run: 'test -f mine.txt && test "$(git symbolic-ref --short HEAD)" = main'}, {write: {path: found.txt, content: "found\n"}}, {say: The test was wrong.}]}
  - {match: 'Wait for me', role: checkout, steps: [{ask: {text: 'Continue?', options: ['yes', 'no']}}, {say: Continued.}]}
  - {match: 'Break down', role: checkout, session: 1, steps: [{crash: {exit: 3}}]}
  - {match: 'Break down', role: checkout, steps: [{say: Now it works.}]}
`})
	w.serve()
	w.cli("project", "add")
	w.write(w.repo, files{"mine.txt": "mine\n"})
	before := w.git("rev-parse", "HEAD")
	ended := func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded }
	key := w.new("Explain it", "--workspace", "none")
	d := w.await(key, "to end", ended)
	if d.Outcome != coppice.OutcomeDone || !d.Checkout || d.Workspace != nil || len(d.Landings) != 0 || d.Answer == nil || d.Answer.Text != "The test was wrong." {
		t.Fatalf("%+v\n%s", d, w.story(key))
	}
	if status := w.git("status", "--porcelain"); status != "?? found.txt\n?? mine.txt" || w.git("rev-parse", "HEAD") != before {
		t.Errorf("the checkout has %q at %s", status, w.git("rev-parse", "HEAD"))
	}
	if diff := w.cli("diff", key); !strings.Contains(diff, "+found") || strings.Contains(diff, "mine.txt") {
		t.Errorf("diff:\n%s", diff)
	}
	if text := w.cli("show", key); !strings.Contains(text, "Changed in your checkout\n   found.txt | +1 -0") || !strings.Contains(text, "The test was wrong.") {
		t.Errorf("shows:\n%s", text)
	}
	if got := w.try(w.repo, "", "land", key); got.code == 0 || !strings.Contains(got.err, "works in your checkout, where nothing lands") {
		t.Errorf("land: %+v", got)
	}
	asking := w.new("Wait for me", "--workspace", "none")
	w.await(asking, "to ask", func(d api.TaskDetail) bool { return d.Question != nil })
	if got := w.try(w.repo, "", "new", "Another", "--workspace", "none"); got.code == 0 || !strings.Contains(got.err, asking+" works in your checkout already") {
		t.Errorf("a second one: %+v", got)
	}
	if got := w.try(w.repo, "", "continue", key, "more"); got.code == 0 || !strings.Contains(got.err, asking+" works in your checkout already") {
		t.Errorf("continue of the first: %+v", got)
	}
	w.cli("answer", asking, "1")
	w.await(asking, "to end", ended)
	broken := w.new("Break down", "--workspace", "none")
	d = w.await(broken, "to wait for a person", func(d api.TaskDetail) bool { return d.Status == coppice.StatusNeedsYou })
	if len(d.History) != 1 {
		t.Errorf("%d sessions ran", len(d.History))
	}
	w.cli("retry", broken)
	if d = w.await(broken, "to end", ended); d.Outcome != coppice.OutcomeDone || len(d.History) != 2 {
		t.Errorf("%s after %d sessions\n%s", d.Outcome, len(d.History), w.story(broken))
	}
	if b, err := os.ReadFile(filepath.Join(w.repo, "mine.txt")); err != nil || string(b) != "mine\n" {
		t.Errorf("mine.txt has %q, %v", b, err)
	}
	w.checkRepository()
}
