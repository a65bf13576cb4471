//go:build moreagents

package agents

import (
	"path/filepath"
	"testing"
)

// TestACPScreen drives the screens of agents that are else driven by ACP.
func TestACPScreen(t *testing.T) {
	t.Parallel()
	t.Run("gemini-screen", func(t *testing.T) {
		t.Parallel()
		b := moreBench(t, "gemini")
		// Somebody who uses it has chosen how to log in.
		put(t, filepath.Join(b.home, ".gemini", "settings.json"), `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`)
		b.onScreen(t, "-y", "--skip-trust", "-m", "gemini-2.5-flash")
	})
	t.Run("opencode-screen", func(t *testing.T) {
		t.Parallel()
		b := moreBench(t, "opencode")
		b.onScreen(t)
	})
	t.Run("qwen-screen", func(t *testing.T) {
		t.Parallel()
		b := moreBench(t, "qwen")
		b.onScreen(t, "-y", "--auth-type", "openai")
	})
}
