package cli_test

import (
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// history has a landing, a stop and an archived task, and the trash of the first.
func history(t *testing.T) *shell {
	t.Helper()
	s := removing(t)
	p := s.Project("/src/app")
	now := s.Clock.Now()
	for i, end := range []func(*coppice.Task){
		func(k *coppice.Task) { k.Outcome, k.Landed, k.Sessions = coppice.OutcomeDone, "commit1", 1 },
		func(k *coppice.Task) { k.Outcome = coppice.OutcomeCancelled },
		func(k *coppice.Task) {
			k.Outcome, k.Archived = coppice.OutcomeFailed, now.Add(-time.Minute)
		},
	} {
		key := s.Task("app", coppice.NewTask{Title: []string{"Land me", "Stop me", "Archive me"}[i]}).Key
		s.Change(key, func(k *coppice.Task) {
			k.Stage, k.EndedAt = coppice.StageEnded, now.Add(-time.Duration(10-i)*time.Minute)
			end(k)
		})
	}
	s.Update(func(tx store.Tx) error {
		one, err := tx.Tasks.ByKey("app-1")
		s.Must(err)
		l := coppice.Landing{ProjectID: p.ID, TaskID: one.ID, Head: "head1", Outcome: coppice.LandingLanded, EndedAt: one.EndedAt}
		l.Candidate = coppice.Candidate{Base: "base1", Commit: "commit1", Green: true, CreatedAt: now}
		s.Must(tx.Landings.Put(&l))
		tr := coppice.Trash{
			ProjectID: p.ID, TaskID: one.ID, What: "workspace", Path: "/state/workspaces/1/coppice-001", Branch: "coppice/app-1", Head: "head1",
			Ref: "refs/coppice/trash/app-1-1", RemovedAt: now.Add(-9 * time.Minute), ExpiresAt: now.Add(24 * time.Hour),
		}
		s.Must(tx.Trash.Put(&tr))
		return tx.Workspaces.Put(&coppice.Workspace{ProjectID: p.ID, TaskID: one.ID, Branch: "coppice/app-1", TrashID: tr.ID, RemovedAt: tr.RemovedAt})
	})
	return s
}

func TestUndoGolden(t *testing.T) {
	t.Parallel()
	s := history(t)
	s.golden(t, "undo-list", "undo", "--list")
	s.golden(t, "undo-unconfirmed", "undo", "app-1")
	s.golden(t, "undo-only", "undo", "--only", "removal")
	s.golden(t, "undo-nothing", "undo", "app-2", "--only", "archive")
	s.golden(t, "undo-archive", "undo", "app-3")
	s.golden(t, "undo-stop", "undo", "app-2")
	s.golden(t, "undo-landing", "undo", "--yes")
	s.golden(t, "trash-list", "trash", "list")
	s = history(t)
	s.golden(t, "undo-removal", "undo", "app-1", "--only", "removal") // it names no folder
}

func TestTrashGolden(t *testing.T) {
	t.Parallel()
	s := history(t)
	s.golden(t, "trash-empty-unconfirmed", "trash", "empty")
	s.golden(t, "trash-restore", "trash", "restore", "app-1", "app-2")
	s.golden(t, "trash-empty-used", "trash", "empty", "app-1", "--yes")
	s.golden(t, "trash-in-use", "trash", "list")
	s = history(t)
	s.golden(t, "trash-empty-young", "trash", "empty", "--older-than", "1h", "--yes")
	s.golden(t, "trash-empty", "trash", "empty", "--older-than", "1m", "--yes", "--project", "app")
	s.golden(t, "trash-is-empty", "trash", "list", "--project", "app")
	s.golden(t, "trash-age", "trash", "empty", "--older-than", "soon", "--yes")
}

// A person who does not agree changes nothing.
func TestUndoAsks(t *testing.T) {
	t.Parallel()
	s := history(t)
	s.env.Asks = true
	if code, out, errs := s.run("n\n", "undo", "app-1"); code != 1 || !strings.Contains(out, "moves main back") && !strings.Contains(out, "reverts commit1") || !strings.Contains(errs, "nothing was undone") {
		t.Errorf("%d %s %s", code, out, errs)
	}
	if code, out, errs := s.run("y\n", "undo", "app-1"); code != 0 {
		t.Errorf("%d %s %s", code, out, errs)
	}
	if code, out, errs := s.run("\n", "trash", "empty"); code != 1 || !strings.Contains(errs, "nothing was removed") {
		t.Errorf("%d %s %s", code, out, errs)
	}
}
