package engine

import (
	"fmt"
	"maps"
	"slices"

	"coppice"
	"coppice/store"
)

// mostUndoRows limits how many rows of each kind are read to find the newest
// things that can be undone.
const mostUndoRows = 40

// Undoable lists the newest things that a person can undo, in a project or, if it
// is 0, in all projects. Each task is in the list at most once.
func Undoable(r store.Reader, project int64, by coppice.Actor, most int) ([]coppice.Undo, error) {
	var tasks []coppice.Task
	for _, f := range []store.TaskFilter{
		{Outcomes: []coppice.Outcome{coppice.OutcomeDone}, ByEnd: true, Archived: store.ArchivedNot},
		{Outcomes: []coppice.Outcome{coppice.OutcomeCancelled}, ByEnd: true, Archived: store.ArchivedNot},
		{ByArchive: true, Archived: store.ArchivedOnly},
	} {
		f.ProjectID, f.Stages, f.Most = project, []coppice.Stage{coppice.StageEnded}, mostUndoRows
		some, err := r.Tasks.List(f)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, some...)
	}
	list := []coppice.Undo{}
	for _, t := range tasks {
		u, err := undoOf(r, t, by, "")
		if err != nil {
			return nil, err
		}
		if u != nil {
			list = append(list, *u)
		}
	}
	slices.SortStableFunc(list, func(a, b coppice.Undo) int { return b.At.Compare(a.At) })
	return list[:min(len(list), most)], nil
}

// UndoOf returns what can be undone about a task, or nil.
func UndoOf(r store.Reader, t coppice.Task, by coppice.Actor) (*coppice.Undo, error) {
	return undoOf(r, t, by, "")
}

// undoOf returns what can be undone about a task: what the kind names, or the
// newest thing if it is empty. The removal of a workspace follows from a landing
// or a stop, so these come first. It returns nil if there is nothing.
func undoOf(r store.Reader, t coppice.Task, by coppice.Actor, kind coppice.UndoKind) (*coppice.Undo, error) {
	for _, k := range []coppice.UndoKind{coppice.UndoArchive, coppice.UndoLanding, coppice.UndoStop, coppice.UndoRemoval} {
		if kind != "" && kind != k {
			continue
		}
		u := &coppice.Undo{Kind: k, Task: t.Key, Title: t.Title, By: t.CreatedBy}
		if found, err := undoers[k](r, t, by, u); err != nil || found {
			return u, err
		}
	}
	return nil, nil
}

// undoers says for each kind whether it can be undone about a task, and fills in
// when it happened, who did it, and what undoing it does.
var undoers = map[coppice.UndoKind]func(store.Reader, coppice.Task, coppice.Actor, *coppice.Undo) (bool, error){
	coppice.UndoArchive: undoesArchive,
	coppice.UndoLanding: undoesLanding,
	coppice.UndoStop:    undoesStop,
	coppice.UndoRemoval: undoesRemoval,
}

func undoesArchive(r store.Reader, t coppice.Task, by coppice.Actor, u *coppice.Undo) (bool, error) {
	if t.Archived.IsZero() {
		return false, nil
	}
	events, err := r.Log.Events(0, mostUndoRows, store.EventFilter{TaskID: t.ID, Kinds: []coppice.EventKind{coppice.EventTaskArchived}})
	for _, e := range events {
		u.By = e.By
	}
	u.At, u.Own, u.Text = t.Archived, u.By == by.String(), "shows it on the board again"
	return true, err
}

func undoesLanding(r store.Reader, t coppice.Task, by coppice.Actor, u *coppice.Undo) (bool, error) {
	if t.Outcome != coppice.OutcomeDone || t.Landed == "" {
		return false, nil
	}
	l, err := landingOnBranch(r, t)
	if err != nil || l == nil {
		return false, err
	}
	p, err := r.Projects.Get(t.ProjectID)
	if err != nil {
		return false, err
	}
	q, err := r.Queues.Of(t.ProjectID, t.Onto)
	if err != nil {
		return false, err
	}
	u.At, u.Own = l.EndedAt, t.CreatedBy == by.String() || l.ApprovedBy == by.String()
	if l.ApprovedBy != "" {
		u.By = l.ApprovedBy
	}
	u.Branch, u.Commit = p.Onto(t), l.Commit
	u.Text = fmt.Sprintf("lands a commit that reverts %s on %s, after its checks", short(l.Commit), u.Branch)
	if !l.Pushed && q.Tip == l.Commit {
		u.Text = fmt.Sprintf("moves %s back to %s, or reverts %s by a commit if something builds on it", u.Branch, short(l.Base), short(l.Commit))
	}
	return true, nil
}

