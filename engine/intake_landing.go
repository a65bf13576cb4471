package engine

import (
	"context"
	"errors"
	"slices"

	"coppice"
	"coppice/store"
)

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
