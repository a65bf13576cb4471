package tools

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

type args map[string]any

// says uses a tool that must succeed, and compares the parts of its text.
func (b *bundle) says(tool string, in args, parts ...string) {
	b.t.Helper()
	text, failed := b.use(tool, in)
	for _, part := range parts {
		if failed || !strings.Contains(text, part) {
			b.t.Errorf("%s %v: %s, want %s", tool, in, text, part)
		}
	}
}

// refuses uses a tool that must fail.
func (b *bundle) refuses(tool string, in args, says string) {
	b.t.Helper()
	if text, failed := b.use(tool, in); !failed || !strings.Contains(text, says) {
		b.t.Errorf("%s %v: %s, want %s", tool, in, text, says)
	}
}

func (b *bundle) put(f func(store.Tx) error) {
	b.t.Helper()
	if err := b.store.Update(b.t.Context(), f); err != nil {
		b.t.Fatal(err)
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.says("read_note", args{"key": "plan"}, `{"found":false,"key":"plan"}`)
	b.says("list_notes", args{}, `[]`)
	b.says("write_note", args{"key": "plan", "value": "first", "if_version": 0}, `{"ok":true,"key":"plan","version":1}`)
	b.refuses("write_note", args{"key": "plan", "value": "x", "if_version": 0}, "the note plan exists already, with version 1: read the note again")
	b.refuses("write_note", args{"key": "plan", "value": "x", "if_version": 7}, "has version 1, not 7")
	b.says("write_note", args{"key": "plan", "value": "second", "if_version": 1}, `"version":2`)
	b.says("write_note", args{"key": "plan/a", "value": ""}, `"version":3`)
	b.says("write_note", args{"key": "plan", "value": "of the task", "scope": "task"}, `"version":4`)
	b.says("read_note", args{"key": "plan"}, `{"found":true,"key":"plan","value":"second","version":2,"updated_at":"2026-11-18T12:00:00Z","by":"session:app-1.1"}`)
	b.says("read_note", args{"key": "plan", "scope": "task"}, `"value":"of the task"`)
	b.says("read_note", args{"key": "plan", "scope": "app-1"}, `"value":"of the task"`)
	b.says("list_notes", args{"prefix": "plan/"}, `[{"key":"plan/a","version":3,"updated_at":"2026-11-18T12:00:00Z","by":"session:app-1.1","size":0}]`)
	b.says("list_notes", args{"after": "plan"}, `[{"key":"plan/a"`)
	b.says("delete_note", args{"key": "plan/a"}, `{"ok":true,"key":"plan/a","deleted":true}`)
	b.says("delete_note", args{"key": "plan/a"}, `{"ok":true,"key":"plan/a","deleted":false}`)
	b.refuses("delete_note", args{"key": "plan", "if_version": 1}, "has version 2, not 1")
	b.refuses("write_note", args{"key": "a b", "value": "x"}, "not a valid key")
	b.refuses("write_note", args{"key": "a", "value": strings.Repeat("v", coppice.MaxNoteValue+1)}, "262144 are allowed")
	b.refuses("read_note", args{"key": ""}, "not a valid key")
	b.refuses("list_notes", args{"prefix": "//"}, "not the beginning of a key")
}

// A write that is repeated has the answer of the first, although the note has
// changed since then.
func TestRepeatedWriteOfANote(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write := func(id string, version int) string {
		return b.postAs(id, "tools/call", map[string]any{"name": "write_note", "arguments": args{"key": "plan", "value": id, "if_version": version}})
	}
	first := write("app-1.1/1", 0)
	b.calls = 1
	b.says("write_note", args{"key": "plan", "value": "newer"}, `"version":2`)
	if again := write("app-1.1/1", 0); again != first || !strings.Contains(first, `\"version\":1`) {
		t.Errorf("%s, then %s", first, again)
	}
	b.says("read_note", args{"key": "plan"}, `"value":"newer"`)
}

// A session sees the notes of its project, its task and its family's tasks. It writes
// only those of its project and its own task.
func TestNotesOfOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	keys := map[string]int64{}
	below := func(task int64) coppice.TaskDetails { return coppice.TaskDetails{Parent: task} }
	b.put(func(tx store.Tx) error {
		other := coppice.Project{Prefix: "other", Path: "/other", Policy: coppice.DefaultPolicy()}
		if err := tx.Projects.Put(&other); err != nil {
			return err
		}
		for i, k := range []coppice.Task{
			{Key: "app-2", ProjectID: b.session.ProjectID, TaskDetails: below(b.session.TaskID)},     // a child
			{Key: "app-3", ProjectID: b.session.ProjectID, TaskDetails: below(b.session.TaskID + 1)}, // a grandchild
			{Key: "app-4", ProjectID: b.session.ProjectID, CreatedBy: "person"},
			{Key: "other-1", ProjectID: other.ID, TaskDetails: below(b.session.TaskID)},
		} {
			k.Num, k.Title, k.Stage = i+2, "t", coppice.StageWaiting
			if err := tx.Tasks.Put(&k); err != nil {
				return err
			}
			s := coppice.Session{ProjectID: k.ProjectID, TaskID: k.ID, N: 1, Key: k.Key + ".1", State: coppice.SessionDone}
			if err := tx.Sessions.Put(&s); err != nil {
				return err
			}
			keys[k.Key] = k.ID
			n := coppice.Note{ProjectID: k.ProjectID, Scope: coppice.NotesOfTask(k.ID), Key: "a", Value: "of " + k.Key}
			if err := tx.Notes.Put(&n); err != nil {
				return err
			}
		}
		n := coppice.Note{ProjectID: other.ID, Scope: coppice.NotesOfProject, Key: "secret", Value: "x"}
		return tx.Notes.Put(&n)
	})
	b.says("read_note", args{"key": "secret"}, `"found":false`)
	b.says("read_note", args{"key": "a", "scope": "app-2"}, "of app-2")
	b.says("list_notes", args{"scope": "app-3"}, `"key":"a"`)
	for _, scope := range []string{"app-4", "other-1", "app-9", "settings", "task/1"} {
		b.refuses("read_note", args{"key": "a", "scope": scope}, "not a valid scope")
		b.refuses("list_notes", args{"scope": scope}, "not a valid scope")
		b.refuses("watch_notes", args{"scope": scope, "prefix": "a"}, "not a valid scope")
	}
	b.refuses("write_note", args{"key": "a", "value": "x", "scope": "app-2"}, "use project, task or flow")
	b.refuses("delete_note", args{"key": "a", "scope": "app-2"}, "use project, task or flow")
	b.session.TaskID = keys["app-3"] // the grandchild sees those of its ancestors
	b.says("read_note", args{"key": "a", "scope": "app-2"}, "of app-2")
}

