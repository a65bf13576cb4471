//go:build linux

package e2e

import (
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// A task that has landed continues its conversation, from the base that has its
// work, and lands once more without a conflict.
func TestContinueWhatHasLanded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"line": "nobody\n", ".coppice/scripted.yaml": `cases:
  - {match: now also two, steps: [{replace: {path: line, old: "one\n", new: "one\ntwo\n"}}]}
  - {steps: [{write: {path: line, content: "one\n"}}]}
`})
	w.serve()
	key := w.new("Write it")
	w.landed(key)
	w.cli("continue", key, "now also two")
	d := w.await(key, "the second landing", func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded && len(d.History) > 1 })
	want(t, "landings", outcomes(d), []coppice.LandingOutcome{coppice.LandingLanded, coppice.LandingLanded})
	w.wantOnBase("line", "one\ntwo")
	if d.History[1].Resume == "" || d.History[1].Resume != d.History[0].Conversation {
		t.Errorf("it continued %q, not %q", d.History[1].Resume, d.History[0].Conversation)
	}
	if got := w.git("rev-list", "--count", "main"); got != "3" {
		t.Errorf("main has %s commits", got)
	}
}

// A fork begins at the head of the other task's branch, and leaves that alone.
func TestForkARunningTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - {match: another way, steps: [{run: "cp one three"}]}
  - {steps: [{write: {path: one, content: "one\n"}}, {commit: First}, {wait_message: true}, {write: {path: two, content: "two\n"}}]}
`})
	w.serve()
	key := w.new("Write it")
	w.working(key, coppice.SessionIdle)
	fork := decode[api.Task](t, w.cli("fork", key, "another way", "--json"))
	if fork.ForkOf != key || fork.Title != "Write it" {
		t.Errorf("forked %+v", fork)
	}
	w.landed(fork.Key)
	w.wantOnBase("one", "one")
	w.wantOnBase("three", "one")
	if s := w.session(fork.Key + ".1"); !s.Fork || s.Resume != w.session(key+".1").Conversation {
		t.Errorf("its session continues %q, fork %t", s.Resume, s.Fork)
	}
	w.cli("send", key, "continue")
	w.landed(key)
	w.wantOnBase("two", "two")
}

// A person takes a task over on the agent's own screen, and gives it back.
func TestTakeAndGive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - {match: finish it, steps: [{write: {path: done.txt, content: "done\n"}}]}
  - {steps: [{write: {path: one, content: "one\n"}}, {wait_message: true}]}
`})
	w.serve()
	key := w.new("Write it")
	w.working(key, coppice.SessionIdle)
	if out := w.cli("take", key); !strings.Contains(out, "will be yours") {
		t.Errorf("take says %q", out)
	}
	d := w.await(key, "its screen", func(d api.TaskDetail) bool {
		x := last(d.History)
		return x.Screen && x.State.Live() && !x.StartedAt.IsZero()
	})
	if first := d.History[0]; first.State != coppice.SessionDone || first.StopWhy != coppice.StopTaken || first.Failure != nil {
		t.Errorf("the first session ended as %+v", first)
	}
	if !d.Taken || d.Status != coppice.StatusWorking {
		t.Errorf("the task is %s, taken %t", d.Status, d.Taken)
	}
	w.cli("give", key, "finish it")
	d = w.landed(key)[0]
	if len(d.History) != 3 || d.History[2].Screen || d.History[2].Resume != d.History[0].Conversation || d.History[1].StopWhy != coppice.StopGiven {
		t.Errorf("its sessions: %+v", d.History)
	}
	w.wantOnBase("one", "one")
	w.wantOnBase("done.txt", "done")
}

// The answer says what an agent cannot do, and the model is kept for the next
// session.
func TestUnsupportedRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": "cases: [{steps: [{wait_message: true}, {write: {path: one, content: x}}]}]\n"})
	w.serve()
	key := w.new("Write it")
	w.working(key, coppice.SessionIdle)
	w.cli("model", key, "big")
	d := w.await(key, "the answer", func(d api.TaskDetail) bool { return len(d.Messages) == 1 && d.Messages[0].Failed != "" })
	if m := d.Messages[0]; !strings.Contains(m.Failed, "cannot change its model") || !strings.Contains(m.Failed, "the next session uses big") || d.Model != "big" {
		t.Errorf("message %+v, model %q", m, d.Model)
	}
	if out := w.cli("show", key); !strings.Contains(out, "model: big (not delivered: this agent cannot change its model") {
		t.Errorf("show says\n%s", out)
	}
	w.cli("send", key, "--next", "continue")
	w.landed(key)
}

// An interrupted session waits for a person, who says how to continue.
func TestInterruptWaitsForAWord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - {steps: [{write: {path: one, content: "one\n"}}, {say: now it hangs}, {hang: true}, {write: {path: other, content: "${answer}\n"}}]}
`})
	w.serve()
	key := w.new("Write it")
	w.said(key+".1", "now it hangs")
	w.cli("interrupt", key)
	d := w.await(key, "a person's turn", func(d api.TaskDetail) bool { return d.Status == coppice.StatusNeedsYou })
	if d.Reason != "was interrupted" || d.Messages[0].DeliveredAt.IsZero() {
		t.Errorf("it says %q, messages %+v", d.Reason, d.Messages)
	}
	if out := w.cli("status"); !strings.Contains(out, "was interrupted") || !strings.Contains(out, "coppice send "+key) {
		t.Errorf("status shows\n%s", out)
	}
	w.cli("send", key, "the other file")
	w.landed(key)
	w.wantOnBase("other", "the other file")
}
