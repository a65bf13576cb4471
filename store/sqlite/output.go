package sqlite

import (
	"compress/flate"
	"database/sql"
	"errors"
	"math"
	"slices"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

func (t outputs) Add(session, from, to int64, out []coppice.Output) error {
	defer t.outputOnly(t.wrote)
	now, err := t.q.Progress(t.ctx, session)
	if err != nil {
		return lookup(err, "session", session)
	}
	if now.Cursor != from {
		return coppice.Errorf(coppice.EConflict, "the output of session %d is committed up to %d, not %d", session, now.Cursor, from).
			WithFix("send what follows %d", now.Cursor)
	}
	out = slices.DeleteFunc(slices.Clone(out), func(o coppice.Output) bool { return o.Offset < from }) // already stored
	newest := at(now.OutputAt)
	for _, o := range out {
		newest = later(newest, o.At)
	}
	for _, row := range blocks(out, flate.BestSpeed) {
		if err := t.addRow(session, row); err != nil {
			return err
		}
	}
	t.touch(store.TopicSession(session))
	return t.q.MoveCursor(t.ctx, to, moment(newest), session)
}

// outputOnly resets the connection's count of changes, because output does not
// change FactsVersion.
func (t outputs) outputOnly(wrote uint64) { t.wrote = wrote }

func (r outputs) Mask(session int64) ([]byte, error) {
	state, err := r.q.Mask(r.ctx, session)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return []byte(state), err
}

func (t outputs) PutMask(session int64, state []byte) error {
	defer t.outputOnly(t.wrote)
	if len(state) == 0 {
		return t.q.DropMask(t.ctx, session)
	}
	return t.q.PutMask(t.ctx, session, string(state))
}

// addRow adds a piece of output, or a block of them.
func (t *tx) addRow(session int64, o coppice.Output) error {
	return t.q.AddOutput(t.ctx, dbsqlc.AddOutputParams{SessionID: session, Place: o.Offset, At: moment(o.At), Kind: string(o.Kind), Data: blob(o.Data)})
}

// blob makes sure that empty data is not stored as NULL.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// outputColumns are the columns of a list of output. A picture has its size
// instead of its data: SQLite knows the length of a value without reading it.
const outputColumns = `session_id, place, at, kind, CASE kind WHEN 'image' THEN NULL ELSE data END, CASE kind WHEN 'image' THEN length(data) ELSE 0 END`

// pieceFilter chooses pieces of a session's output.
type pieceFilter struct {
	session       int64
	after, before int64 // places, both exclusive
	kinds         []coppice.OutputKind
}

func allPieces(session int64) pieceFilter {
	return pieceFilter{session: session, after: math.MinInt64, before: math.MaxInt64}
}

func (w pieceFilter) piece(place int64, kind coppice.OutputKind) bool {
	return place > w.after && place < w.before && (len(w.kinds) == 0 || slices.Contains(w.kinds, kind))
}

func (r outputs) After(session, after int64, most int, kinds ...coppice.OutputKind) ([]coppice.Output, error) {
	w := pieceFilter{session: session, after: after, before: math.MaxInt64, kinds: kinds}
	return r.pieces(w, most, false, "place > ? ORDER BY place", after)
}

func (r outputs) Before(session, before int64, most int, kinds ...coppice.OutputKind) ([]coppice.Output, error) {
	w := pieceFilter{session: session, after: math.MinInt64, before: before, kinds: kinds}
	// The first row whose place is not before the offset might have earlier pieces.
	out, err := r.pieces(w, most, true, "place <= coalesce((SELECT min(o.place) FROM outputs o WHERE o.session_id = ? AND o.place >= ?), ?) ORDER BY place DESC",
		session, before, before)
	slices.Reverse(out)
	return out, err
}

// pieces reads rows, with a condition and an order, until it has most pieces or
// MostOutput bytes.
func (r outputs) pieces(w pieceFilter, most int, back bool, condition string, args ...any) ([]coppice.Output, error) {
	where := &where{}
	where.and("session_id = ?", w.session)
	if len(w.kinds) > 0 {
		in(where, "kind", append(slices.Clone(w.kinds), outputBlock))
	}
	query := "SELECT " + outputColumns + " FROM outputs" + where.String() + " AND " + condition
	rows, err := r.QueryContext(r.ctx, query, append(where.args, args...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []coppice.Output
	for size := 0; len(all) < most && size < store.MostOutput && rows.Next(); {
		row, err := scanRow(rows)
		if err != nil {
			return nil, err
		}
		found, err := w.in(row)
		if err != nil {
			return nil, err
		}
		if back {
			slices.Reverse(found)
		}
		for _, o := range found {
			if len(all) == most || size >= store.MostOutput {
				break
			}
			all, size = append(all, o), size+len(o.Data)
		}
	}
	return all, rows.Err()
}

// rowOf reads the row with the piece at a place, or returns nil. The data of a
// block is not compressed.
func (r outputs) rowOf(session, place int64) (*coppice.Output, error) {
	rows, err := list(r.conn, "SELECT "+outputColumns+" FROM outputs WHERE session_id = ? AND place >= ? ORDER BY place LIMIT 1", []any{session, place}, scanRow)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	if rows[0].Kind == outputBlock {
		rows[0].Data, err = plainBlock(rows[0].Data)
	}
	return &rows[0], err
}

func scanRow(rows *sql.Rows) (o coppice.Output, err error) {
	var moment sql.NullInt64
	err = rows.Scan(&o.SessionID, &o.Offset, &moment, &o.Kind, &o.Data, &o.Size)
	o.At = at(moment)
	return o, err
}

// in returns the chosen pieces of a row.
func (w pieceFilter) in(row coppice.Output) (found []coppice.Output, err error) {
	if row.Kind == outputBlock {
		err = eachPiece(w.session, row.Data, w.piece, func(p coppice.Output) { found = append(found, p) })
	} else if w.piece(row.Offset, row.Kind) {
		found = append(found, row)
	}
	return found, err
}

// LastOfEach reads the last rows of all sessions with one query. If they have too
// few pieces of the kind, it runs another query for that session.
func (r outputs) LastOfEach(sessions []int64, most int, kind coppice.OutputKind) (map[int64][]coppice.Output, error) {
	rows, err := list(r.conn, "SELECT "+outputColumns+` FROM sessions s JOIN outputs o ON o.session_id = s.id AND o.place IN (
		SELECT p.place FROM outputs p WHERE p.session_id = s.id AND p.kind IN (?, 'block') ORDER BY p.place DESC LIMIT CAST(? AS INTEGER)
	) WHERE s.id IN (SELECT value FROM json_each(CAST(? AS TEXT))) ORDER BY s.id, o.place`, []any{string(kind), most, idList(sessions)}, scanRow)
	if err != nil {
		return nil, err
	}
	all, seen := map[int64][]coppice.Output{}, map[int64]int{}
	for _, row := range slices.Backward(rows) {
		id := row.SessionID
		if seen[id]++; len(all[id]) == most {
			continue
		}
		w := allPieces(id)
		w.kinds = []coppice.OutputKind{kind}
		found, err := w.in(row)
		if err != nil {
			return nil, err
		}
		if found = append(found, all[id]...); len(found) > 0 {
			all[id] = found[max(0, len(found)-most):]
		}
	}
	for id, n := range seen {
		if n < most || len(all[id]) == most {
			continue
		}
		if all[id], err = r.Before(id, math.MaxInt64, most, kind); err != nil {
			return nil, err
		}
		if len(all[id]) == 0 {
			delete(all, id)
		}
	}
	return all, nil
}

func (r outputs) Picture(session, offset int64) (coppice.Output, error) {
	o := coppice.Output{SessionID: session, Offset: offset, Kind: coppice.OutputImage}
	var moment sql.NullInt64
	err := r.QueryRowContext(r.ctx, "SELECT at, data FROM outputs WHERE session_id = ? AND place = ? AND kind = 'image'", session, offset).Scan(&moment, &o.Data)
	if errors.Is(err, sql.ErrNoRows) {
		return coppice.Output{}, coppice.Errorf(coppice.ENotFound, "there is no picture at offset %d of this session", offset)
	}
	o.At = at(moment)
	return o, err
}
