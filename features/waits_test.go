package features

import (
	"fmt"
	"testing"

	"coppice"
)

// A status that changed while a session ran waits. It has no effect until a
// person confirms it, or reverts it. An edit while none ran counts immediately.
func TestStatusesWait(t *testing.T) {
	t.Parallel()
	failed := task(3, "3", "ended")
	failed.Outcome = coppice.OutcomeFailed
	done := task(4, "4", "ended")
	done.Outcome = coppice.OutcomeDone
	tasks := map[string]coppice.Task{"1": task(1, "1", "queued"), "2": task(2, "2", "session"), "3": failed, "4": done}
	names := []string{"1", "2", "3", "4", "5", "6"}
	list := func(statuses ...string) *List {
		text := ""
		for i, s := range statuses {
			if s == "" {
				continue
			}
			dep := ""
			if names[i] == "6" {
				dep = `, "depends_on": [5]`
			}
			text += fmt.Sprintf(`, {"id": %s, "name": "n", "status": "%s"%s}`, names[i], s, dep)
		}
		return mustParse(t, "["+text[1:]+"]")
	}
	was := []string{"open", "open", "failed", "passed", "failed"}
	policy := coppice.DefaultPolicy()
	seen := Make(Facts{List: list(was...), Policy: policy, Tasks: tasks}).Seen
	for _, c := range []struct {
		name  string
		now   []string
		waits string // what waits when a session ran
		at    string // what follows at once when none did
	}{
		{"nothing", was, "[]", "map[] [] 0"},
		{"ticked off", []string{"passed", "open", "failed", "passed", "failed"}, "[{1 open passed}]", "map[app-1:its feature was set to passed] [] 0"},
		{"given up", []string{"failed", "open", "failed", "passed", "failed"}, "[{1 open failed}]", "map[app-1:its feature was set to failed] [] 0"},
		{"ticked off, running", []string{"open", "passed", "failed", "passed", "failed"}, "[{2 open passed}]", "map[] [] 0"},
		{"retried", []string{"open", "open", "open", "passed", "failed"}, "[{3 failed open}]", "map[] [app-3] 0"},
		{"landed, opened", []string{"open", "open", "failed", "open", "failed"}, "[]", "map[] [] 0"},
		{"verifying is open", []string{"verifying", "open", "failed", "passed", "failed"}, "[]", "map[] [] 0"},
		{"without a task", []string{"open", "open", "failed", "passed", "open"}, "[{5 failed open}]", "map[] [] 1"},
		{"removed", []string{"", "open", "failed", "passed", "failed"}, "[{1 open gone}]", "map[app-1:its feature is no longer in features.json] [] 0"},
		{"what it depends on", []string{"open", "open", "failed", "passed", "passed", "open"}, "[{5 failed passed}]", "map[] [] 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			follows := func(p Plan) string { return fmt.Sprint(p.Stop, p.Retry, len(p.Create)) }
			f := Facts{List: list(c.now...), Policy: policy, Tasks: tasks, Seen: seen}
			if p := Make(f); follows(p) != c.at || len(p.Waits) != 0 {
				t.Errorf("at once: %s, waits %v", follows(p), p.Waits)
			}
			f.Ran = true
			p := Make(f)
			if fmt.Sprint(p.Waits) != c.waits {
				t.Fatalf("waits %v, want %s", p.Waits, c.waits)
			}
			if len(p.Waits) == 0 {
				return
			}
			if follows(p) != "map[] [] 0" {
				t.Errorf("while it waits: %s", follows(p))
			}
			for _, m := range p.Marks {
				if m.ID == p.Waits[0].ID {
					t.Errorf("the file is written over: %+v", m)
				}
			}
			// It still waits when no session runs any more, and after a
			// restart.
			f.Ran, f.Seen = false, p.Seen
			if again := Make(f); fmt.Sprint(again.Waits) != c.waits || follows(again) != "map[] [] 0" {
				t.Errorf("later: waits %v, %s", again.Waits, follows(again))
			}
			back := f
			back.List = list(was...)
			if p := Make(back); len(p.Waits) != 0 || follows(p) != "map[] [] 0" {
				t.Errorf("taken back: waits %v, %s", p.Waits, follows(p))
			}
			f.Accept, f.Ran = true, true
			if p := Make(f); len(p.Waits) != 0 || follows(p) != c.at {
				t.Errorf("accepted: waits %v, %s", p.Waits, follows(p))
			}
		})
	}
}

// New and edited features count immediately, whether a session runs or not.
func TestNewAndEditedFeaturesDoNotWait(t *testing.T) {
	t.Parallel()
	tasks := map[string]coppice.Task{"1": task(1, "1", "queued")}
	seen := Make(Facts{List: mustParse(t, `[{"id": 1, "name": "a"}]`), Policy: coppice.DefaultPolicy(), Tasks: tasks}).Seen
	p := Make(Facts{List: mustParse(t, `[{"id": 1, "name": "b"}, {"id": 2, "name": "c"}]`), Policy: coppice.DefaultPolicy(), Tasks: tasks, Seen: seen, Ran: true})
	if len(p.Waits) != 0 || len(p.Create) != 1 || len(p.Change) != 1 {
		t.Errorf("waits %v, creates %d, changes %d", p.Waits, len(p.Create), len(p.Change))
	}
}
