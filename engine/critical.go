package engine

import (
	"fmt"
	"regexp"

	"coppice"
)

// criticalTail is how much of the end of a text is looked at.
const criticalTail = 64 << 10

// critical tells whether a text has what the project calls a sign of a broken
// environment.
func critical(p coppice.Policy, text string) *coppice.Failure {
	text = text[max(0, len(text)-criticalTail):]
	for _, c := range p.Critical {
		re, err := regexp.Compile(c.Match)
		if err != nil {
			continue // the policy was refused when it was read
		}
		found := re.FindString(text)
		if found == "" {
			continue
		}
		label := c.Label
		if label == "" {
			label = "the environment is broken"
		}
		return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("%s: %s", label, coppice.Quote(found)), "mend the environment; critical_patterns in coppice.yaml says what means that it is broken")
	}
	return nil
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
