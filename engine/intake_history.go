package engine

import (
	"context"
	"encoding/json"
	"time"

	"coppice"
	"coppice/store"
)

// ForgetOld removes some of the history that is beyond the limits, at most about
// most rows of one task. When it has finished with the task, it adds an event.
// If nothing is beyond the limits, the result names no task.
func (i *Intake) ForgetOld(ctx context.Context, k store.Keep, most int) (f store.Forgotten, err error) {
	now := i.now().UTC()
	if k.Notice, err = json.Marshal(map[string]any{
		"kind": coppice.KindNotice,
		"text": "What this session wrote was removed on " + now.Format("2 January 2006") + " to bound the history (keep.output and keep.output_size in config.yaml).",
	}); err != nil {
		return f, err
	}
	due := time.Time{}
	err = i.store.View(ctx, func(r store.Reader) (err error) {
		due, err = r.History.Due(k, now)
		return err
	})
	if err != nil || due.IsZero() || due.After(now) {
		return f, err
	}
	err = i.store.Update(ctx, func(tx store.Tx) error {
		if f, err = tx.History.Forget(k, now, most); err != nil || !f.Done {
			return err
		}
		reason := "what was written for it"
		if f.All {
			reason = "all of it"
		}
		data, err := json.Marshal(coppice.Forgotten{All: f.All, Checks: f.Checks})
		if err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{
			At: now, Kind: coppice.EventTaskForgotten, ProjectID: f.Task.ProjectID, TaskID: f.Task.ID, Subject: f.Task.Key,
			By: coppice.Actor{Kind: coppice.ActorEngine, Name: "keep"}.String(), Reason: reason, Data: data,
		})
	})
	return f, err
}
