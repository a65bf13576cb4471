package nearest

import "testing"

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"chekcs", "checks", 1}, {"sesions", "sessions", 1}, {"a", "b", 1}, {"abc", "", 3}, {"abcdefgh", "x", 9}} {
		if got := distance(c.a, c.b, 9); got != min(c.want, 9) && c.want != 9 {
			t.Errorf("%q %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	known := []string{"agents", "done", "limits", "list", "status"}
	for given, want := range map[string]string{"limts": "limits", "staus": "status", "LIST": "list", "zzzzzz": "", "": "", "nist": "list", "nope": "", "lost": "list"} {
		if got := Name(given, known); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}
