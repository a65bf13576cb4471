package engine

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"coppice"
	"coppice/store"
)

// health checks a running session: silent for long, running for long, or too
// old. The first two are warnings for people. The last one stops it.
func health(v *View) *Decision {
	s := v.lastSession()
	if v.Task.Stage != coppice.StageSession || s == nil || !s.State.Live() || s.StartedAt.IsZero() {
		return nil
	}
	if s.Screen || s.Parked() {
		return nil // a person uses it, or it waits for a person
	}
	h := v.Project.Policy.Health
	age := v.Now.Sub(s.StartedAt) - s.ParkedFor.D()
	if h.Timeout > 0 && age >= h.Timeout.D() {
		if w := v.open(coppice.WorkRun); w != nil && w.Attempt > 0 {
			if d := askStop(v, coppice.StopTimeout); d != nil {
				d.By = "health"
				return d
			}
		}
	}
	warning := ""
	switch quiet := v.Now.Sub(lastSign(s)); {
	case h.Stalled > 0 && quiet >= h.Stalled.D() && s.State == coppice.SessionWorking:
		warning = "stalled: no output for " + durationText(h.Stalled.D())
	case h.Long > 0 && age >= h.Long.D():
		warning = "long-running: more than " + durationText(h.Long.D())
	}
	if v.Task.Warning == warning {
		return nil
	}
	t, c := v.Task, *s
	t.Warning, c.Warning = warning, warning
	return &Decision{By: "health", Kind: coppice.EventSessionWarned, Reason: warning, Task: &t, Session: &c}
}

func lastSign(s *coppice.Session) time.Time {
	if s.OutputAt.After(s.StartedAt) {
		return s.OutputAt
	}
	return s.StartedAt
}

// healthDue returns when the session reaches the next limit of health.
func healthDue(v *View) time.Time {
	s := v.lastSession()
	if v.Task.Stage != coppice.StageSession || s == nil || !s.State.Live() || s.StartedAt.IsZero() || s.Screen || s.Parked() {
		return time.Time{}
	}
	h, began := v.Project.Policy.Health, s.StartedAt.Add(s.ParkedFor.D())
	var at time.Time
	for _, t := range []struct {
		from time.Time
		d    coppice.Duration
	}{{lastSign(s), h.Stalled}, {began, h.Long}, {began, h.Timeout}} {
		if t.d == 0 {
			continue
		}
		moment := t.from.Add(t.d.D())
		if moment.After(v.Now) && (at.IsZero() || moment.Before(at)) {
			at = moment
		}
	}
	return at
}

// mostAttempts is how often work is handed out before it fails.
const mostAttempts = 5

// persistent lists the kinds of work that are never given up. A session's host
// might be alive, and the next worker finds it. The base might have moved. A
// workspace must not be left halfway to or from the trash.
var persistent = map[coppice.WorkKind]bool{
	coppice.WorkRun: true, coppice.WorkPush: true, coppice.WorkMove: true, coppice.WorkRemove: true, coppice.WorkRestore: true,
}

// expire makes work available again whose lease has expired, or fails it.
func (t *turn) expire(tm store.Timer) error {
	id, err := strconv.ParseInt(tm.ID, 10, 64)
	if err != nil {
		return fmt.Errorf("engine: timer %q: %w", tm.ID, err)
	}
	w, err := t.tx.Work.Get(id)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if w.State != coppice.WorkTaken {
		return nil
	}
	if w.LeaseUntil.After(t.now) {
		return t.tx.Timers.Set(store.Timer{Kind: TimerWork, ID: tm.ID, At: w.LeaseUntil})
	}
	ev := &coppice.Event{
		At: t.now, Kind: coppice.EventWorkExpired, ProjectID: w.ProjectID, TaskID: w.TaskID, SessionID: w.SessionID, About: w.Subject,
		Subject: w.Key, By: "health", Reason: fmt.Sprintf("%s was silent; attempt %d", w.Worker, w.Attempt),
	}
	if w.Attempt >= mostAttempts && !persistent[w.Kind] {
		w.State, w.FinishedAt = coppice.WorkFinished, t.now
		w.Failure = coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("%s was started %d times and never finished", w.Kind, w.Attempt), "see the server's log")
		if w.Kind == coppice.WorkCheck {
			w.Failure.Class = coppice.ClassLost // with the worker that ran the commands; see settleCheck
		}
	} else {
		w.State = coppice.WorkOffered
	}
	w.Worker, w.LeaseUntil = "", time.Time{}
	if err := t.tx.Work.Put(&w); err != nil {
		return err
	}
	t.dirty.add(w.Subject)
	t.decisions++
	return t.tx.Log.Append(ev)
}

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
	return v.Task.Ended() && v.Task.Outcome != coppice.OutcomeFailed && v.asked(coppice.VerbLand, coppice.VerbRetry, coppice.VerbRequeue, coppice.VerbContinue) == nil &&
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
		if !v.Task.Ended() && ws.Tries >= mostRemovals { // a continue waits for it
			d := prepareFailed(v, fail)
			d.Workspace = &ws
			return d
		}
		t := v.Task
		t.Warning = "its workspace could not be removed: " + fail.Text
		return &Decision{Kind: coppice.EventTaskWarned, Reason: t.Warning, Workspace: &ws, Task: &t}
	}
	ws.RemovedAt = v.Now
	d := &Decision{Kind: coppice.EventWorkspaceRemoved, Workspace: &ws}
	if r.Ref != "" { // something was kept
		d.Trash = &coppice.Trash{
			ProjectID: v.Project.ID, TaskID: v.Task.ID, What: "workspace", Path: ws.Path, Branch: ws.Branch,
			Head: r.Head, Ref: r.Ref, Archive: r.Archive, RemovedAt: v.Now, ExpiresAt: v.Now.Add(v.Project.Policy.Trash.TTL.D()),
		}
	}
	return d
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

// purgePause is how long trash that could not be removed stays.
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
		}
		d.Trash = &tr
	}
	if w.Failure != nil {
		d.Reason = w.Failure.Text
	}
	return d
}
