package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"coppice"
	"coppice/store"
)

// waitForBlock makes a landing wait whose push or move was blocked. If a person
// has to act, the queue gets a need, and the landing waits for that.
func waitForBlock(v *View, l coppice.Landing, blocked string, n *coppice.Need) *Decision {
	l.Waits = blocked
	d := &Decision{Kind: coppice.EventLandingWaits, Landing: &l}
	if n != nil && (n.Kind == coppice.NeedCheckout || n.Kind == coppice.NeedGit) {
		need := *n
		need.Since = v.Now
		if need.Text == "" {
			need.Text = blocked
		}
		l.Waits = need.Text
		d.need, d.Data = &need, map[string]any{"need": need.Kind, "paths": need.Paths}
	}
	d.Reason = l.Waits
	if v.asked(coppice.VerbRetry) != nil { // something changed during the step
		l.RetryAt = v.Now
		return d
	}
	l.Tries++
	l.RetryAt = v.Now.Add(blockedPause(v, l.Tries))
	return d
}

// blockedPause returns how long a landing waits before its move is retried
// without a known change.
func blockedPause(v *View, tries int) time.Duration {
	first := v.Pause
	if first == 0 {
		first = 2 * time.Second
	}
	return doubled(first, tries, max(first, time.Minute))
}

// RetryLanding makes the first landing of each queue of a project retry now, if
// it waits: something changed that it might wait for. If a landing that is being
// pushed or moved is blocked, it is retried once more.
func (i *Intake) RetryLanding(ctx context.Context, project int64, reason string) error {
	return i.store.Update(ctx, func(tx store.Tx) error {
		queues, err := tx.Queues.In(project)
		for _, q := range queues {
			err = errors.Join(err, i.retryFirst(tx, q, reason))
		}
		return err
	})
}

func (i *Intake) retryFirst(tx store.Tx, q coppice.Queue, reason string) error {
	queued, err := tx.Landings.Queued(q.ID, 1)
	if err != nil || len(queued) == 0 {
		return err
	}
	l, now, of := queued[0], i.now().UTC(), coppice.QueueSubject(q.ID)
	work, err := tx.Work.Unsettled(of)
	if err != nil {
		return err
	}
	last := slices.ContainsFunc(work, func(w coppice.Work) bool { return slices.Contains(lastSteps, w.Kind) })
	if !last && !l.RetryAt.After(now) {
		return nil
	}
	t, err := tx.Tasks.Get(l.TaskID)
	if err != nil {
		return err
	}
	open, err := tx.Asks.Open(of)
	if err != nil || coppice.Asked(open, coppice.VerbRetry) != nil {
		return err
	}
	a := coppice.Ask{Subject: of, ProjectID: q.ProjectID, Verb: coppice.VerbRetry, Text: reason, By: i.by, At: now}
	if err := tx.Asks.Put(&a); err != nil {
		return err
	}
	return tx.Log.Append(&coppice.Event{
		At: now, Kind: coppice.EventLandingRetried, ProjectID: q.ProjectID, TaskID: t.ID, About: of, Subject: t.Key, By: i.by.String(), Reason: reason,
	})
}

// queueStatus is a landing queue as a status shows it.
type queueStatus struct {
	first string        // the key of the task that lands next
	waits string        // why it does not land
	need  *coppice.Need // what a person must do about that
	place map[int64]int // position of each landing, from 1
}

// mostPlaces limits how many positions of a queue are counted.
const mostPlaces = 1000

// loadQueueStatus reads a landing queue: its first landing, and the ids of the
// others.
func loadQueueStatus(r store.Reader, queue int64) (*queueStatus, error) {
	q := &queueStatus{place: map[int64]int{}}
	at, err := r.Queues.Get(queue)
	if err != nil {
		return nil, err
	}
	first, err := r.Landings.Queued(at.ID, 1)
	if err != nil || len(first) == 0 {
		return q, err
	}
	t, err := r.Tasks.Get(first[0].TaskID)
	if err != nil {
		return nil, err
	}
	q.first, q.waits = t.Key, first[0].Waits
	for i, n := range at.Needs {
		if n.Text == q.waits {
			q.need = &at.Needs[i]
		}
	}
	ids, err := r.Landings.Places(at.ID, mostPlaces)
	for i, id := range ids {
		q.place[id] = i + 1
	}
	return q, err
}

// reason says why a task does not land yet, and what a person can do about it.
func (q *queueStatus) reason(t coppice.Task, l *coppice.Landing) (text, fix string) {
	switch {
	case l == nil || !l.EndedAt.IsZero() || l.QueuedAt.IsZero() || q.first == "":
		return "", ""
	case q.first == t.Key && q.need != nil:
		return q.waits, q.need.Fix
	case q.first == t.Key:
		return q.waits, ""
	case q.waits != "":
		return fmt.Sprintf("waiting for %s, which cannot land: %s", q.first, q.waits), ""
	case q.place[l.ID] == 0:
		return fmt.Sprintf("waiting for %s to land (after %d others)", q.first, len(q.place)), ""
	}
	of := fmt.Sprint(len(q.place))
	if len(q.place) == mostPlaces {
		of += " or more"
	}
	return fmt.Sprintf("waiting for %s to land (%s of %s)", q.first, ordinal(q.place[l.ID]), of), ""
}

// ordinal writes a position in English: 1st, 2nd, 3rd, 4th.
func ordinal(n int) string {
	end := "th"
	if teen := n%100 >= 11 && n%100 <= 13; !teen {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return fmt.Sprint(n) + end
}
