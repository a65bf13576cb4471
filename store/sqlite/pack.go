package sqlite

import (
	"compress/flate"
	"context"
	"database/sql"
	"errors"
	"math"

	"coppice"
	"coppice/store"
)

// packBytes is the approximate size of the output that one call of Pack handles.
const packBytes = 4 * blockBytes

// packing is the progress of Pack. After a restart Pack starts again with the
// session.
type packing struct{ session, after int64 }

// loose is output that Pack puts into blocks.
type loose struct {
	out  []coppice.Output
	rows int64 // the number of rows with this output
	last int64 // the place of the last piece
}

// errChanged says that output has changed since Pack read it.
var errChanged = errors.New("the output has changed since it was read")

// Pack puts a part of an ended session's output into large blocks, because the
// output of a running session is stored in small ones. It reports whether there is
// more to do. It must not be called concurrently with itself.
func (s *Store) Pack(ctx context.Context) (more bool, err error) {
	at := s.packing
	var found loose
	err = s.view(ctx, func(t *tx) (err error) {
		if at.session == 0 {
			if at.session, err = t.q.Unpacked(t.ctx); err != nil {
				return err
			}
			at.after = math.MinInt64
		}
		found, err = t.loose(at)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	all := found.last == at.after
	blocks := blocks(found.out, flate.DefaultCompression) // outside of the transaction, because it is slow
	err = s.Update(ctx, func(tx store.Tx) error {
		t := tx.Outputs.(outputs)
		switch {
		case all:
			return t.q.SetPacked(t.ctx, at.session)
		case found.rows == 0: // a picture stays as it is
			return nil
		}
		return t.replace(at, found, blocks)
	})
	s.packing = packing{at.session, found.last}
	if err != nil || all {
		s.packing = packing{}
	}
	if errors.Is(err, errChanged) {
		return true, nil
	}
	return err == nil, err
}

// loose reads the pieces that follow a place, up to the next picture.
func (t *tx) loose(at packing) (found loose, err error) {
	found.last = at.after
	rows, err := t.QueryContext(t.ctx, "SELECT "+outputColumns+" FROM outputs WHERE session_id = ? AND place > ? ORDER BY place", at.session, at.after)
	if err != nil {
		return found, err
	}
	defer rows.Close()
	for size := 0; size < packBytes && rows.Next(); found.rows++ {
		row, err := scanRow(rows)
		if err != nil {
			return found, err
		}
		pieces, err := allPieces(at.session).in(row)
		if err != nil {
			return found, err
		}
		for _, o := range pieces {
			if o.Kind == coppice.OutputImage {
				if found.rows == 0 {
					found.last = o.Offset
				}
				return found, nil
			}
			found.out, found.last, size = append(found.out, o), o.Offset, size+len(o.Data)
		}
	}
	return found, rows.Err()
}

// replace replaces the rows that were found by blocks.
func (t outputs) replace(at packing, found loose, blocks []coppice.Output) error {
	n, err := t.q.DropOutputs(t.ctx, at.session, at.after, found.last)
	if err != nil {
		return err
	}
	if n != found.rows {
		return errChanged
	}
	for _, row := range blocks {
		if err := t.addRow(at.session, row); err != nil {
			return err
		}
	}
	return nil
}
