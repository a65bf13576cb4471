package engine

import (
	"context"

	"coppice"
	"coppice/store"
)

// WithRedact makes an Intake mask secrets in the values of notes, which sessions and
// people share.
func WithRedact(mask func(string) string) Option { return func(i *Intake) { i.mask = mask } }

// PutNote writes a note, whose Key, Scope, ProjectID and Value the caller sets. If
// expected is not nil, the note must have that version; 0 means that it must not
// exist. A note that has the value already stays as it is.
func (i *Intake) PutNote(ctx context.Context, n coppice.Note, expected *int64) (coppice.Note, error) {
	if err := i.validNote(&n); err != nil {
		return n, err
	}
	err := i.store.Update(ctx, func(tx store.Tx) error {
		now, err := currentNote(tx.Reader(), n, expected)
		if err != nil {
			return err
		}
		before := int64(-1)
		if now.Version > 0 {
			if before = now.Size; now.Value == n.Value {
				n = now
				return nil
			}
		}
		totals, err := tx.Notes.Totals(n.ProjectID)
		if err != nil {
			return err
		}
		if err := totals.NoteLimit(n.Key, int64(len(n.Value)), before); err != nil {
			return err
		}
		n.By, n.At = i.by, i.now().UTC()
		if err := tx.Notes.Put(&n); err != nil {
			return err
		}
		return i.noteChanged(tx, n, false)
	})
	return n, err
}

// DeleteNote deletes a note. If expected is not nil, the note must have that version.
func (i *Intake) DeleteNote(ctx context.Context, n coppice.Note, expected *int64) error {
	if err := coppice.ValidNoteKey(n.Key); err != nil {
		return err
	}
	return i.store.Update(ctx, func(tx store.Tx) error {
		now, err := currentNote(tx.Reader(), n, expected)
		if err != nil {
			return err
		}
		if err := tx.Notes.Delete(n.ProjectID, n.Scope, n.Key); err != nil {
			return err
		}
		return i.noteChanged(tx, now, true)
	})
}

// validNote checks the key and the value of a note, and masks secrets in the value.
func (i *Intake) validNote(n *coppice.Note) error {
	if err := coppice.ValidNoteKey(n.Key); err != nil {
		return err
	}
	if err := coppice.ValidText("value", n.Value, coppice.MaxNoteValue); err != nil {
		return err
	}
	if i.mask == nil {
		return nil
	}
	if i.mask(n.Key) != n.Key {
		return coppice.Errorf(coppice.EInvalid, "the key of the note has a secret in it").WithFix("choose another key").WithField("key")
	}
	n.Value = i.mask(n.Value)
	return nil
}

// currentNote returns a note as it is stored, with version 0 if it does not exist. It
// fails if the project is being removed, if the task of the note does not exist, or
// if the note does not have the expected version.
func currentNote(r store.Reader, n coppice.Note, expected *int64) (coppice.Note, error) {
	p, err := knownProject(r.Projects.Get(n.ProjectID))
	if err != nil {
		return n, err
	}
	if id := n.Scope.Task(); id != 0 {
		t, err := r.Tasks.Get(id)
		if err == nil && t.ProjectID != p.ID {
			err = coppice.Errorf(coppice.ENotFound, "the project %s has no task %s", p.Prefix, t.Key)
		}
		if err != nil {
			return n, err
		}
	}
	now, err := r.Notes.Get(n.ProjectID, n.Scope, n.Key)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		now, err = coppice.Note{}, nil
	}
	if err == nil && expected != nil && *expected != now.Version {
		err = coppice.NoteConflict(n.Key, *expected, now.Version)
	}
	return now, err
}

// noteChanged adds the event of a note that was written or deleted.
func (i *Intake) noteChanged(tx store.Tx, n coppice.Note, deleted bool) error {
	what := "written"
	if deleted {
		what = "deleted"
	}
	return tx.Log.Append(&coppice.Event{
		At: i.now().UTC(), Kind: coppice.EventNoteChanged, ProjectID: n.ProjectID, TaskID: n.Scope.Task(), Subject: n.Key, By: i.by.String(), Reason: what,
		Data: coppice.Raw(coppice.NoteChange{Scope: n.Scope, Key: n.Key, Version: n.Version, Deleted: deleted}),
	})
}
