package glob

import "testing"

func TestMatches(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{".env": true, "a/.env.local": true, "data/x/y": true, "a/data/x": true, "src/main.go": false} {
		if got := Matches(path, []string{".env*", "data/**"}); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
