//go:build moreagents

package agents

import (
	"testing"
)

// TestACPRestart: the server is killed while an agent is in the middle of its
// turn; the agent does not notice, and its work lands.
func TestACPRestart(t *testing.T) {
	t.Parallel()
	for name := range more {
		t.Run(name+"-restart", func(t *testing.T) {
			t.Parallel()
			b := moreBench(t, name)
			if m := more[name].model; m != "" {
				b.env["GEMINI_MODEL"] = m
			}
			survives(t, b, name)
		})
	}
}
