package workspace

import (
	"testing"

	"coppice/workspace/repo"
)

// TestOrigin: files come from an edit, from a commit of a person, or from a task
// that says so. The result has the branch that is checked out.
func TestOrigin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	files := []string{"a.txt", "not/there.txt"}
	origin := func() repo.Origin { t.Helper(); return must[repo.Origin](t)(b.OriginOf(b.ctx, b.root, files)) }
	first := origin()
	if want := (repo.Origin{Branch: "main", Commit: run(t, b.root, "git", "rev-parse", "HEAD")}); first != want {
		t.Errorf("at first %+v, want %+v", first, want)
	}
	write(t, b.root, "a.txt", "edited")
	if got := origin(); got != (repo.Origin{Edited: true}) {
		t.Errorf("edited: %+v", got)
	}
	run(t, b.root, "git", "add", "a.txt") // staged is edited still
	if got := origin(); got != (repo.Origin{Edited: true}) {
		t.Errorf("staged: %+v", got)
	}
	commit(t, b.root, "Landed\n\nCoppice-Task: app-7\n")
	landed := repo.Origin{Branch: "main", Commit: run(t, b.root, "git", "rev-parse", "HEAD"), Task: "app-7"}
	write(t, b.root, "b.txt", "something else")
	commit(t, b.root, "By a person")
	if got := origin(); got != landed {
		t.Errorf("landed: %+v, want %+v", got, landed)
	}
	write(t, b.root, "not/there.txt", "new")
	if got := origin(); !got.Edited {
		t.Errorf("made: %+v", got)
	}
	run(t, b.root, "rm", "-r", "not")
	run(t, b.root, "git", "checkout", "-q", "--detach")
	landed.Branch = ""
	if got := origin(); got != landed {
		t.Errorf("detached: %+v, want %+v", got, landed)
	}
}
