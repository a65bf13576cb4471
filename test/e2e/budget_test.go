//go:build linux

package e2e

import (
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// An agent that reports tokens alone is held to the budget of the day: its session
// is stopped, the tasks of the project wait and say why, and a larger budget lets
// them go on in the same conversation.
func TestADayHasABudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": policy + "budget: {day: 1 USD}\n", ".coppice/scripted.yaml": `cases:
  - {match: 'Add one', session: 1, steps: [{usage: {output_tokens: 150000}}, {wait_message: true}]}
  - {match: 'Add (one|two)', steps: [{write: {path: $1.txt, content: "$1\n"}}, {usage: {output_tokens: 1000}}]}
`})
	w.serve()
	w.cli("project", "add")
	one := w.new("Add one", "--model", "gpt-6-sol")
	const reason = "the project has spent 1.50 of 1 USD today; continues at 00:00 UTC"
	d := w.await(one, "to wait for tomorrow", func(d api.TaskDetail) bool { return d.Reason == reason })
	s := d.History[0]
	if d.Status != coppice.StatusWaiting || s.Failure == nil || s.Failure.Class != coppice.ClassDayBudget || s.Budget != 1 || !s.Usage.Priced || !s.Usage.Estimated {
		t.Errorf("%s\n%+v", w.story(one), s)
	}
	two := w.new("Add two", "--model", "gpt-of-tomorrow")
	w.await(two, "to wait as well", func(d api.TaskDetail) bool { return d.Reason == reason })
	w.cli("config", "set", "budget.day", "5 USD")
	done := w.landed(one, two)
	if h := done[0].History; len(h) != 2 || h[1].Resume == "" || h[1].Resume != h[0].Conversation {
		t.Errorf("%s\n%+v", w.story(one), h)
	}
	text := w.cli("usage")
	for _, line := range []string{"~$0.18", "~$1.51", "~$1.69", "app: at most $5.00 a day; $1.69 spent since 00:00 UTC"} {
		if !strings.Contains(text, line) {
			t.Errorf("usage does not say %q:\n%s", line, text)
		}
	}
}
