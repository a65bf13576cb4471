package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// undoable lists what can be undone, the newest first.
func (b *bundle) undoable(most int) (out []string) {
	b.t.Helper()
	b.view(func(r store.Reader) error {
		list, err := Undoable(r, 0, coppice.Actor{Kind: coppice.ActorPerson}, most)
		for _, u := range list {
			own := ""
			if u.Own {
				own = " own"
			}
			out = append(out, string(u.Kind)+" "+u.Task+own)
		}
		return err
	})
	return out
}

// The list has the newest thing of each task. Each can be undone once.
func TestUndoable(t *testing.T) {
	t.Parallel()
	b := landedTask(t)
	later := func() { b.clock = b.clock.Add(time.Minute) }
	later()
	b.create(coppice.NewTask{Title: "b"}, coppice.NewTask{Title: "c"}, coppice.NewTask{Title: "d"})
	_, err := b.Pause(t.Context(), "app", "", true)
	b.must(err)
	for _, key := range []string{"app-2", "app-3"} {
		later()
		_, err := b.Stop(t.Context(), key)
		b.must(err)
		b.turn()
	}
	later()
	_, err = b.Archive(t.Context(), "app-2", true)
	b.must(err)
	later()
	file := b.As(coppice.Actor{Kind: coppice.ActorFile, Name: "features.json"})
	_, err = file.Ask(t.Context(), "app-4", coppice.VerbStop, verb.Request{})
	b.must(err)
	b.turn()
	want := []string{"stop app-4", "archive app-2 own", "stop app-3 own", "landing app-1 own"}
	if d := cmp.Diff(want, b.undoable(5)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := b.undoable(2); !slices.Equal(got, want[:2]) {
		t.Errorf("the first two are %q", got)
	}
	u, err := b.UndoTask(t.Context(), "app-2", "")
	b.must(err)
	if u.Kind != coppice.UndoArchive || !b.task("app-2").Archived.IsZero() {
		t.Errorf("undid %+v", u)
	}
	u, err = b.UndoTask(t.Context(), "app-3", "")
	b.must(err)
	b.turn()
	if x := b.task("app-3"); u.Kind != coppice.UndoStop || x.Ended() {
		t.Errorf("undid %+v: %s", u, x.Stage)
	}
	u, err = b.UndoTask(t.Context(), "app-1", coppice.UndoRemoval)
	b.must(err)
	b.turn()
	b.finish("app-1", coppice.WorkRestore, coppice.PrepareResult{Path: "/ws/other", BaseCommit: "base1", Head: "head-app-1"})
	if u.Kind != coppice.UndoRemoval || b.task("app-1").Outcome != coppice.OutcomeDone {
		t.Errorf("undid %+v", u)
	}
	for key, kind := range map[string]coppice.UndoKind{"app-1": coppice.UndoRemoval, "app-2": coppice.UndoLanding, "app-3": "", "app-4": coppice.UndoArchive} {
		if _, err := b.UndoTask(t.Context(), key, kind); coppice.ErrorCode(err) != coppice.ENotFound || coppice.Public(err).Fix == "" {
			t.Errorf("undo of %q of %s: %v", kind, key, err)
		}
	}
	if d := cmp.Diff([]string{"stop app-4", "stop app-2 own", "landing app-1 own"}, b.undoable(5)); d != "" {
		t.Errorf("in the end (-want +got):\n%s", d)
	}
	u, err = b.UndoTask(t.Context(), "app-1", "")
	b.must(err)
	b.turn()
	if b.wantWork("app-1", coppice.WorkMove); u.Kind != coppice.UndoLanding || u.Branch != "main" || u.Commit != "commit-app-1" {
		t.Errorf("undid %+v", u)
	}
}

// Trash is removed on request, but not while it is in use.
func TestEmptyTrash(t *testing.T) {
	t.Parallel()
	b := landedTask(t)
	removed := b.clock
	b.clock = b.clock.Add(time.Hour)
	empty := func(until time.Time, keys ...string) ([]coppice.Trash, error) {
		list, err := b.EmptyTrash(t.Context(), "app", until, keys...)
		b.turn()
		return list, err
	}
	if list, err := empty(removed.Add(-time.Second)); err != nil || len(list) > 0 {
		t.Errorf("trash that is too young: %v, %v", list, err)
	}
	_, err := b.Undo(t.Context(), "app-1", "")
	b.must(err)
	if list, err := empty(b.clock); err != nil || len(list) > 0 {
		t.Errorf("trash that is in use: %v, %v", list, err)
	}
	if _, err := empty(b.clock, "app-1"); coppice.ErrorCode(err) != coppice.EConflict || coppice.Public(err).Fix == "" {
		t.Errorf("named trash that is in use: %v", err)
	}
	b.finish("app-1", coppice.WorkRestore, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "head-app-1"})
	if _, err := empty(b.clock, "app-1"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("a task without trash: %v", err)
	}

	b = landedTask(t)
	if list, err := empty(b.clock); err != nil || len(list) != 1 {
		t.Fatalf("emptied %v, %v", list, err)
	}
	b.finish("app-1", coppice.WorkPurge, coppice.PurgeResult{})
	if _, err := b.UndoTask(t.Context(), "app-1", coppice.UndoRemoval); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("undo of a removal from an empty trash: %v", err)
	}
	if list, err := empty(b.clock); err != nil || len(list) > 0 {
		t.Errorf("emptied again: %v, %v", list, err)
	}
}

// The trash of a stopped task stays while a fork of it has not started: its branch
// starts from what the trash keeps.
func TestTrashOfAFork(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.project(func(p *coppice.Project) { p.Policy.Limits.Sessions = 1 })
	b.create(coppice.NewTask{Title: "one"})
	b.prepares("app-1")
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{From: "base1", Head: "head1", Conversation: "talk", Failure: coppice.Failf(coppice.ClassLimit, "too many turns", "")})
	b.ask("app-1", coppice.VerbStop, "")
	b.finish("app-1", coppice.WorkRemove, coppice.RemoveResult{Head: "head1", Ref: "refs/coppice/trash/app-1-1"})
	b.create(coppice.NewTask{Title: "takes the only session"})
	b.turn()
	fork, err := b.Fork(t.Context(), "app-1", "another way")
	b.must(err)
	b.turn()
	empty := func(keys ...string) ([]coppice.Trash, error) {
		list, err := b.EmptyTrash(t.Context(), "app", b.clock, keys...)
		b.turn()
		return list, err
	}
	if list, err := empty(); err != nil || len(list) > 0 {
		t.Errorf("emptied %v, %v", list, err)
	}
	if _, err := empty("app-1"); coppice.ErrorCode(err) != coppice.EConflict || !strings.Contains(err.Error(), fork.Key) {
		t.Errorf("named: %v", err)
	}
	// It does not expire either.
	b.clock = b.trashOf("app-1")[0].ExpiresAt.Add(time.Second)
	b.turn()
	if tr := b.trashOf("app-1"); len(tr) != 1 || !tr[0].ExpiresAt.After(b.clock) || b.unsettled("app-1").Kind != "" {
		t.Errorf("the trash is %+v, and %q is to do", tr, b.unsettled("app-1").Kind)
	}
	_, err = b.Ask(t.Context(), fork.Key, coppice.VerbStop, verb.Request{})
	b.must(err)
	b.turn()
	if list, err := empty("app-1"); err != nil || len(list) != 1 {
		t.Errorf("after the end of the fork: %v, %v", list, err)
	}
}
