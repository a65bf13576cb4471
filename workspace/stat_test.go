package workspace

import (
	"strings"
	"testing"
)

func TestStat(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ws := b.prepare("app-1")
	write(t, ws.Path, "new.txt", "one\ntwo\n")
	head := commit(t, ws.Path, "work")
	got := must[string](t)(b.Stat(b.ctx, ws.Path, ws.Head, head))
	if !strings.Contains(got, "new.txt | 2 ++") || !strings.Contains(got, "1 file changed, 2 insertions(+)") {
		t.Errorf("it says %q", got)
	}
	for _, c := range [][2]string{{head, head}, {"", head}, {"--output=x", head}, {"HEAD", head}} {
		if got := must[string](t)(b.Stat(b.ctx, ws.Path, c[0], c[1])); got != "" {
			t.Errorf("from %q: %q", c[0], got)
		}
	}
}
