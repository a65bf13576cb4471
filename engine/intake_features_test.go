package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coppice"
)

// byCategory has a track for each of two categories.
func byCategory(p *coppice.Project) {
	p.Policy.Tracks = []coppice.Track{{Name: "main", Default: true}, {Name: "web", Categories: []string{"ui", "docs"}}, {Name: "late", Categories: []string{"docs"}}}
}

func TestCreateFeature(t *testing.T) {
	t.Parallel()
	b := openApp(t, byCategory)
	made := b.create(coppice.NewTask{Title: "a", Category: "docs", Steps: []string{"one", "two"}, Feature: "7", Budget: 5},
		coppice.NewTask{Title: "b", Category: "other"}, coppice.NewTask{Title: "c", Category: "ui", Track: "late"})
	var tracks []string
	for _, m := range made {
		tracks = append(tracks, m.Track)
	}
	if d := cmp.Diff([]string{"web", "main", "late"}, tracks); d != "" {
		t.Errorf("tracks (-want +got):\n%s", d)
	}
	if got := b.task("app-1"); got.Feature != "7" || len(got.Steps) != 2 || got.Budget != 5 || got.Category != "docs" {
		t.Errorf("stored %+v", got)
	}
	for field, n := range map[string]coppice.NewTask{
		"category": {Title: "a", Category: "a\nb"}, "feature": {Title: "a", Feature: strings.Repeat("x", 201)},
		"steps": {Title: "a", Steps: []string{"one", " "}}, "budget": {Title: "a", Budget: -1},
	} {
		if _, err := b.Intake.CreateTasks(t.Context(), "app", []coppice.NewTask{n}); coppice.ErrorCode(err) != coppice.EInvalid || coppice.Public(err).Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestChangeWork(t *testing.T) {
	t.Parallel()
	b := openApp(t, byCategory)
	b.create(coppice.NewTask{Title: "a", Steps: []string{"one"}})
	track, agent, model, category, budget := "web", "bob", "small", "ui", coppice.USD(3)
	got, err := b.Intake.ChangeTask(t.Context(), "app-1", coppice.TaskChange{Track: &track, Agent: &agent, Model: &model, Category: &category, Steps: &[]string{}, Budget: &budget})
	if err != nil || got.Track != "web" || got.Agent != "bob" || got.Next.Agent != "bob" || got.Next.Model != "small" || got.Category != "ui" || len(got.Steps) != 0 || got.Budget != 3 {
		t.Errorf("%+v %v", got, err)
	}
	track = "nowhere"
	if _, err := b.Intake.ChangeTask(t.Context(), "app-1", coppice.TaskChange{Track: &track}); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("no such track: %v", err)
	}
	if after := b.task("app-1"); after.Track != "web" {
		t.Errorf("a refused change changed it to %s", after.Track)
	}
}

// The features file is the person's and Coppice's: what a feature's own agent makes
// of it does not land.
func TestFeaturesFileWhileLanding(t *testing.T) {
	t.Parallel()
	listed := policy(func(p *coppice.Policy) { p.Features = "docs/features.json" })
	feature := task(func(t *coppice.Task) { t.Feature = "7" })
	for name, c := range map[string]struct {
		view *View
		want []string
	}{
		"a feature":  {viewOf(coppice.StageChecking, candidate(), listed, feature), []string{"docs/features.json"}},
		"no feature": {viewOf(coppice.StageChecking, candidate(), listed), nil},
		"no list":    {viewOf(coppice.StageChecking, candidate(), feature), nil},
	} {
		if got := mergeSpec(c.view, *c.view.Landing).Ours; !cmp.Equal(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	v := viewOf(coppice.StageQueued, listed, feature, task(func(t *coppice.Task) { t.Steps = []string{"it greets", "it parts"} }))
	text := promptFor(v, &coppice.Next{Role: coppice.RoleImplement}, nil)
	for _, part := range []string{"1. it greets\n2. it parts\n", "docs/features.json is kept by Coppice"} {
		if !strings.Contains(text, part) {
			t.Errorf("the prompt lacks %q:\n%s", part, text)
		}
	}
}