// The sessions of a flow, and those of tasks that they created, share its notes.
func TestNotesOfAFlow(t *testing.T) {
	t.Parallel()
	b := setupGoal(t, `{"goal":"g"}`)
	of := func(task int64) { b.session.TaskID = task }
	of(b.goal.ID)
	b.refuses("write_note", args{"key": "a", "value": "x", "scope": "flow"}, "your task does not belong to a flow")
	worker := b.step("w1", "lead", coppice.RoleImplement)
	var child coppice.Task
	b.update(func(tx store.Tx) error {
		child = coppice.Task{ProjectID: worker.ProjectID, Num: 90, Key: "app-90", Title: "t", Stage: coppice.StageSession, TaskDetails: coppice.TaskDetails{Parent: worker.ID}}
		return tx.Tasks.Put(&child)
	})
	of(worker.ID)
	b.says("write_note", args{"key": "a", "value": "shared", "scope": "flow"}, `"version":1`)
	b.says("read_note", args{"key": "a", "scope": "task"}, `"found":false`)
	of(b.lead.ID)
	b.says("read_note", args{"key": "a", "scope": "flow"}, "shared")
	b.says("read_note", args{"key": "a", "scope": b.goal.Key}, "shared")
	of(child.ID)
	b.says("list_notes", args{"scope": "flow"}, `"key":"a"`)
	b.says("delete_note", args{"key": "a", "scope": "flow"}, `"deleted":true`)
}

// waitingStore reports each time that a watch has read the facts and waits.
type waitingStore struct {
	store.Store
	waits chan struct{}
}

type reportingWatch struct {
	store.Watch
	waits chan struct{}
}

func (s waitingStore) Watch(topics ...string) store.Watch {
	return reportingWatch{s.Store.Watch(topics...), s.waits}
}

func (w reportingWatch) Wait(ctx context.Context) ([]string, error) {
	w.waits <- struct{}{}
	return w.Watch.Wait(ctx)
}

// step is a write of a note. wakes says that a watch reads the facts again.
type step struct {
	key, value string
	wakes      bool
}

