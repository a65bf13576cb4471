//go:build linux

package e2e

import (
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// asking has two tasks that ask, and others that just write. A session that
// begins in the conversation of an earlier one reads the answer in its prompt.
const asking = `cases:
  - match: "The answer is: (\\w+)"
    steps:
      - write: {path: "${session}.txt", content: "$1\n"}
  - match: "Ask"
    steps:
      - ask: {text: Which colour?, options: [red, blue]}
      - write: {path: "${session}.txt", content: "${answer}\n"}
  - match: "Hold"
    steps:
      - wait_message: true
      - write: {path: "${session}.txt", content: "held\n"}
  - steps:
      - write: {path: "${session}.txt", content: "done\n"}
`

func parking(limits string) files {
	return files{"coppice.yaml": strings.Replace(policy, "sessions: 8", limits, 1), ".coppice/scripted.yaml": asking}
}

func (w *world) asks(key string) api.TaskDetail {
	w.t.Helper()
	return w.await(key, "a question of a parked session", func(d api.TaskDetail) bool {
		return d.Status == coppice.StatusNeedsYou && d.Question != nil && last(d.History).Parked()
	})
}

// A session that waits for a person leaves the only session to others. Its answer
// goes through when that is free again.
func TestAParkedSessionLeavesItsPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, parking("sessions: 1"))
	w.serve()
	a := w.new("Ask me")
	w.asks(a)
	w.landed(w.new("Write it"))

	b := w.new("Hold the session")
	w.working(b, coppice.SessionIdle)
	if out := w.cli("status"); !strings.Contains(out, "1 of 1 session running, 1 parked") {
		t.Errorf("status shows\n%s", out)
	}
	w.cli("answer", a, "blue")
	w.await(a, "its turn", func(d api.TaskDetail) bool {
		return d.Status == coppice.StatusWaiting && d.Reason == coppice.ReasonAnswered
	})
	if s := decode[api.Status](t, w.cli("status", "--json")); len(s.Waiting) != 1 || s.Waiting[0].Key != a || s.Projects[0].Parked != 1 {
		t.Errorf("%+v wait, of %+v", s.Waiting, s.Projects)
	}
	w.cli("send", b, "continue")
	w.landed(b)
	d := w.landed(a)[0]
	if got := w.onBase(a + ".1.txt"); got != "blue" || len(d.History) != 1 {
		t.Errorf("the agent received %q in %d sessions", got, len(d.History))
	}
}

// Of two parked sessions where one may stay, the first is stopped. The server is
// killed and starts again; then the answer begins a session that continues the
// conversation.
func TestAParkedSessionIsStoppedAndResumes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, parking("sessions: 1, parked: 1"))
	s := w.serve()
	a := w.new("Ask me")
	w.asks(a)
	b := w.new("Ask me too")
	w.asks(b)
	d := w.await(a, "a stopped session", func(d api.TaskDetail) bool { return d.Stage == coppice.StageWaiting })
	if d.Status != coppice.StatusNeedsYou || d.Reason != "Which colour?" || d.Question == nil || !last(d.History).Rests() {
		t.Fatalf("%s (%s) asks %+v, sessions %+v", d.Status, d.Reason, d.Question, d.History)
	}
	s.Kill()
	w.serve()
	if out := w.cli("show", a); !strings.Contains(out, "stopped while it was parked") || !strings.Contains(out, "Which colour?") {
		t.Errorf("show says\n%s", out)
	}
	w.cli("answer", a, "blue")
	w.cli("answer", b, "red")
	d = w.landed(a, b)[0]
	if len(d.History) != 2 || d.History[1].Resume == "" || d.History[1].Resume != d.History[0].Conversation || d.Round != 0 {
		t.Errorf("sessions %+v", d.History)
	}
	w.wantOnBase(a+".2.txt", "blue")
	w.wantOnBase(b+".1.txt", "red")
	w.quiet(t)
}
