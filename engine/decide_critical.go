package engine

import (
	"fmt"

	"coppice"
)

// criticalTail is how much of the end of a text is searched.
const criticalTail = 64 << 10

// critical returns the failure if the end of a text shows a broken environment,
// by the project's patterns.
func critical(p coppice.Policy, text string) *coppice.Failure {
	return p.Broken(text[max(0, len(text)-criticalTail):])
}

// broken returns the failure of checks whose output shows a broken environment.
// Their results are not kept, and no session has to fix the tree.
func broken(v *View, r coppice.CheckResult) *coppice.Failure {
	for _, c := range r.Checks {
		if c.Passed() || c.Killed() {
			continue
		}
		if f := critical(v.Project.Policy, c.Log); f != nil {
			f.Text = fmt.Sprintf("check %s: %s", coppice.Quote(c.Command), f.Text)
			return f
		}
	}
	return nil
}
