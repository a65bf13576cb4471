package api

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCutText(t *testing.T) {
	t.Parallel()
	path := CheckPath("app-1", 7)
	for _, text := range []string{"", "short", strings.Repeat("é", 50)} {
		if got := CutText(text, 100, path); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, most := range []int{0, 1, 99, 100, 101} {
		long := "begin" + strings.Repeat("é€", 500) + "end"
		got := CutText(long, most, path)
		if !strings.Contains(got, "/api/v1/tasks/app-1/checks/7/log") || !utf8.ValidString(got) {
			t.Errorf("at %d: %q", most, got)
		}
		if kept := len(got) - len("\n[... 2508 bytes left out; the whole text: /api/v1"+path+" ...]\n"); kept > most {
			t.Errorf("at %d: kept %d bytes", most, kept)
		}
		if most > 20 && (!strings.HasPrefix(got, "begin") || !strings.HasSuffix(got, "end")) {
			t.Errorf("at %d: beginning or end is missing: %q", most, got)
		}
	}
}
