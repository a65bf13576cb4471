package coppice_test

import (
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/verb"
)

// A task that waits as its landing method says needs a person, says why, and can
// be landed. No two methods wait at one stage.
func TestLandingMethods(t *testing.T) {
	t.Parallel()
	seen := map[coppice.Stage]bool{}
	for _, m := range coppice.LandingMethods {
		if got := (coppice.LandPolicy{How: m.Name}).Method(); got != m || m.Help == "" {
			t.Errorf("land.how %s is %+v", m.Name, got)
		}
		if m.Stage == "" {
			continue
		}
		task := coppice.Task{Key: "app-1", Stage: m.Stage}
		want := coppice.StatusNeedsYou
		if m.Forge { // it waits for others
			want = coppice.StatusLanding
		}
		if s, why := task.Status(nil, nil, nil, ""); s != want || why != strings.ReplaceAll(m.Waits, "%s", "app-1") {
			t.Errorf("%s: %s, %q", m.Name, s, why)
		}
		if can := verb.Can(verb.Facts{Task: task}); !slices.Contains(can, coppice.VerbLand) {
			t.Errorf("%s: it can be asked to %v", m.Name, can)
		}
		if seen[m.Stage] || !slices.Contains(coppice.Stages, m.Stage) || !m.Stage.Lands() {
			t.Errorf("%s waits at %q", m.Name, m.Stage)
		}
		seen[m.Stage] = true
	}
	if got := (coppice.LandPolicy{}).Method().Name; got != coppice.LandQueue {
		t.Errorf("the default landing method is %s", got)
	}
	for _, s := range coppice.Stages {
		if s.Awaits() != seen[s] {
			t.Errorf("stage %s awaits a person: %t", s, s.Awaits())
		}
	}
}
