package engine

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"coppice"
	"coppice/store"
)

func noteOf(p coppice.Project, key, value string) coppice.Note {
	return coppice.Note{ProjectID: p.ID, Scope: coppice.NotesOfProject, Key: key, Value: value}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	p := b.projectNow()
	WithRedact(func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") })(b.Intake)
	before := b.newest()
	n, err := b.PutNote(t.Context(), noteOf(p, "plan/a", "use hunter2"), nil)
	b.must(err)
	if n.Version != 1 || n.Value != "use [redacted]" || n.By.Kind != coppice.ActorPerson || !n.At.Equal(noon) {
		t.Errorf("wrote %+v", n)
	}
	again, err := b.As(coppice.Actor{Kind: coppice.ActorSession, Name: "app-1.1"}).PutNote(t.Context(), noteOf(p, "plan/a", "use hunter2"), nil)
	if err != nil || again != n {
		t.Errorf("the same value: %+v, %v", again, err)
	}
	b.must(b.DeleteNote(t.Context(), n, &n.Version))
	var got []string
	for _, ev := range b.since(before) {
		got = append(got, fmt.Sprintf("%s %s %s %s %s", ev.Kind, ev.Subject, ev.By, ev.Reason, ev.Data))
	}
	want := `note.changed plan/a person written {"scope":"project","key":"plan/a","version":1}` + "\n" +
		`note.changed plan/a person deleted {"scope":"project","key":"plan/a","version":1,"deleted":true}`
	if all := strings.Join(got, "\n"); all != want {
		t.Errorf("events\n%s\nwant\n%s", all, want)
	}
	if err := b.DeleteNote(t.Context(), n, nil); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("deleted twice: %v", err)
	}
}

func (b *bundle) newest() int64 {
	b.t.Helper()
	return read(b, func(r store.Reader) (int64, error) { _, last, err := r.Log.Bounds(); return last, err })
}

func (b *bundle) since(seq int64) []coppice.Event {
	b.t.Helper()
	return read(b, func(r store.Reader) ([]coppice.Event, error) { return r.Log.Events(seq, 100, store.EventFilter{}) })
}

