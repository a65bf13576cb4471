package coppice_test

import (
	"slices"
	"testing"

	"coppice"
)

func TestTheTrashKeepsTheNotes(t *testing.T) {
	t.Parallel()
	p := coppice.DefaultPolicy()
	if got := p.Kept().Keep; !slices.Equal(got, p.Trash.Keep) {
		t.Errorf("keeps %q", got)
	}
	p.Progress = "notes.md"
	if got := p.Kept().Keep; !slices.Equal(got, []string{".env*", "notes.md"}) || len(p.Trash.Keep) != 1 {
		t.Errorf("keeps %q", got)
	}
}
