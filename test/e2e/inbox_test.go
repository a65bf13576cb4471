//go:build linux

package e2e

import (
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

const askingAndFailing = `cases:
  - match: "Ask"
    steps:
      - ask: {text: Which colour?, options: [red, blue]}
      - write: {path: "${session}.txt", content: "${answer}\n"}
  - match: "Break"
    steps:
      - fail: {class: implementation, text: it broke}
  - steps:
      - write: {path: "${session}.txt", content: "done\n"}
`

// inbox returns the ids of the inbox's entries, by the command line.
func (w *world) inbox(flags ...string) (api.Inbox, []string) {
	w.t.Helper()
	in := decode[api.Inbox](w.t, w.cli(append([]string{"inbox", "--json"}, flags...)...))
	var ids []string
	for _, e := range in.Entries {
		ids = append(ids, e.ID)
	}
	return in, ids
}

// A question and a failed task are in the inbox until a person has acted. The
// failed one is hidden until another task has landed, also across a restart.
func TestInbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": strings.Replace(policy, "max: 3", "max: 0", 1), ".coppice/scripted.yaml": askingAndFailing})
	server := w.serve()
	asks, breaks := w.new("Ask me"), w.new("Break it")
	w.asks(asks)
	w.await(breaks, "its failure", func(d api.TaskDetail) bool { return d.Status == coppice.StatusFailed })
	in, ids := w.inbox()
	question, failed := "question/"+asks+"/1", "failed/"+breaks
	want(t, "entries", ids, []string{question, failed})
	if e := in.Entries[0]; e.Text != "Which colour?" || !slices.Equal(e.Options, []string{"red", "blue"}) || e.Actions[0].Route != "/tasks/"+asks+"/answer" {
		t.Errorf("the question is %+v", e)
	}
	if r := w.try(w.repo, "", "inbox", "snooze", question, "--for", "2h"); r.code == 0 || !strings.Contains(r.err, "an agent waits") {
		t.Errorf("snoozing a question: %+v", r)
	}
	w.cli("answer", asks, "red")
	w.landed(asks)
	_, ids = w.inbox()
	want(t, "entries after the answer", ids, []string{failed})

	other := w.new("Write it", "--not-before", "1h")
	w.cli("inbox", "snooze", failed, "--event", "landed", "--task", other)
	if in, ids = w.inbox(); len(ids) != 0 || in.Snoozed != 1 {
		t.Errorf("a snoozed entry is listed: %v", ids)
	}
	server.Stop(t)
	w.serve()
	if _, ids = w.inbox(); len(ids) != 0 {
		t.Errorf("a snoozed entry is listed after a restart: %v", ids)
	}
	w.cli("set", other, "--not-before", "0s")
	w.landed(other)
	in, ids = w.inbox()
	want(t, "entries after the other task landed", ids, []string{failed})
	if !in.Entries[0].Back || !strings.Contains(w.cli("status"), "1 entry in the inbox") {
		t.Errorf("the entry that came back is %+v", in.Entries[0])
	}
	w.cli("archive", breaks)
	if _, ids = w.inbox("--all"); len(ids) != 0 {
		t.Errorf("an archived task is in the inbox: %v", ids)
	}
}