func TestNotesAreRefused(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "a"})
	p, one := b.projectNow(), int64(1)
	other := coppice.Project{Prefix: "other", Path: "/src/other", Policy: p.Policy}
	b.update(func(tx store.Tx) error { return tx.Projects.Put(&other) })
	WithRedact(func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") })(b.Intake)
	for name, c := range map[string]struct {
		note     coppice.Note
		expected *int64
		code     coppice.Code
		says     string
	}{
		"no key":              {noteOf(p, "", "x"), nil, coppice.EInvalid, "not a valid key"},
		"a blank":             {noteOf(p, "a b", "x"), nil, coppice.EInvalid, "not a valid key"},
		"an empty part":       {noteOf(p, "a//b", "x"), nil, coppice.EInvalid, "not a valid key"},
		"a slash at the end":  {noteOf(p, "a/", "x"), nil, coppice.EInvalid, "not a valid key"},
		"a part of dots":      {noteOf(p, "a/../b", "x"), nil, coppice.EInvalid, "not a valid key"},
		"a long key":          {noteOf(p, strings.Repeat("k", coppice.MaxNoteKey+1), "x"), nil, coppice.EInvalid, "not a valid key"},
		"a secret as the key": {noteOf(p, "hunter2", "x"), nil, coppice.EInvalid, "secret"},
		"a long value":        {noteOf(p, "a", strings.Repeat("v", coppice.MaxNoteValue+1)), nil, coppice.ETooLarge, "262144 are allowed"},
		"not text":            {noteOf(p, "a", "\xff"), nil, coppice.EInvalid, "UTF-8"},
		"no such version":     {noteOf(p, "a", "x"), &one, coppice.EConflict, "there is no note a"},
		"another project":     {coppice.Note{ProjectID: other.ID, Scope: coppice.NotesOfTask(1), Key: "a"}, nil, coppice.ENotFound, "no task app-1"},
		"no such task":        {coppice.Note{ProjectID: p.ID, Scope: coppice.NotesOfTask(99), Key: "a"}, nil, coppice.ENotFound, "no task 99"},
	} {
		if _, err := b.PutNote(t.Context(), c.note, c.expected); coppice.ErrorCode(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The limits of a project count keys and values. A note that becomes smaller is
// accepted in every case.
func TestNoteLimits(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	p := b.projectNow()
	const size = coppice.MaxNoteValue - 4 // and 4 bytes of the key
	big := strings.Repeat("v", size)
	b.update(func(tx store.Tx) error {
		for i := range coppice.MaxNoteBytes / coppice.MaxNoteValue {
			n := noteOf(p, fmt.Sprintf("b%03d", i), big)
			if err := tx.Notes.Put(&n); err != nil {
				return err
			}
		}
		return nil
	})
	refused := func(key, value, says string) {
		t.Helper()
		_, err := b.PutNote(t.Context(), noteOf(p, key, value), nil)
		if coppice.ErrorCode(err) != coppice.ETooLarge || !strings.Contains(err.Error(), says) || coppice.Public(err).Fix == "" {
			t.Errorf("%s: %v", key, err)
		}
	}
	accepted := func(key, value string) {
		t.Helper()
		_, err := b.PutNote(t.Context(), noteOf(p, key, value), nil)
		b.must(err)
	}
	refused("x", "", "would have 16777217 bytes")
	refused("b000", big+"v", "would have 16777217 bytes")
	accepted("b000", big[:size-1])
	accepted("x", "")
	b.must(b.DeleteNote(t.Context(), noteOf(p, "b001", ""), nil)) // 64 notes are left
	b.update(func(tx store.Tx) error {
		for i := range coppice.MaxNotes - 64 {
			n := noteOf(p, fmt.Sprint("k", i), "")
			if err := tx.Notes.Put(&n); err != nil {
				return err
			}
		}
		return nil
	})
	refused("one-more", "", "the project has 1000 notes")
	accepted("k1", "another value")
}

// Of writers that expect the same version, one succeeds.
func TestNoteWritersCompete(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	p := b.projectNow()
	const writers, rounds = 8, 5
	version := int64(0)
	for round := range rounds {
		var all sync.WaitGroup
		errs, wrote := make([]error, writers), make([]coppice.Note, writers)
		for w := range writers {
			all.Go(func() {
				expected := version
				wrote[w], errs[w] = b.PutNote(t.Context(), noteOf(p, "owner", fmt.Sprintf("%d of round %d", w, round)), &expected)
			})
		}
		all.Wait()
		now := read(b, func(r store.Reader) (coppice.Note, error) { return r.Notes.Get(p.ID, coppice.NotesOfProject, "owner") })
		won := 0
		for w, err := range errs {
			if err == nil {
				won++
				if wrote[w] != now {
					t.Errorf("round %d: %d wrote %+v, and the note is %+v", round, w, wrote[w], now)
				}
			} else if coppice.ErrorCode(err) != coppice.EConflict {
				t.Errorf("round %d: %v", round, err)
			}
		}
		if won != 1 {
			t.Errorf("round %d: %d writers succeeded", round, won)
		}
		version = now.Version
	}
}

// A note of a task does not make the engine decide about the task.
func TestNotesWakeNobody(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "a"})
	b.turn()
	before := b.newest()
	p := b.projectNow()
	_, err := b.PutNote(t.Context(), coppice.Note{ProjectID: p.ID, Scope: coppice.NotesOfTask(b.task("app-1").ID), Key: "a", Value: "x"}, nil)
	b.must(err)
	b.turn()
	events := b.since(before)
	if len(events) != 1 || events[0].TaskID != b.task("app-1").ID {
		t.Errorf("events %+v", events)
	}
}
