package engine

import (
	"fmt"
	"strconv"
	"time"

	"coppice"
	"coppice/store"
)

// mostAttempts is how often work is handed out before it fails.
const mostAttempts = 5

// persistent lists the kinds of work that are never given up. The host of a
// session or preview might be alive, and the next worker finds it. The base might
// have moved. A workspace must not be left halfway to or from the trash.
var persistent = map[coppice.WorkKind]bool{
	coppice.WorkRun: true, coppice.WorkPush: true, coppice.WorkMove: true, coppice.WorkRemove: true, coppice.WorkRestore: true,
	coppice.WorkPreview: true,
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
