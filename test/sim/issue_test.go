package sim

import (
	"flag"
	"testing"
)

var issueSeeds = flag.Int("issues", 20, "how many histories of issues to play")

// TestIssues plays histories in which issues become tasks: people edit both sides, comment,
// add blockers and close, the tracker fails, results are lost, and everything is killed. Nothing is
// imported or commented twice, the limit holds, and at the end both sides agree.
func TestIssues(t *testing.T) {
	t.Parallel()
	var all issues
	done := 0
	if !histories(t, 30999+*start, *issueSeeds, func(o *Options) { o.Issues, o.Steps, o.Tasks = true, 700, 2 }, func(r Report) {
		all.add(r.issues)
		done += r.Done
	}) {
		return
	}
	if t.Logf("%+v, %d tasks done", all, done); min(all.Filed, all.Imported, all.Edited, all.Said, all.Delivered, all.Shut, all.Closed, all.Lost, all.Blocked, done) < *issueSeeds/4 {
		t.Error("that shows little")
	}
}
