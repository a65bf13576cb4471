package http_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/http"
	"coppice/store"
)

// A schedule says what can be requested of it: a run unless one has not ended, also if
// the schedule is paused.
func TestScheduleSaysWhatItOffers(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	one := b.Task("app", coppice.NewTask{Title: "One run"})
	s := coppice.Schedule{ProjectID: one.ProjectID, Name: "nightly", PausedAt: b.Clock.Now()}
	s.Task.Title, s.Every = "Update", coppice.MinEvery
	b.Update(func(tx store.Tx) error { return tx.Schedules.Put(&s) })
	wants := func(want ...string) {
		t.Helper()
		if can := read[api.ScheduleDetail](t, b, "/projects/app/schedules/nightly").Can; !slices.Equal(can, want) {
			t.Errorf("it offers %v, want %v", can, want)
		}
	}
	wants("run", "resume", "remove")
	b.Change(one.Key, func(k *coppice.Task) { k.Schedule = s.ID })
	wants("resume", "remove")
	refuses(t, b, 409, "POST", "/api/v1/projects/app/schedules/nightly/run", "{}")
	b.Update(func(tx store.Tx) error {
		s.PausedAt = time.Time{}
		return tx.Schedules.Put(&s)
	})
	wants("pause", "remove")
}

// A project says what can be requested of it: nothing while it is being removed.
func TestProjectSaysWhatItOffers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*coppice.Project)
		want   []string
	}{
		{"usual", func(*coppice.Project) {}, []string{"reload", "pause", "rename", "remove"}},
		{"paused", func(p *coppice.Project) { p.PausedAt = p.CreatedAt.Add(1) }, []string{"reload", "resume", "rename", "remove"}},
		{"with a features file", func(p *coppice.Project) { p.Policy.Features = "features.json" }, []string{"reload", "pause", "rename", "remove", "add-feature"}},
		{"being removed", func(p *coppice.Project) { p.Removal = &coppice.Removal{At: p.CreatedAt} }, nil},
	} {
		b := setup(t)
		p := b.Project("/src/app")
		c.change(&p)
		b.Update(func(tx store.Tx) error { return tx.Projects.Put(&p) })
		if can := read[api.Project](t, b, "/projects/app").Can; !slices.Equal(can, c.want) {
			t.Errorf("%s: it offers %v, want %v", c.name, can, c.want)
		}
		if can := read[api.ProjectList](t, b, "/projects").Projects[0].Can; !slices.Equal(can, c.want) {
			t.Errorf("%s: in the list it offers %v, want %v", c.name, can, c.want)
		}
	}
}

// list is a features file that does not change.
type list []api.Feature

func (l list) List(context.Context, coppice.Project) (api.FeatureList, error) {
	return api.FeatureList{File: "features.json", Features: append([]api.Feature{}, l...)}, nil
}

func (list) Change(context.Context, coppice.Project, string, api.FeatureChange, string) (string, error) {
	return "", nil
}

// A feature that failed says that it can be opened again, unless its task can be
// retried.
func TestFeatureSaysWhetherItCanBeReopened(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *http.Config) {
		c.Features = list{{ID: "1", Status: api.FeatureFailed}, {ID: "2", Status: api.FeatureFailed}, {ID: "3", Status: "open"}}
	})
	b.Project("/src/app")
	b.Task("app", coppice.NewTask{Title: "Two", Feature: "2"})
	for _, f := range read[api.FeatureList](t, b, "/projects/app/features").Features {
		if want := f.ID == "1"; f.CanReopen != want {
			t.Errorf("feature %s: %t, want %t", f.ID, f.CanReopen, want)
		}
	}
}
