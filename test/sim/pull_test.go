package sim

import (
	"flag"
	"testing"
)

var pullSeeds = flag.Int("pulls", 30, "how many histories of pull requests to play")

// TestPulls plays histories in which work lands by pull requests: people and CI change
// them, webhooks are repeated, reordered and lost, the forge fails, and everything is
// killed. Nothing is opened, merged, commented or labelled twice, and nothing is lost.
func TestPulls(t *testing.T) {
	t.Parallel()
	var all pulls
	done := 0
	if !histories(t, 20999+*start, *pullSeeds, func(o *Options) { o.Pulls, o.Steps, o.Tasks = true, 700, 4 }, func(r Report) {
		all.add(r.pulls)
		done += r.Done
	}) {
		return
	}
	if t.Logf("%+v, %d tasks done", all, done); min(all.Opened, all.Merged, all.Landed, all.Pushes, all.Sent, all.Limited, all.Run, all.Hooks, all.Lost, done) < *pullSeeds/4 || all.Rejected+all.Automatic < *pullSeeds/10 {
		t.Error("that shows little")
	}
}
