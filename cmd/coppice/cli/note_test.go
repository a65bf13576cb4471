package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice/api"
)

func TestNoteCommands(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fill()
	s.golden(t, "note-empty", "note", "list")
	s.golden(t, "note-set", "note", "set", "plan", "First the parser", "--if-version", "0")
	s.golden(t, "note-set-conflict", "note", "set", "plan", "x", "--if-version", "0")
	s.golden(t, "note-set-task", "note", "set", "plan/a", "of a task", "--task", "app-1")
	s.golden(t, "note-set-wrong", "note", "set", "a b", "x")
	s.golden(t, "note-set-both", "note", "set", "a", "x", "--file", "y")
	if code, out, errs := s.run("from\nstdin\n", "note", "set", "plan/b"); code != 0 || out != "plan/b  version 3\n" {
		t.Errorf("%d %q %q", code, out, errs)
	}
	file := filepath.Join(t.TempDir(), "value")
	s.Must(os.WriteFile(file, []byte("of a file"), 0o600))
	if code, out, errs := s.run("", "note", "set", "plan/c", "--file", file); code != 0 || out != "plan/c  version 4\n" {
		t.Errorf("%d %q %q", code, out, errs)
	}
	if code, out, _ := s.run("", "note", "get", "plan/b"); code != 0 || out != "from\nstdin\n" {
		t.Errorf("%d %q", code, out)
	}
	s.golden(t, "note-list", "note", "list")
	s.golden(t, "note-list-all", "note", "list", "plan/", "--all", "--limit", "1")
	s.golden(t, "note-list-next", "note", "list", "plan/", "--all", "--after", "project plan/b")
	s.golden(t, "note-get-json", "note", "get", "plan", "--json")
	s.golden(t, "note-get-missing", "note", "get", "none")
	s.golden(t, "note-get-task", "note", "get", "plan/a", "--task", "app-1")
	s.golden(t, "note-delete", "note", "delete", "plan", "--if-version", "1")
	s.golden(t, "note-delete-again", "note", "delete", "plan")
	s.golden(t, "note-watch", "note", "watch", "plan/b", "plan/c")
	s.golden(t, "note-watch-wrong", "note", "watch")
}

// The command waits for the event of a note, and ends when the time is over.
func TestNoteWatch(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fill()
	put := func(key, value string) {
		_, err := s.Client.PutNote(s.Ctx, "app", "", key, api.NoteWrite{Value: value})
		s.Must(err)
	}
	put("build/state", "red")
	done := make(chan string, 1)
	go func() {
		_, out, errs := s.run("", "note", "watch", "--prefix", "build/", "--until-value", "green")
		done <- out + errs
	}()
	put("build/state", "yellow")
	put("build/state", "green")
	select {
	case got := <-done:
		if got != "build/state  green\n" {
			t.Errorf("%q", got)
		}
	case <-s.Ctx.Done():
		t.Fatal(context.Cause(s.Ctx))
	}
	if code, _, errs := s.run("", "note", "watch", "none", "--timeout", "1ms"); code != 124 || !strings.Contains(errs, "the notes are not there after 1ms") {
		t.Errorf("%d %q", code, errs)
	}
}
