package engine

import (
	"fmt"

	"coppice"
)

// criticalTail is how much of the end of a text is looked at.
const criticalTail = 64 << 10

// critical reports whether the end of a text has what the project calls a sign of
// a broken environment.
func critical(p coppice.Policy, text string) *coppice.Failure {
	return p.Broken(text[max(0, len(text)-criticalTail):])
}

// broken is the failure of checks that say more of the environment than of the
// tree they ran on: no judgement is kept of them, and nobody has to mend the tree.
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
