package storetest

import (
	"fmt"
	"strings"
	"testing"

	"coppice"
	"coppice/store"
)

// note returns a note of a project, by a session.
func note(p coppice.Project, scope coppice.NoteScope, key, value string) coppice.Note {
	return coppice.Note{ProjectID: p.ID, Scope: scope, Key: key, Value: value, By: coppice.Actor{Kind: coppice.ActorSession, Name: "app-1.1"}, At: start}
}

func putNotes(t *testing.T, s store.Store, notes ...coppice.Note) {
	t.Helper()
	update(t, s, func(tx store.Tx) error {
		for _, n := range notes {
			if err := tx.Notes.Put(&n); err != nil {
				return err
			}
		}
		return nil
	})
}

func totals(t *testing.T, s store.Store, p coppice.Project) coppice.NoteTotals {
	t.Helper()
	return get(t, s, func(r store.Reader) (coppice.NoteTotals, error) { return r.Notes.Totals(p.ID) })
}

func testNotes(t *testing.T, open Open) {
	s := open(t)
	p, other := project(t, s, "app"), project(t, s, "other")
	k := task(t, s, p, 1, nil)
	of := coppice.NotesOfTask(k.ID)
	same(t, "the task of a scope", []int64{k.ID, 0, 0}, []int64{of.Task(), coppice.NotesOfProject.Task(), coppice.NoteScope("flow/7").Task()})
	same(t, "totals of none", coppice.NoteTotals{}, totals(t, s, p))

	n := note(p, coppice.NotesOfProject, "plan", "é first")
	update(t, s, func(tx store.Tx) error { return tx.Notes.Put(&n) })
	same(t, "the version and size of a new note", []int64{1, 8}, []int64{n.Version, n.Size})
	read := func(scope coppice.NoteScope, key string) coppice.Note {
		return get(t, s, func(r store.Reader) (coppice.Note, error) { return r.Notes.Get(p.ID, scope, key) })
	}
	same(t, "a note", n, read(n.Scope, n.Key))
	putNotes(t, s, note(p, coppice.NotesOfProject, "plan", "second"), note(p, of, "plan", "of the task"), note(other, coppice.NotesOfProject, "plan", "x"))
	same(t, "a replaced note", []any{"second", int64(2)}, []any{read(n.Scope, n.Key).Value, read(n.Scope, n.Key).Version})
	same(t, "the same key of the task", "of the task", read(of, "plan").Value)
	same(t, "totals", coppice.NoteTotals{Notes: 2, Bytes: 4 + 6 + 4 + 11, Version: 3}, totals(t, s, p))
	same(t, "totals of the other project", coppice.NoteTotals{Notes: 1, Bytes: 5, Version: 1}, totals(t, s, other))

	update(t, s, func(tx store.Tx) error { return tx.Notes.Delete(p.ID, coppice.NotesOfProject, "plan") })
	view(t, s, func(r store.Reader) error {
		wantCode(t, "a deleted note", second(r.Notes.Get(p.ID, coppice.NotesOfProject, "plan")), coppice.ENotFound)
		return nil
	})
	err := s.Update(t.Context(), func(tx store.Tx) error { return tx.Notes.Delete(p.ID, coppice.NotesOfProject, "plan") })
	wantCode(t, "deleting it again", err, coppice.ENotFound)
	putNotes(t, s, note(p, coppice.NotesOfProject, "plan", "third"))
	same(t, "the version after a deletion", 4, read(coppice.NotesOfProject, "plan").Version)

	testNoteTopics(t, s, p, of)
}

// testNoteTopics checks that a watch of a note, and of a part of the keys, sees
// writes and deletions, and nothing else.
func testNoteTopics(t *testing.T, s store.Store, p coppice.Project, of coppice.NoteScope) {
	ctx := within(t)
	one := s.Watch(store.TopicNote(p.ID, coppice.NotesOfProject, "a/b/c"))
	below := s.Watch(store.TopicNotes(p.ID, coppice.NotesOfProject, "a/"))
	task := s.Watch(store.TopicNotes(p.ID, of, ""))
	for _, w := range []store.Watch{one, below, task} {
		defer w.Close()
	}
	putNotes(t, s, note(p, coppice.NotesOfProject, "a/b/c", ""), note(p, coppice.NotesOfProject, "a/d", ""), note(p, coppice.NotesOfProject, "ab", ""), note(p, of, "a/e", ""))
	same(t, "a watched note", []string{fmt.Sprintf("notes/%d/project/a/b/c", p.ID)}, must(one.Wait(ctx)))
	same(t, "notes below", []string{fmt.Sprintf("notes/%d/project/a/b/c", p.ID), fmt.Sprintf("notes/%d/project/a/d", p.ID)}, must(below.Wait(ctx)))
	same(t, "notes of a task", []string{fmt.Sprintf("notes/%d/%s/a/e", p.ID, of)}, must(task.Wait(ctx)))
	update(t, s, func(tx store.Tx) error { return tx.Notes.Delete(p.ID, coppice.NotesOfProject, "a/b/c") })
	same(t, "a deleted note", 1, len(must(one.Wait(ctx))))
}

