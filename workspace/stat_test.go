package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStat(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ws := b.prepare("app-1")
	write(t, ws.Path, "new.txt", "one\ntwo\n")
	write(t, ws.Path, "new\nline", "\x00")
	write(t, ws.Path, "a.txt", "one\nthree\n")
	head := commit(t, ws.Path, "work")
	want := " a.txt | +0 -1\n \"new\\nline\" | binary\n new.txt | +2 -0\n 3 files changed, lines: +2 -1"
	for _, off := range []bool{false, true} {
		b.NoGitFiles = off
		if got := must[string](t)(b.Stat(b.ctx, ws.Path, ws.Head, head)); got != want {
			t.Errorf("without direct access %v: %q", off, got)
		}
	}
	for _, c := range [][2]string{{head, head}, {"", head}, {"--output=x", head}, {"HEAD", head}} {
		if got := must[string](t)(b.Stat(b.ctx, ws.Path, c[0], c[1])); got != "" {
			t.Errorf("from %q: %q", c[0], got)
		}
	}
}

// Git finds renamed files, and a long list ends with the number of other files.
func TestStatOfManyFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ws := b.prepare("app-1")
	if err := os.Rename(filepath.Join(ws.Path, "a.txt"), filepath.Join(ws.Path, "b.txt")); err != nil {
		t.Fatal(err)
	}
	moved := commit(t, ws.Path, "moved")
	if got := must[string](t)(b.Stat(b.ctx, ws.Path, ws.Head, moved)); got != " a.txt => b.txt | +0 -0\n 1 file changed, lines: +0 -0" {
		t.Errorf("renamed: %q", got)
	}
	for i := range maxStat + 2 {
		write(t, ws.Path, fmt.Sprintf("%s/%d", strings.Repeat("long", 40), i), "x\n")
	}
	got := must[string](t)(b.Stat(b.ctx, ws.Path, moved, commit(t, ws.Path, "many")))
	if lines := strings.Split(got, "\n"); len(lines) != maxStat+2 || lines[maxStat] != " and 2 more" || lines[maxStat+1] != " 52 files changed, lines: +52 -0" || len(lines[0]) > 120 {
		t.Errorf("many: %q", got)
	}
}
