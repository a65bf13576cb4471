//go:build moreagents

package agents

import "testing"

// TestACPScreen drives the screen of an agent that is else driven by ACP.
func TestACPScreen(t *testing.T) {
	t.Parallel()
	t.Run("qwen-screen", func(t *testing.T) {
		t.Parallel()
		b, _ := moreBench(t, "qwen")
		b.onScreen(t, "-y", "--auth-type", "openai")
	})
}