func testNoteLists(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	k := task(t, s, p, 1, nil)
	of := coppice.NotesOfTask(k.ID)
	for _, key := range []string{"b", "plan", "plan/one", "plan/two", "plans", "a", "plan-b"} {
		putNotes(t, s, note(p, coppice.NotesOfProject, key, "value"))
	}
	putNotes(t, s, note(p, of, "plan/own", "value"), note(project(t, s, "other"), coppice.NotesOfProject, "plan", "x"))
	keys := func(f store.NoteFilter) string {
		t.Helper()
		f.ProjectID = p.ID
		if f.Most == 0 {
			f.Most = 100
		}
		all := get(t, s, func(r store.Reader) ([]coppice.Note, error) { return r.Notes.List(f) })
		for _, n := range all {
			if n.Value != "" || n.Size != 5 || n.Version == 0 || n.By.Name != "app-1.1" || !n.At.Equal(start) {
				t.Errorf("%+v", n)
			}
		}
		return strings.Join(ids(all, func(n coppice.Note) string { return n.Key }), " ")
	}
	same(t, "all of the project", "a b plan plan-b plan/one plan/two plans", keys(store.NoteFilter{Scope: coppice.NotesOfProject}))
	same(t, "of the task", "plan/own", keys(store.NoteFilter{Scope: of}))
	same(t, "all scopes", "a b plan plan-b plan/one plan/two plans plan/own", keys(store.NoteFilter{}))
	same(t, "below", "plan/one plan/two", keys(store.NoteFilter{Scope: coppice.NotesOfProject, Prefix: "plan/"}))
	same(t, "starting with", "plan plan-b plan/one plan/two plans", keys(store.NoteFilter{Scope: coppice.NotesOfProject, Prefix: "plan"}))
	same(t, "none", "", keys(store.NoteFilter{Scope: coppice.NotesOfProject, Prefix: "z"}))
	same(t, "the first page", "a b", keys(store.NoteFilter{Scope: coppice.NotesOfProject, Most: 2}))
	same(t, "the next page", "plan plan-b", keys(store.NoteFilter{Scope: coppice.NotesOfProject, After: "b", Most: 2}))
	same(t, "the next page of all", "plans plan/own", keys(store.NoteFilter{AfterScope: coppice.NotesOfProject, After: "plan/two"}))
	same(t, "the end of all", "", keys(store.NoteFilter{AfterScope: of, After: "plan/own"}))
}

// testForgetNotes checks that notes are removed with their task and their project.
func testForgetNotes(t *testing.T, open Open) {
	s := open(t)
	gone, kept := project(t, s, "gone"), project(t, s, "kept")
	ended := func(k *coppice.Task) { k.Stage, k.Outcome, k.EndedAt = coppice.StageEnded, coppice.OutcomeDone, start }
	k := task(t, s, gone, 1, ended)
	for i := range 150 {
		putNotes(t, s, note(gone, coppice.NotesOfProject, fmt.Sprint("key/", i), "value"))
	}
	putNotes(t, s, note(gone, coppice.NotesOfTask(k.ID), "a", "value"), note(kept, coppice.NotesOfProject, "a", "value"))
	w := s.Watch(store.TopicNotes(gone.ID, coppice.NotesOfTask(k.ID), ""))
	defer w.Close()
	update(t, s, func(tx store.Tx) error {
		f, err := tx.History.Forget(store.Keep{Tasks: 1}, start.AddDate(1, 0, 0), 100)
		for err == nil && !f.Done {
			f, err = tx.History.Forget(store.Keep{Tasks: 1}, start.AddDate(1, 0, 0), 100)
		}
		return err
	})
	same(t, "notes without the task's", 150, totals(t, s, gone).Notes)
	same(t, "the task's topic", 1, len(must(w.Wait(within(t)))))
	if steps := forget(t, s, gone.ID); steps < 3 {
		t.Errorf("150 notes were removed in %d transactions", steps)
	}
	same(t, "totals of a removed project", coppice.NoteTotals{}, totals(t, s, gone))
	same(t, "notes of a removed project", 0, len(get(t, s, func(r store.Reader) ([]coppice.Note, error) {
		return r.Notes.List(store.NoteFilter{ProjectID: gone.ID, Most: 1})
	})))
	same(t, "notes of the other project", 1, totals(t, s, kept).Notes)
}
