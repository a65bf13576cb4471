package engine

import (
	"context"
	"slices"
	"testing"

	"coppice"
)

// judging is an intake that asks levels, and what it was asked.
func judging(t *testing.T, levels func([]coppice.Task) []string) (*bundle, *[][]string) {
	t.Helper()
	b := open(t)
	var asked [][]string
	WithLevels(func(_ context.Context, tasks []coppice.Task) []string {
		var titles []string
		for n := range tasks {
			titles = append(titles, tasks[n].Title)
			if tasks[n].ProjectID == 0 {
				t.Errorf("asked about %+v", tasks[n])
			}
			defer func() { tasks[n].Title = "changed by the one who was asked" }()
		}
		asked = append(asked, titles)
		return levels(tasks)
	})(b.Intake)
	return b, &asked
}

// Only tasks whose model is auto are asked about, by their own word or the
// project's, and only answers that are levels are kept.
func TestLevelsOfNewTasks(t *testing.T) {
	t.Parallel()
	b, asked := judging(t, func([]coppice.Task) []string {
		return []string{LevelComplex, "nonsense", "", LevelSimple, LevelSimple, LevelMedium}
	})
	b.project(func(p *coppice.Project) { p.Policy.Agent.Model = "" })
	auto := coppice.ModelAuto
	made, err := b.CreateTasks(t.Context(), "app", []coppice.NewTask{
		{Title: " First ", Ref: "f", Model: auto, After: []string{"l"}}, {Title: "None"}, {Title: "Own", Model: "big"}, {Title: "Second", Model: auto},
		{Title: "Third", Model: auto}, {Title: "Last", Ref: "l", Model: auto},
	})
	b.must(err)
	if len(*asked) != 1 || !slices.Equal((*asked)[0], []string{"First", "Second", "Third", "Last"}) {
		t.Fatalf("asked about %q", *asked)
	}
	for n, want := range []string{LevelComplex, "", "", "", "", LevelSimple} {
		if made[n].Level != want || b.task(made[n].Key).Level != want {
			t.Errorf("%s: %q, want %q", made[n].Title, made[n].Level, want)
		}
	}
	b.project(func(p *coppice.Project) { p.Policy.Agent.Use, p.Policy.Agent.Model = "ann", auto })
	*asked = nil
	made, err = b.CreateTasks(t.Context(), "app", []coppice.NewTask{{Title: "Theirs"}, {Title: "Another's", Agent: "bob"}, {Title: "Named", Model: "big"}})
	b.must(err)
	if len(*asked) != 1 || !slices.Equal((*asked)[0], []string{"Theirs"}) || made[0].Level != LevelComplex || made[1].Level != "" {
		t.Errorf("asked about %q: %q", *asked, made[0].Level)
	}
	// What is refused is asked about by nobody.
	*asked = nil
	for _, bad := range [][]coppice.NewTask{{{Title: "Good"}, {Title: ""}}, {{Title: "Good", Body: "\x00"}}, {}} {
		if _, err := b.CreateTasks(t.Context(), "app", bad); err == nil {
			t.Errorf("%+v passes", bad)
		}
	}
	if _, err := b.CreateTasks(t.Context(), "nowhere", []coppice.NewTask{{Title: "Good"}}); err == nil || len(*asked) != 0 {
		t.Errorf("%v, asked about %q", err, *asked)
	}
}

// A level belongs to what was judged: a task that becomes another is asked about
// again, and one whose answer does not come has none.
func TestLevelOfAChange(t *testing.T) {
	t.Parallel()
	answer := LevelComplex
	b, asked := judging(t, func([]coppice.Task) []string { return []string{answer} })
	b.project()
	b.create(coppice.NewTask{Title: "One", Model: coppice.ModelAuto})
	text := func(s string) *string { return &s }
	priority := 3
	for _, c := range []struct {
		name   string
		change coppice.TaskChange
		answer string
		asked  int
		want   string
	}{
		{"nothing of it", coppice.TaskChange{Priority: &priority}, LevelSimple, 0, LevelComplex},
		{"the same", coppice.TaskChange{Title: text("One")}, LevelSimple, 1, LevelComplex},
		{"the title", coppice.TaskChange{Title: text("Two")}, LevelMedium, 1, LevelMedium},
		{"the body", coppice.TaskChange{Body: text("More")}, LevelSimple, 1, LevelSimple},
		{"no answer", coppice.TaskChange{Steps: &[]string{"It works."}}, "", 1, ""},
		{"another model", coppice.TaskChange{Model: text("big")}, LevelSimple, 0, ""},
		{"its words alone", coppice.TaskChange{Body: text("Less")}, LevelSimple, 0, ""},
		{"auto again", coppice.TaskChange{Model: text(coppice.ModelAuto)}, LevelMedium, 1, LevelMedium},
		{"refused", coppice.TaskChange{Title: text("")}, LevelSimple, 0, LevelMedium},
	} {
		*asked, answer = nil, c.answer
		_, err := b.ChangeTask(t.Context(), "app-1", c.change)
		if (err != nil) != (c.name == "refused") {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := b.task("app-1").Level; got != c.want || len(*asked) != c.asked {
			t.Errorf("%s: level %q, want %q; asked %q", c.name, got, c.want, *asked)
		}
	}
	if _, err := b.ChangeTask(t.Context(), "app-9", coppice.TaskChange{Title: text("x")}); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("an unknown task: %v", err)
	}
}

// An answer about what the task no longer is is not taken.
func TestRelevel(t *testing.T) {
	t.Parallel()
	was := coppice.Task{ID: 1, Title: "a", Model: coppice.ModelAuto, Level: LevelSimple}
	with := func(f func(*coppice.Task)) coppice.Task {
		c := was
		f(&c)
		return c
	}
	retitled := with(func(k *coppice.Task) { k.Title = "b" })
	for name, c := range map[string]struct {
		now, judged coppice.Task
		want        string
	}{
		"unchanged":       {was, with(func(k *coppice.Task) { k.Level = LevelComplex }), LevelSimple},
		"as judged":       {retitled, with(func(k *coppice.Task) { k.Title, k.Level = "b", LevelComplex }), LevelComplex},
		"changed between": {retitled, with(func(k *coppice.Task) { k.Title, k.Level, k.Body = "b", LevelComplex, "x" }), ""},
		"not judged":      {retitled, coppice.Task{}, ""},
		"another task":    {retitled, with(func(k *coppice.Task) { k.ID, k.Title, k.Level = 2, "b", LevelComplex }), ""},
	} {
		got := c.now
		if relevel(&got, was, c.judged); got.Level != c.want {
			t.Errorf("%s: %q, want %q", name, got.Level, c.want)
		}
	}
}

// A task's own level goes before the rules.
func TestLevelGoesBeforeTheRules(t *testing.T) {
	t.Parallel()
	b := open(t, func(c *Config) {
		c.Models = func(string, *coppice.Profile) map[string]string {
			return map[string]string{LevelSimple: "small", LevelComplex: "big"}
		}
	})
	WithLevels(func(context.Context, []coppice.Task) []string { return []string{LevelComplex} })(b.Intake)
	b.project()
	b.create(coppice.NewTask{Title: "Fix a typo", Model: coppice.ModelAuto})
	b.turn()
	if s := b.session("app-1.1"); s.Model != "big" {
		t.Errorf("starts with %q", s.Model)
	}
}
