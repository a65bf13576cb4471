package coppice

import (
	"fmt"
	"regexp"
)

// Broken returns the failure of the environment that a text reports, by the
// project's critical patterns, or nil.
func (p Policy) Broken(text string) *Failure {
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
		return Failf(ClassEnvironment, fmt.Sprintf("%s: %s", label, Quote(found)),
			"fix the environment; critical_patterns in coppice.yaml says which output means that it is broken")
	}
	return nil
}