func undoesStop(r store.Reader, t coppice.Task, by coppice.Actor, u *coppice.Undo) (bool, error) {
	if t.Ended() && (t.Outcome != coppice.OutcomeCancelled || t.Reverted != nil) {
		return false, nil
	}
	asks, err := r.Asks.Of(t.ProjectID, coppice.TaskSubject(t.ID))
	found := t.Ended() // otherwise it may be about to stop
	u.At, u.Text = t.EndedAt, "continues it as it was, in its workspace and conversation"
	for _, a := range asks {
		if a.Verb == coppice.VerbStop {
			u.By, u.Own = a.By.String(), a.By == by
		}
		if a.Verb == coppice.VerbStop && a.Open() && !t.Ended() {
			found, u.At = true, a.At
		}
	}
	return found, err
}

func undoesRemoval(r store.Reader, t coppice.Task, by coppice.Actor, u *coppice.Undo) (bool, error) {
	ws, err := r.Workspaces.Of(t.ID)
	if err != nil || !t.Ended() {
		return false, err
	}
	tr, err := restorable(r, ws)
	if err != nil || tr == nil {
		return false, err
	}
	u.At, u.Own, u.Text = tr.RemovedAt, t.CreatedBy == by.String(), "restores its workspace"
	return true, nil
}

// restorable returns the trash from which the workspace of a task can be restored,
// or nil.
func restorable(r store.Reader, ws *coppice.Workspace) (*coppice.Trash, error) {
	if ws == nil || ws.RemovedAt.IsZero() || ws.TrashID == 0 {
		return nil, nil
	}
	tr, err := r.Trash.Get(ws.TrashID)
	if err != nil || !tr.Open() {
		return nil, err
	}
	return &tr, nil
}

// TrashedWorkspaces returns the ended tasks whose workspace is in the trash.
func TrashedWorkspaces(r store.Reader, tasks []coppice.Task) (map[int64]bool, error) {
	var ended []int64
	for _, t := range tasks {
		if t.Ended() && t.Sessions > 0 { // otherwise it has no trash
			ended = append(ended, t.ID)
		}
	}
	trash, err := r.Trash.OfEach(ended)
	if err != nil || len(trash) == 0 {
		return nil, err
	}
	spaces, err := r.Workspaces.OfEach(slices.Sorted(maps.Keys(trash)))
	found := map[int64]bool{}
	for id, ws := range spaces {
		found[id] = slices.ContainsFunc(trash[id], func(tr coppice.Trash) bool { return tr.ID == ws.TrashID && !ws.RemovedAt.IsZero() })
	}
	return found, err
}

// TrashItem is an entry of the trash, with its task.
type TrashItem struct {
	coppice.Trash
	Task     coppice.Task
	Restores bool   // its task's workspace can be restored from it
	Uses     string // why it is in use; empty if it is not
}

// TrashItems completes entries of the trash.
func TrashItems(r store.Reader, list []coppice.Trash) ([]TrashItem, error) {
	ids := make([]int64, len(list))
	for i, tr := range list {
		ids[i] = tr.TaskID
	}
	spaces, err := r.Workspaces.OfEach(ids)
	if err != nil {
		return nil, err
	}
	items := make([]TrashItem, len(list))
	for i, tr := range list {
		items[i].Trash = tr
		if items[i].Task, err = r.Tasks.Get(tr.TaskID); err != nil {
			return nil, err
		}
		if items[i].Uses, err = trashUse(r, items[i].Task); err != nil {
			return nil, err
		}
		ws := spaces[tr.TaskID]
		items[i].Restores = items[i].Uses == "" && ws.TrashID == tr.ID && !ws.RemovedAt.IsZero()
	}
	return items, nil
}
