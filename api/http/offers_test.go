package http_test

import (
	"context"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/api/http"
	"coppice/store"
)

// A schedule says whether a run can be started: not while one has not ended, also if
// the schedule is paused.
func TestScheduleSaysWhetherItCanRun(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	one := b.Task("app", coppice.NewTask{Title: "One run"})
	s := coppice.Schedule{ProjectID: one.ProjectID, Name: "nightly", PausedAt: b.Clock.Now()}
	s.Task.Title, s.Every = "Update", coppice.MinEvery
	b.Update(func(tx store.Tx) error { return tx.Schedules.Put(&s) })
	can := func() bool { return read[api.ScheduleDetail](t, b, "/projects/app/schedules/nightly").CanRun }
	if !can() {
		t.Error("no run is open, but none can be started")
	}
	b.Change(one.Key, func(k *coppice.Task) { k.Schedule = s.ID })
	if can() {
		t.Error("a run is open, but another one can be started")
	}
	refuses(t, b, 409, "POST", "/api/v1/projects/app/schedules/nightly/run", "{}")
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