// watch_notes waits for commits that concern it. It answers when all keys have a note,
// or one below the prefix.
func TestWatchNotes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	waits := make(chan struct{})
	b.cfg.Store = waitingStore{b.store, waits}
	write := func(key, value string) {
		n := coppice.Note{ProjectID: b.session.ProjectID, Scope: coppice.NotesOfProject, Key: key, Value: value}
		b.put(func(tx store.Tx) error { return tx.Notes.Put(&n) })
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // only a hang reaches it
	defer cancel()
	for i, c := range []struct {
		in    args
		steps []step // notes that are not enough
		last  step
		want  string
	}{
		{args{"keys": []string{"a", "b"}}, []step{{"a", "1", true}, {"c", "x", false}}, step{key: "b", value: "2"}, `"value":"2"`},
		{args{"prefix": "p/"}, []step{{"p", "1", false}, {"pq", "x", false}}, step{key: "p/q", value: "3"}, `"key":"p/q"`},
		{args{"keys": []string{"state"}, "until_value": "done"}, []step{{"state", "busy", true}, {"state", "done?", true}}, step{key: "state", value: "done"}, `"value":"done"`},
		{args{"prefix": "w", "until_value": ""}, []step{{"w1", "busy", true}, {"x", "", true}}, step{key: "w2"}, `"key":"w2"`},
	} {
		done := make(chan string, 1)
		id := fmt.Sprintf("app-1.1/w%d", i)
		go func() { done <- b.postAs(id, "tools/call", map[string]any{"name": "watch_notes", "arguments": c.in}) }()
		waitsAgain := func(what string) {
			t.Helper()
			select {
			case <-waits:
			case got := <-done:
				t.Fatalf("%v after %s: %s", c.in, what, got)
			case <-ctx.Done():
				t.Fatalf("%v after %s: it does not read the notes again", c.in, what)
			}
		}
		waitsAgain("the first read")
		for _, s := range c.steps {
			if write(s.key, s.value); s.wakes {
				waitsAgain(s.key)
			}
		}
		write(c.last.key, c.last.value)
		select {
		case body := <-done:
			if text, failed := b.result(body); failed || !strings.Contains(text, c.want) || strings.Contains(text, "still_waiting") {
				t.Errorf("%v: %s", c.in, text)
			}
		case <-waits:
			t.Fatalf("%v: waits although the notes are ready", c.in)
		case <-ctx.Done():
			t.Fatalf("%v: does not answer", c.in)
		}
		b.says("watch_notes", c.in, c.want) // existing notes need no commit
	}
}

func TestWatchNotesEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.cfg.Wait = time.Millisecond
	b.says("write_note", args{"key": "a", "value": "x"})
	b.says("watch_notes", args{"keys": []string{"a", "b"}}, `"still_waiting":true`, "call again with timeout_ms 299999", `"key":"a"`)
	b.says("watch_notes", args{"keys": []string{"a", "b"}, "timeout_ms": 1}, `"timed_out":true`, `"key":"a"`)
	b.refuses("watch_notes", args{}, "needs keys or a prefix")
	b.refuses("watch_notes", args{"keys": []string{"a"}, "prefix": "a"}, "needs keys or a prefix")
	b.refuses("watch_notes", args{"keys": make([]string, mostWatched+1)}, "101 keys are too many")
}

// The values of one answer are limited.
func TestWatchedValuesAreLimited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	half := strings.Repeat("v", mostValues/2)
	for _, key := range []string{"a", "b", "c"} {
		b.says("write_note", args{"key": key, "value": half})
	}
	text, _ := b.use("watch_notes", args{"keys": []string{"a", "b", "c"}})
	if n := strings.Count(text, "vvvv\""); n != 2 || strings.Count(text, `"value_left_out":true`) != 1 {
		t.Errorf("%d values in %d bytes", n, len(text))
	}
}

// Prompts list each tool in one line.
func TestLines(t *testing.T) {
	t.Parallel()
	for n := range 2 * len(coppice.Roles) {
		r, lead := coppice.Roles[n/2], n%2 == 1
		lines := Lines(r.Role, lead)
		if len(lines) != len(chosen(sessionTools, r.Role, lead)) {
			t.Errorf("%s: %d lines", r.Role, len(lines))
		}
		for _, l := range lines {
			if l.Name == "" || l.About == "" || len(l.About) > 160 || strings.ContainsAny(l.About, "\n") || strings.Contains(l.About, ". ") {
				t.Errorf("%s: %+v", r.Role, l)
			}
		}
	}
}
