//go:build moreagents

package agents

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestACPScreen drives the screens of agents that are else driven by ACP.
func TestACPScreen(t *testing.T) {
	t.Parallel()
	t.Run("gemini-screen", func(t *testing.T) {
		t.Parallel()
		b, _ := moreBench(t, "gemini")
		// Somebody who uses it has chosen how to log in.
		chosen := filepath.Join(b.home, ".gemini", "settings.json")
		if err := errors.Join(os.MkdirAll(filepath.Dir(chosen), 0o700), os.WriteFile(chosen, []byte(`{"security":{"auth":{"selectedType":"gemini-api-key"}}}`), 0o600)); err != nil {
			t.Fatal(err)
		}
		b.onScreen(t, "-y", "--skip-trust", "-m", "gemini-2.5-flash")
	})
	t.Run("opencode-screen", func(t *testing.T) {
		t.Parallel()
		b, _ := moreBench(t, "opencode")
		b.onScreen(t)
	})
	t.Run("qwen-screen", func(t *testing.T) {
		t.Parallel()
		b, _ := moreBench(t, "qwen")
		b.onScreen(t, "-y", "--auth-type", "openai")
	})
}
