package engine

import (
	"testing"

	"coppice"
)

// The tasks that a project can still open are limited by those that have started
// and not landed. A task that waits for a person does not count.
func TestMayOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ limit, started, parked, most, want int }{
		"all":            {10, 0, 0, 4, 4},
		"some":           {10, 8, 0, 4, 2},
		"none":           {10, 10, 0, 4, 0},
		"above":          {10, 12, 0, 4, 0},
		"a person waits": {10, 10, 1, 4, 1},
	} {
		r := Capacity{InFlight: map[int64]int{1: c.started}, Projects: map[int64]coppice.Project{1: {Policy: coppice.Policy{Limits: coppice.Limits{Workspaces: c.limit}}}}}
		for range c.parked {
			r.Parked = append(r.Parked, coppice.Session{ProjectID: 1})
		}
		if got := r.mayOpen(1, c.most); got != c.want {
			t.Errorf("%s: %d more can start, want %d", name, got, c.want)
		}
	}
}
