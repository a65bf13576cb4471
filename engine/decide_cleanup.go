package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
)

// mostRemovals is how often removing a workspace is tried.
const mostRemovals = 4

// cleanup moves the workspace of a task that is done, or was cancelled, to the
// trash. The workspace of a failed task stays for a person.
func cleanup(v *View) *Decision {
	ws := v.Workspace
	if !removable(v) || ws.RetryAt.After(v.Now) || v.open(coppice.WorkRemove, coppice.WorkRestore, coppice.WorkPrepare) != nil {
		return nil
	}
	d := removeWork(v, "its workspace goes to the trash")
	d.By = "cleanup"
	return d
}

func removeWork(v *View, reason string) *Decision {
	ws := v.Workspace
	return &Decision{Kind: coppice.EventWorkOffered, Reason: reason, Offer: &coppice.Work{
		Kind: coppice.WorkRemove, Key: fmt.Sprintf("workspace/%d/remove/%d", ws.ID, ws.Tries+1), Pool: v.place(coppice.WorkRemove),
		Spec: coppice.Raw(coppice.RemoveSpec{
			Key: v.Task.Key, Repo: v.Project.Path, RepoID: v.Project.ID, Path: ws.Path, Branch: ws.Branch, Policy: v.Project.Policy.Kept(),
		}),
	}}
}

func removable(v *View) bool {
	ws := v.Workspace
	return v.Task.Ended() && v.Task.Outcome != coppice.OutcomeFailed && v.asked(coppice.VerbLand, coppice.VerbRetry, coppice.VerbRequeue, coppice.VerbContinue, coppice.VerbUnstop) == nil &&
		ws != nil && ws.RemovedAt.IsZero() && !ws.Kept && ws.Tries < mostRemovals
}

func cleanupDue(v *View) time.Time {
	ws := v.Workspace
	wanted := removable(v) || v.asked(coppice.VerbContinue) != nil && ws != nil && ws.RemovedAt.IsZero() || !v.Task.Ended() && ws != nil && ws.Doubtful()
	if wanted && ws.RetryAt.After(v.Now) {
		return ws.RetryAt
	}
	return time.Time{}
}

func settleRemove(v *View, w coppice.Work) *Decision {
	if w.SessionID != 0 {
		return settleDetachedRemove(v, w)
	}
	if v.Workspace == nil {
		return &Decision{Kind: coppice.EventWorkFinished, Reason: "has no workspace"}
	}
	ws := *v.Workspace
	r, fail := result[coppice.RemoveResult](w)
	if fail != nil {
		ws.Tries++
		ws.RetryAt = v.Now.Add(doubled(10*time.Second, ws.Tries, 10*time.Minute))
		if !v.Task.Ended() && ws.Tries >= mostRemovals && !v.reverting() { // a continue waits for it
			d := prepareFailed(v, fail)
			d.Workspace = &ws
			return d
		}
		t := v.Task
		t.Warning = "its workspace could not be removed: " + fail.Text
		return &Decision{Kind: coppice.EventTaskWarned, Reason: t.Warning, Workspace: &ws, Task: &t}
	}
	ws.RemovedAt = v.Now
	d := &Decision{Kind: coppice.EventWorkspaceRemoved, Workspace: &ws, Task: withStrays(v, r.Strays)}
	if r.Ref != "" && !v.keptBefore(r.Ref) { // something was kept
		d.Trash = trashed(v, coppice.TrashWorkspace, r.Ref, r.Head)
		d.Trash.Path, d.Trash.Archive = ws.Path, r.Archive
	}
	return d
}

// keptBefore reports whether an entry of the trash is of an earlier workspace. The
// removal of a workspace that was never created finds the newest entry.
func (v *View) keptBefore(ref string) bool {
	return slices.ContainsFunc(v.Trashed, func(tr coppice.Trash) bool { return tr.Open() && tr.Ref == ref })
}

// trashed returns a new entry of the trash.
func trashed(v *View, what, ref, head string) *coppice.Trash {
	return &coppice.Trash{
		ProjectID: v.Project.ID, TaskID: v.Task.ID, What: what, Branch: v.Workspace.Branch, Head: head, Ref: ref,
		RemovedAt: v.Now, ExpiresAt: v.Now.Add(v.Project.Policy.Trash.TTL.D()),
	}
}

// purge removes trash that has expired. The trash of a project that is being
// removed is removed with it.
func purge(v *View) *Decision {
	if v.Project.Removal != nil || v.open(coppice.WorkPurge, coppice.WorkRestore) != nil {
		return nil
	}
	for _, tr := range v.Trashed {
		if !tr.Open() || tr.ExpiresAt.After(v.Now) {
			continue
		}
		if v.ForkWaits != "" {
			tr.ExpiresAt = v.Now.Add(purgePause)
			return &Decision{By: "cleanup", Kind: coppice.EventTaskChanged, Reason: "its trash is kept for another day: " + v.ForkWaits + " starts from it", Trash: &tr}
		}
		return &Decision{By: "cleanup", Kind: coppice.EventWorkOffered, Reason: "its trash has expired", Offer: &coppice.Work{
			Kind: coppice.WorkPurge, Key: purgeKey(v, tr), Pool: v.place(coppice.WorkPurge),
			Spec: coppice.Raw(coppice.PurgeSpec{Repo: v.Project.Path, RepoID: v.Project.ID, Ref: tr.Ref, Archive: tr.Archive}),
		}}
	}
	return nil
}

// purgeKey names the work that removes trash. If it fails, it is retried a day
// later. The round is part of the name: a result that arrives while the task has
// restarted might be lost, and a name cannot be offered twice.
func purgeKey(v *View, tr coppice.Trash) string {
	return fmt.Sprintf("%s%d/%d", purgePrefix(tr), tr.ExpiresAt.Unix(), v.Task.Round)
}

// purgePrefix starts the names of all work that removes this trash.
func purgePrefix(tr coppice.Trash) string { return fmt.Sprintf("trash/%d/purge/", tr.ID) }

// purgePause is how long trash stays that could not be removed, or is still needed.
const purgePause = 24 * time.Hour

func purgeDue(v *View) time.Time {
	var at time.Time
	for _, tr := range v.Trashed {
		if tr.Open() && tr.ExpiresAt.After(v.Now) && (at.IsZero() || tr.ExpiresAt.Before(at)) {
			at = tr.ExpiresAt
		}
	}
	return at
}

func settlePurge(v *View, w coppice.Work) *Decision {
	d := &Decision{Kind: coppice.EventWorkFinished, Reason: "its trash has expired"}
	for _, tr := range v.Trashed {
		if !strings.HasPrefix(w.Key, purgePrefix(tr)) {
			continue
		}
		if tr.PurgedAt = v.Now; w.Failure != nil {
			tr.PurgedAt, tr.ExpiresAt = time.Time{}, v.Now.Add(purgePause)
		} else {
			d.Task = withoutTrash(v, tr.Ref, false)
		}
		d.Trash = &tr
	}
	if w.Failure != nil {
		d.Reason = w.Failure.Text
	}
	return d
}
