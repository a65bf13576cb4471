package engine

import (
	"context"
	"encoding/json"
	"errors"

	"coppice"
	"coppice/store"
)

// Once carries out a call of a session's agent one time. do makes its requests
// with an Intake that works inside one transaction, in which Once also stores the
// answer. A call with an id that was answered before changes nothing, and gets
// the stored answer. If do fails, nothing is stored, and its error is returned
// unchanged. If do returns nil, the call has no answer yet: its changes are
// stored, and the caller carries it out again.
//
// The Intake does no I/O: it uses no small model, and refuses a task whose branch
// is named.
func (i *Intake) Once(ctx context.Context, s coppice.Session, id string, do func(context.Context, *Intake, store.Tx) (any, error)) (answer json.RawMessage, err error) {
	err = i.store.Update(ctx, func(tx store.Tx) error {
		if answer, err = tx.Calls.Answer(s.ID, id); err != nil || answer != nil {
			return err
		}
		now, err := tx.Sessions.Caller(s.ID)
		if err != nil {
			return err
		}
		if !now.State.Live() {
			return coppice.Errorf(coppice.EConflict, "the session %s has ended", s.Key)
		}
		inside := *i
		inside.store, inside.levels, inside.free = within{tx: tx}, nil, nil
		inside.by, inside.caller = coppice.Actor{Kind: coppice.ActorSession, Name: s.Key}, &now
		out, err := do(ctx, &inside, tx)
		if err != nil || out == nil {
			return err
		}
		if answer, err = json.Marshal(out); err != nil {
			return err
		}
		return tx.Calls.Put(s.ID, id, answer)
	})
	return answer, err
}

// within is a store inside a transaction: an Update is a part of it.
type within struct {
	store.Store // nil: an Intake only reads and updates
	tx          store.Tx
}

func (w within) View(_ context.Context, f func(store.Reader) error) error { return f(w.tx.Reader()) }

func (w within) Update(_ context.Context, f func(store.Tx) error) error { return f(w.tx) }

func (w within) Backup(context.Context, string) error {
	return errors.New("engine: a transaction cannot be backed up")
}

// Report stores what a session's agent reports that it is doing.
func (i *Intake) Report(ctx context.Context, session int64, text string) error {
	text = coppice.FirstLine(text)
	if err := coppice.ValidText("message", text, coppice.MaxReport); err != nil {
		return err
	}
	return i.store.Update(ctx, func(tx store.Tx) error {
		s, err := tx.Sessions.Get(session)
		if err != nil || s.Report == text {
			return err
		}
		s.Report = text
		if err := tx.Sessions.Put(&s); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{
			At: i.now().UTC(), Kind: coppice.EventSessionReport, ProjectID: s.ProjectID, TaskID: s.TaskID, SessionID: s.ID, Subject: s.Key,
			By: i.by.String(), Reason: text,
		})
	})
}
