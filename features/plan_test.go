package features

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"coppice"
)

func mustParse(t testing.TB, text string) *List {
	t.Helper()
	l, err := Parse("features.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// task makes the task of a feature, in a stage or, after a slash, with an
// outcome.
func task(n int, feature, stage string) coppice.Task {
	s, outcome, _ := strings.Cut(stage, "/")
	t := coppice.Task{ID: int64(n), Key: fmt.Sprintf("app-%d", n), Title: "x", Feature: feature, Stage: coppice.Stage(s), Outcome: coppice.Outcome(outcome)}
	if s == "session" || s == "checking" || s == "landing" || s == "held" || s == "review" || outcome == "done" || outcome == "failed" {
		t.Sessions = 1
	}
	if outcome == "failed" {
		t.Failure = coppice.Failf(coppice.ClassTestOnly, "no luck", "")
	}
	return t
}

// brief summarizes a plan.
func brief(p Plan) string {
	var out []string
	for _, a := range p.Create {
		out = append(out, fmt.Sprintf("create %s on %s after %v %v", a.Feature.ID, a.Track, a.After, a.Refs))
	}
	for _, c := range p.Change {
		out = append(out, fmt.Sprintf("change %s: %s", c.Key, c.Feature.Name))
	}
	for _, k := range slices.Sorted(maps.Keys(p.Stop)) {
		out = append(out, "stop "+k)
	}
	for _, k := range p.Retry {
		out = append(out, "retry "+k)
	}
	for _, m := range p.Marks {
		out = append(out, fmt.Sprintf("mark %s %s", m.ID, strings.TrimSpace(string(m.Status)+" "+m.Failure)))
	}
	for _, n := range p.Notes {
		out = append(out, "note "+strings.TrimPrefix(n, "features.json: "))
	}
	return strings.Join(out, "\n")
}

// The plan for a status in the file, the last agreed status, and the state of
// the task.
func TestMake(t *testing.T) {
	t.Parallel()
	const none = ""
	for _, c := range []struct {
		name, seen, file, task, want string
	}{
		{"new and open", none, "open", none, "create 1 on main after [] []"},
		{"left in verifying by a crash", none, "verifying", none, "create 1 on main after [] []\nmark 1 open"},
		{"passed before", none, "passed", none, ""},
		{"failed before", none, "failed", none, ""},
		{"failed, now open", "failed", "open", none, "create 1 on main after [] []"},
		{"waits", "open", "open", "waiting", ""},
		{"works", "open", "open", "session", ""},
		{"is checked", "open", "open", "checking", "mark 1 verifying"},
		{"is held", "open", "open", "held", "mark 1 verifying"},
		{"is to be reviewed", "open", "open", "review", "mark 1 verifying"},
		{"lands", "verifying", "verifying", "landing", ""},
		{"is sent back", "verifying", "verifying", "queued", "mark 1 open"},
		{"is done", "verifying", "verifying", "ended/done", "mark 1 passed"},
		{"failed", "open", "open", "ended/failed", "mark 1 failed test_only"},
		{"was cancelled", "open", "open", "ended/cancelled", "mark 1 failed unknown"},
		{"restarted by command", "failed", "failed", "waiting", "mark 1 open"},
		{"set to open by hand", "failed", "open", "ended/failed", "retry app-1"},
		{"set to open by hand, cancelled", "failed", "open", "ended/cancelled", "retry app-1"},
		{"appears again", none, "open", "ended/cancelled", "change app-1: x\nretry app-1"},
		{"landed, reset by hand or by git", "passed", "open", "ended/done", "mark 1 passed\nnote feature 1 was set to open, but it has landed as app-1; add a new feature for what is missing"},
		{"set to passed by hand, not begun", "open", "passed", "queued", "stop app-1"},
		{"set to failed by hand, not begun", "open", "failed", "waiting", "stop app-1"},
		{"set to passed by hand, running", "open", "passed", "session", "note feature 1 was set to passed while app-1 is running; stop it if it should not continue"},
		{"set to passed by hand, failed", "failed", "passed", "ended/failed", ""},
		{"a status by hand holds", "passed+", "passed", "ended/cancelled", ""},
		{"a status by hand holds while running", "passed+", "passed", "checking", ""},
		{"a word by hand taken back", "passed+", "open", "ended/cancelled", "retry app-1"},
	} {
		l := mustParse(t, fmt.Sprintf(`[{"id": 1, "name": "x", "status": %q}]`, c.file))
		f := Facts{List: l, Policy: coppice.DefaultPolicy(), Tasks: map[string]coppice.Task{}, Seen: map[string]Seen{}}
		if c.task != none {
			f.Tasks["1"] = task(1, "1", c.task)
		}
		if c.seen != none {
			st, hand := strings.CutSuffix(c.seen, "+")
			f.Seen["1"] = Seen{Status: Status(st), Asked: (&maker{Facts: f}).asked(l.Features[0]), ByPerson: hand}
		}
		p := Make(f)
		if got := brief(p); got != c.want {
			t.Errorf("%s: %s", c.name, cmp.Diff(c.want, got))
		}
		// When the plan was carried out, only changes of the tasks have further
		// effects.
		text, _ := l.Write(p.Marks)
		f.List, f.Seen = mustParse(t, string(text)), p.Seen
		for _, a := range p.Create {
			f.Tasks[a.Feature.ID] = task(1, "1", "waiting")
		}
		if len(p.Retry) > 0 {
			f.Tasks["1"] = Restarted(f.Tasks["1"])
		}
		if again := brief(Make(f)); again != "" {
			t.Errorf("%s: again %s", c.name, again)
		}
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	for role, want := range map[coppice.Role]Status{coppice.RoleImplement: Open, coppice.RoleFix: Verifying, coppice.RoleVerify: Verifying} {
		if got := Derive("1", task(1, "1", "session"), role).Status; got != want {
			t.Errorf("in a session of role %s: %s", role, got)
		}
		w := task(1, "1", "waiting")
		w.Next = &coppice.Next{Role: role}
		if got := Derive("1", w, "").Status; got != want {
			t.Errorf("before a session of role %s: %s", role, got)
		}
	}
}

func TestDependencies(t *testing.T) {
	t.Parallel()
	l := mustParse(t, `[
		{"id": 1, "name": "a", "status": "passed"}, {"id": 2, "name": "b", "depends_on": [1]}, {"id": 3, "name": "c", "depends_on": [2, 1]},
		{"id": 4, "name": "d", "status": "failed"}, {"id": 5, "name": "e", "depends_on": [4]}, {"id": 6, "name": "f", "depends_on": [5]},
		{"id": 7, "name": "g"}, {"id": 8, "name": "h", "depends_on": [7, 3]}]`)
	p := Make(Facts{List: l, Policy: coppice.DefaultPolicy(), Tasks: map[string]coppice.Task{"7": task(9, "7", "session")}})
	want := "create 2 on main after [] []\ncreate 3 on main after [] [2]\ncreate 8 on main after [app-9] [3]"
	if got := brief(p); got != want {
		t.Error(cmp.Diff(want, got))
	}
	if len(p.Warnings) != 2 || !strings.Contains(p.Warnings[0], "feature 5 waits") || !strings.Contains(p.Warnings[1], "feature 6 waits") {
		t.Errorf("warnings %q, want that the features 5 and 6 wait", p.Warnings)
	}
}

func TestTracks(t *testing.T) {
	t.Parallel()
	policy := coppice.DefaultPolicy()
	policy.Tracks = []coppice.Track{{Name: "main", Default: true}, {Name: "web", Categories: []string{"ui", "docs"}}, {Name: "late", Categories: []string{"docs"}}}
	l := mustParse(t, `[{"id": 1, "name": "a", "category": "ui"}, {"id": 2, "name": "b", "category": "docs"}, {"id": 3, "name": "c"},
		{"id": 4, "name": "d", "category": "billing"}, {"id": 5, "name": "e", "category": "mail"}, {"id": 6, "name": "e", "category": "mail"}]`)
	p := Make(Facts{List: l, Policy: policy})
	var got []string
	for _, a := range p.Create {
		got = append(got, a.Track)
	}
	if d := cmp.Diff([]string{"web", "web", "main", "main", "main", "main"}, got); d != "" {
		t.Error(d)
	}
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], `the categories "billing", "mail" belong to no track`) {
		t.Errorf("warnings %q, want the categories without a track", p.Warnings)
	}
	// If no track lists categories, any category is accepted.
	if p := Make(Facts{List: l, Policy: coppice.DefaultPolicy()}); len(p.Warnings) != 0 {
		t.Errorf("warnings %q, want none", p.Warnings)
	}
	// A track that newly lists a category takes its tasks that have not
	// started.
	tasks := map[string]coppice.Task{"4": task(4, "4", "queued"), "5": task(5, "5", "session")}
	policy.Tracks[2].Categories = []string{"billing", "mail"}
	p2 := Make(Facts{List: l, Policy: policy, Tasks: tasks, Seen: p.Seen})
	if len(p2.Change) != 1 || p2.Change[0].Key != "app-4" || p2.Change[0].Track != "late" {
		t.Errorf("changes %+v, want app-4 on the track late", p2.Change)
	}
}

func TestChangesAndRemovals(t *testing.T) {
	t.Parallel()
	tasks := map[string]coppice.Task{"1": task(1, "1", "queued"), "2": task(2, "2", "session"), "3": task(3, "3", "waiting"), "4": task(4, "4", "session"), "5": task(5, "5", "ended/done")}
	var names []string
	for i := range 5 {
		names = append(names, fmt.Sprintf(`{"id": %d, "name": "n%d", "status": %q}`, i+1, i+1, map[bool]string{true: "passed", false: "open"}[i == 4]))
	}
	seen := Make(Facts{List: mustParse(t, "["+strings.Join(names, ",")+"]"), Policy: coppice.DefaultPolicy(), Tasks: tasks}).Seen
	l := mustParse(t, `[{"id": 1, "name": "other", "status": "open", "unknown": 1}, {"id": 2, "name": "other", "status": "open"}]`)
	p := Make(Facts{List: l, Policy: coppice.DefaultPolicy(), Tasks: tasks, Seen: seen})
	want := "change app-1: other\nstop app-3\n" +
		"note feature 2 was changed after its work started as app-2; send the change with `coppice send app-2`\n" +
		"note feature 4 is no longer in the file, but app-4 is running; stop it if it should not continue"
	if got := brief(p); got != want {
		t.Error(cmp.Diff(want, got))
	}
	if again := brief(Make(Facts{List: l, Policy: coppice.DefaultPolicy(), Tasks: tasks, Seen: p.Seen})); again != "" {
		t.Errorf("again: %s", again)
	}
}

// A failed task gets the current request of its feature when that changes, and
// when the file retries it: the feature might have changed while the task ran.
func TestRetriesWithTheNewRequest(t *testing.T) {
	t.Parallel()
	const was = `{"id": 1, "name": "x", "status": "failed"}`
	for name, c := range map[string]struct {
		edits []string // of the failed feature, one after the other
		edit  func(*coppice.Task)
		want  string
	}{
		"unchanged":                 {edits: []string{`{"id": 1, "name": "x"}`}, want: "retry app-1"},
		"another agent by a person": {edits: []string{`{"id": 1, "name": "x"}`}, edit: func(t *coppice.Task) { t.Agent = "codex" }, want: "retry app-1"},
		"a new name":                {edits: []string{`{"id": 1, "name": "new"}`}, want: "change app-1: new\nretry app-1"},
		"new steps":                 {edits: []string{`{"id": 1, "name": "x", "steps": ["a"]}`}, want: "change app-1: x\nretry app-1"},
		"only the text":             {edits: []string{`{"id": 1, "name": "new", "status": "failed"}`}, want: "change app-1: new\nmark 1 failed test_only"},
		"passed by hand":            {edits: []string{`{"id": 1, "name": "new", "status": "passed"}`}, want: ""},
		"first the text":            {edits: []string{`{"id": 1, "name": "x", "agent": "me", "status": "failed"}`, `{"id": 1, "name": "x", "agent": "me"}`}, edit: func(t *coppice.Task) { t.Agent = "me" }, want: "retry app-1"},
		"changed while it ran":      {edits: []string{`{"id": 1, "name": "x"}`}, edit: func(t *coppice.Task) { t.Body = "old" }, want: "change app-1: x\nretry app-1"},
		"another dependency":        {edits: []string{`{"id": 1, "name": "x", "depends_on": [2]}`}, want: "create 2 on main after [] []\nchange app-1: x\nretry app-1"},
		"waits for a dependency":    {edits: []string{`{"id": 1, "name": "x", "depends_on": [3]}`}, want: ""},
		"a dependency that ended":   {edits: []string{`{"id": 1, "name": "x", "depends_on": [4]}`}, edit: func(t *coppice.Task) { t.After = []int64{4} }, want: "change app-1: x\nretry app-1"},
	} {
		const others = `, {"id": 2, "name": "b"}, {"id": 3, "name": "c", "status": "failed"}, {"id": 4, "name": "d", "status": "passed"}]`
		f := Facts{Policy: coppice.DefaultPolicy(), Tasks: map[string]coppice.Task{"1": task(1, "1", "ended/failed"), "2": task(2, "2", "session"), "4": task(4, "4", "ended/done")}}
		if name == "another dependency" {
			delete(f.Tasks, "2")
		}
		if c.edit != nil {
			one := f.Tasks["1"]
			c.edit(&one)
			f.Tasks["1"] = one
		}
		f.List = mustParse(t, "["+was+others)
		f.Seen = map[string]Seen{"1": {Status: Failed, Asked: (&maker{Facts: f}).asked(f.List.Features[0])}, "4": {Status: Passed}}
		var p Plan
		for i, text := range c.edits {
			f.List = mustParse(t, "["+text+others)
			if p = Make(f); i < len(c.edits)-1 {
				f.Seen = p.Seen
			}
		}
		if got := brief(p); got != c.want {
			t.Errorf("%s: %s", name, cmp.Diff(c.want, got))
		}
		if waits := name == "waits for a dependency"; waits != (len(p.Warnings) == 1) || waits && p.Seen["1"] != f.Seen["1"] {
			t.Errorf("%s: warnings %q, seen %+v", name, p.Warnings, p.Seen["1"])
		}
	}
}

// A plan that was carried out leaves nothing to do, never overrides a person's
// status, and never restarts what is done, whatever the facts.
func TestPlansComeToRest(t *testing.T) {
	t.Parallel()
	stages := []string{"", "waiting", "queued", "session", "checking", "landing", "held", "review", "ended/done", "ended/failed", "ended/cancelled"}
	rapid.Check(t, func(t *rapid.T) {
		var entries []string
		f := Facts{Policy: coppice.DefaultPolicy(), Tasks: map[string]coppice.Task{}, Seen: map[string]Seen{}}
		n := rapid.IntRange(1, 8).Draw(t, "features")
		for i := range n {
			id := fmt.Sprint(i + 1)
			if s := rapid.SampledFrom(stages).Draw(t, "stage"); s != "" {
				f.Tasks[id] = task(i+1, id, s)
			}
			if rapid.Bool().Draw(t, "seen") {
				f.Seen[id] = Seen{Status: rapid.SampledFrom(statuses).Draw(t, "was"), Asked: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "asked"), ByPerson: rapid.Bool().Draw(t, "hand")}
			}
			var deps []string
			for d := range i {
				if rapid.IntRange(0, 4).Draw(t, "depends") == 0 {
					deps = append(deps, fmt.Sprint(d+1))
				}
			}
			if rapid.IntRange(0, 5).Draw(t, "there") > 0 || i == 0 {
				deps = slices.DeleteFunc(deps, func(d string) bool { return !strings.Contains(strings.Join(entries, ""), `"id": `+d+",") })
				entries = append(entries, fmt.Sprintf(`{"id": %s, "name": "n", "status": %q, "depends_on": [%s]}`, id, rapid.SampledFrom(statuses).Draw(t, "status"), strings.Join(deps, ",")))
			}
		}
		list, err := Parse("features.json", []byte("["+strings.Join(entries, ",")+"]"))
		if err != nil {
			t.Fatal(err)
		}
		f.List = list
		p := Make(f)
		created := map[string]bool{}
		for _, a := range p.Create {
			if _, has := f.Tasks[a.Feature.ID]; has {
				t.Fatalf("feature %s has a task already", a.Feature.ID)
			}
			created[a.Feature.ID] = true
		}
		for _, a := range p.Create {
			for _, r := range a.Refs {
				if !created[r] {
					t.Fatalf("feature %s comes after %s, which is not created", a.Feature.ID, r)
				}
			}
			f.Tasks[a.Feature.ID] = task(100, a.Feature.ID, "waiting")
		}
		for id, tk := range f.Tasks {
			if _, stopped := p.Stop[tk.Key]; stopped && started(tk) {
				t.Fatalf("stops %s, which was begun", tk.Key)
			}
			if slices.Contains(p.Retry, tk.Key) {
				if tk.Outcome == coppice.OutcomeDone || !tk.Ended() {
					t.Fatalf("retries %s, which is %s %s", tk.Key, tk.Stage, tk.Outcome)
				}
				tk = Restarted(tk)
			}
			f.Tasks[id] = tk
		}
		for _, m := range p.Marks {
			if p.Seen[m.ID].ByPerson {
				t.Fatalf("writes over what a person said of %s", m.ID)
			}
		}
		text, _ := list.Write(p.Marks)
		if f.List, err = Parse("features.json", text); err != nil {
			t.Fatal(err)
		}
		f.Seen = p.Seen
		if again := brief(Make(f)); again != "" {
			t.Fatalf("after\n%s\nthere is still\n%s", brief(p), again)
		}
	})
}

