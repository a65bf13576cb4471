package engine

import (
	"context"
	"fmt"
	"time"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// requestRevert stores which landing the person wants to take off.
func requestRevert(_ *Intake, tx store.Tx, t *coppice.Task, _ verb.Facts, _ verb.Request, a *coppice.Ask) error {
	l, err := landingOnBranch(tx.Reader(), *t)
	if err != nil {
		return err
	}
	if l == nil {
		return coppice.Errorf(coppice.ENotFound, "the history no longer has the landing of %s", t.Key).WithFix("run git revert %.10s", t.Landed)
	}
	a.Args = coppice.Raw(revertArgs{Commit: l.Commit, Base: l.Base, Pushed: l.Pushed})
	return nil
}

// landingOnBranch returns the landing whose commit the task has on its branch, or
// nil if it is not known any more.
func landingOnBranch(r store.Reader, t coppice.Task) (*coppice.Landing, error) {
	all, err := r.Landings.Of(t.ID)
	for i := len(all) - 1; i >= 0; i-- {
		if l := all[i]; l.Outcome == coppice.LandingLanded && l.Reverts == "" && l.Commit == t.Landed {
			return &l, err
		}
	}
	return nil, err
}

// Undo restores the workspace that was removed last: of a task, or of a project
// if key is empty.
func (i *Intake) Undo(ctx context.Context, key, project string) (coppice.Trash, error) {
	var found coppice.Trash
	err := i.store.Update(ctx, func(tx store.Tx) error {
		var t coppice.Task
		var p coppice.Project
		var err error
		if key != "" {
			if t, err = knownTask(tx.Reader(), key); err != nil {
				return err
			}
			p.ID = t.ProjectID
		} else if p, err = knownProject(tx.Projects.ByPrefix(project)); err != nil {
			return err
		}
		trash, err := tx.Trash.In(p.ID)
		if err != nil {
			return err
		}
		for _, tr := range trash {
			if key != "" && tr.TaskID != t.ID {
				continue
			}
			ws, err := tx.Workspaces.Of(tr.TaskID)
			if err != nil {
				return err
			}
			if ws != nil && ws.TrashID == tr.ID { // otherwise it is of an earlier workspace
				found = tr
				break
			}
		}
		if found.ID == 0 {
			return coppice.Errorf(coppice.ENotFound, "there is nothing to undo").WithFix("trash.ttl in coppice.yaml says how long the trash keeps removed workspaces")
		}
		if t, err = tx.Tasks.Get(found.TaskID); err != nil {
			return err
		}
		if err := i.request(tx, &t, verb.Of(coppice.VerbUndo), verb.Request{}); err != nil {
			return err
		}
		return i.event(tx, coppice.EventUndoAsked, t, "")
	})
	return found, err
}

// UndoTask undoes one thing about a task: what the kind says, or, if it is empty,
// what Undoable lists for it.
func (i *Intake) UndoTask(ctx context.Context, key string, kind coppice.UndoKind) (coppice.Undo, error) {
	var u coppice.Undo
	err := i.store.View(ctx, func(r store.Reader) error {
		t, err := knownTask(r, key)
		if err != nil {
			return err
		}
		found, err := undoOf(r, t, i.by, kind)
		if err != nil {
			return err
		}
		if found == nil {
			return nothingToUndo(t, kind)
		}
		u = *found
		return nil
	})
	if err != nil {
		return u, err
	}
	// The facts are checked again in the transaction that stores the request.
	switch u.Kind {
	case coppice.UndoArchive:
		_, err = i.Archive(ctx, key, false)
	case coppice.UndoLanding:
		_, err = i.Ask(ctx, key, coppice.VerbRevert, verb.Request{})
	case coppice.UndoStop:
		_, err = i.Ask(ctx, key, coppice.VerbUnstop, verb.Request{})
	default:
		_, err = i.Undo(ctx, key, "")
	}
	return u, err
}

func nothingToUndo(t coppice.Task, kind coppice.UndoKind) error {
	what := "there is nothing to undo for %s"
	if kind != "" {
		what = "there is no " + string(kind) + " of %s to undo"
	}
	return coppice.Errorf(coppice.ENotFound, what, t.Key).WithFix("see what can be undone with `coppice undo --list`")
}

// MostEmptied limits how much trash one request removes.
const MostEmptied = 200

// EmptyTrash removes trash permanently, at most MostEmptied entries: that of the
// tasks, or that of a project which was removed at the given time or earlier. It
// returns what the engine will remove. Trash that is in use is refused if the
// request names its task, and otherwise left out.
func (i *Intake) EmptyTrash(ctx context.Context, project string, until time.Time, keys ...string) ([]coppice.Trash, error) {
	var emptied []coppice.Trash
	err := i.store.Update(ctx, func(tx store.Tx) error {
		emptied = nil
		now := i.now().UTC()
		list, err := trashOf(tx, project, keys)
		if err != nil {
			return err
		}
		for _, tr := range list {
			if tr.RemovedAt.After(until) || !tr.ExpiresAt.After(now) || len(emptied) == MostEmptied {
				continue
			}
			t, err := tx.Tasks.Get(tr.TaskID)
			if err != nil {
				return err
			}
			use, err := trashUse(tx.Reader(), t)
			if err != nil {
				return err
			}
			if use != "" && len(keys) > 0 {
				return coppice.Errorf(coppice.EConflict, "the trash of %s is in use: %s", t.Key, use).
					WithFix("wait until %s has ended; see `coppice show %s`", t.Key, t.Key)
			}
			if use != "" {
				continue
			}
			tr.ExpiresAt = now
			if err := tx.Trash.Put(&tr); err != nil {
				return err
			}
			if err := i.event(tx, coppice.EventTrashEmptied, t, ""); err != nil {
				return err
			}
			emptied = append(emptied, tr)
		}
		return nil
	})
	return emptied, err
}

// trashOf returns the trash of the named tasks, or of a project.
func trashOf(tx store.Tx, project string, keys []string) ([]coppice.Trash, error) {
	var list []coppice.Trash
	for _, key := range keys {
		t, err := knownTask(tx.Reader(), key)
		if err != nil {
			return nil, err
		}
		of, err := tx.Trash.Of(t.ID)
		if err != nil {
			return nil, err
		}
		if len(of) == 0 {
			return nil, coppice.Errorf(coppice.ENotFound, "the trash has nothing of %s", key).WithFix("see `coppice trash list`")
		}
		list = append(list, of...)
	}
	if len(keys) > 0 {
		return list, nil
	}
	p, err := knownProject(tx.Projects.ByPrefix(project))
	if err != nil {
		return nil, err
	}
	return tx.Trash.In(p.ID)
}

// trashUse says why the trash of a task is in use: the task has not ended, or is
// about to continue. It is empty if nothing uses it.
func trashUse(r store.Reader, t coppice.Task) (string, error) {
	if !t.Ended() {
		return "the task has not ended", nil
	}
	asks, err := r.Asks.Open(coppice.TaskSubject(t.ID))
	if err != nil {
		return "", err
	}
	if a := coppice.Asked(asks, coppice.VerbUndo, coppice.VerbUnstop, coppice.VerbRetry, coppice.VerbRequeue, coppice.VerbContinue, coppice.VerbLand); a != nil {
		return "a request to " + string(a.Verb) + " the task is open", nil
	}
	work, err := r.Work.Unsettled(coppice.TaskSubject(t.ID))
	for _, w := range work {
		if w.Kind == coppice.WorkRestore {
			return "it is being restored", err
		}
	}
	if err != nil {
		return "", err
	}
	fork, err := waitingFork(r, t)
	if err != nil || fork == "" {
		return "", err
	}
	return fmt.Sprintf("%s, a fork of the task, has not started yet", fork), nil
}

// notEnded has the stages of tasks that have not ended.
var notEnded = coppice.StagesThat(func(s coppice.Stage) bool { return s != coppice.StageEnded })

// waitingFork returns the key of a fork of a task that will start from what the trash
// keeps of the task's branch; "" if there is none.
func waitingFork(r store.Reader, t coppice.Task) (string, error) {
	if t.Outcome == coppice.OutcomeDone {
		return "", nil // its forks start from the base
	}
	forks, err := r.Tasks.List(store.TaskFilter{ForkOf: t.Key, Stages: notEnded, OldFirst: true})
	if err != nil || len(forks) == 0 {
		return "", err
	}
	ids := make([]int64, len(forks))
	for i, f := range forks {
		ids[i] = f.ID
	}
	spaces, err := r.Workspaces.OfEach(ids)
	for _, f := range forks {
		if ws, ok := spaces[f.ID]; err == nil && (!ok || ws.ReadyAt.IsZero()) {
			return f.Key, nil
		}
	}
	return "", err
}
