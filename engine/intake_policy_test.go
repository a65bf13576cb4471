package engine

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coppice"
)

// A change of the tracks moves tasks that have not started and were in the track
// of their category.
func TestTracksChange(t *testing.T) {
	t.Parallel()
	b := openApp(t, byCategory, func(p *coppice.Project) {
		p.Policy.Limits.Sessions = 1
		p.PausedTracks, p.Strikes = map[string]string{"late": "broken"}, map[string]int{"late": 2, "web": 1}
	})
	b.create(coppice.NewTask{Title: "running", Category: "ui", Priority: 5}, coppice.NewTask{Title: "routed", Category: "ui"}, coppice.NewTask{Title: "put there", Category: "ui", Track: "main"},
		coppice.NewTask{Title: "its track goes", Category: "ui", Track: "late"}, coppice.NewTask{Title: "none"})
	b.turn()
	policy := b.projectNow().Policy
	policy.Tracks = []coppice.Track{{Name: "main", Default: true}, {Name: "web"}, {Name: "new", Categories: []string{"ui"}}}
	b.Intake.inspect = func(context.Context, string) (coppice.Project, error) {
		return coppice.Project{Path: b.projectNow().Path, Policy: policy}, nil
	}
	p, err := b.AddProject(t.Context(), "/src/app")
	b.must(err)
	if len(p.PausedTracks) != 0 || p.Strikes["late"] != 0 || p.Strikes["web"] != 1 {
		t.Errorf("paused %v, strikes %v", p.PausedTracks, p.Strikes)
	}
	var got []string
	for _, key := range []string{"app-1", "app-2", "app-3", "app-4", "app-5"} {
		got = append(got, b.task(key).Track)
	}
	if d := cmp.Diff([]string{"web", "new", "main", "new", "main"}, got); d != "" {
		t.Errorf("tracks (-want +got):\n%s", d)
	}
}