// Changed tracks reroute tasks that have not started, and leave the others
// alone.
func TestTracksChange(t *testing.T) {
	t.Parallel()
	l := mustParse(t, `[{"id": 1, "name": "a", "category": "ui"}, {"id": 2, "name": "b", "category": "ui"}]`)
	f := Facts{List: l, Policy: coppice.DefaultPolicy(), Tasks: map[string]coppice.Task{"1": task(1, "1", "queued"), "2": task(2, "2", "session")}}
	f.Seen = Make(f).Seen
	f.Policy.Tracks = append(f.Policy.Tracks, coppice.Track{Name: "web", Categories: []string{"ui"}})
	p := Make(f)
	if got, want := brief(p), "change app-1"; !strings.HasPrefix(got, want) || strings.Contains(got, "app-2") || p.Change[0].Track != "web" {
		t.Errorf("got %q, want %q", got, want)
	}
	f.Seen = p.Seen
	if got := brief(Make(f)); got != "" {
		t.Errorf("again: %q", got)
	}
}

// A status that Coppice was about to write and that the file has is Coppice's own.
// Any other status in the file is a person's.
func TestWhatWasAboutToBeWritten(t *testing.T) {
	t.Parallel()
	failed := coppice.Task{ID: 1, Key: "app-1", Feature: "1", Stage: coppice.StageEnded, Outcome: coppice.OutcomeFailed, Sessions: 1}
	seen := map[string]Seen{"1": {Status: Passed, Asked: "x"}}
	next := Intend(seen, []Mark{{ID: "1", Status: Open}, {ID: "unknown", Status: Open}})
	if next["1"].Writing != Open || next["1"].Status != Passed || len(next) != 1 || seen["1"].Writing != "" {
		t.Errorf("about to be written: %+v, before: %+v", next, seen)
	}
	for name, c := range map[string]struct {
		file    Status
		writing Status
		retries int
	}{
		"it was written":                {Open, Open, 0},
		"a person wrote it":             {Open, "", 1},
		"a person wrote something else": {Open, Failed, 1},
	} {
		list, err := Parse("f", []byte(`[{"id": 1, "name": "a", "status": "`+string(c.file)+`"}]`))
		if err != nil {
			t.Fatal(err)
		}
		plan := Make(Facts{
			List: list, Policy: coppice.DefaultPolicy(), Tasks: map[string]coppice.Task{"1": failed},
			Seen: map[string]Seen{"1": {Status: Passed, Asked: "x", Writing: c.writing}},
		})
		if len(plan.Retry) != c.retries || plan.Seen["1"].Writing != "" {
			t.Errorf("%s: retries %v, remembered %+v", name, plan.Retry, plan.Seen["1"])
		}
	}
}
