package sqlite

import (
	"database/sql"
	"errors"

	"coppice"
)

// outputColumns are what a list of output is made of: of a picture its size in
// place of its data. The length of a value is known without reading it.
const outputColumns = `session_id, place, at, kind, CASE kind WHEN 'image' THEN NULL ELSE data END, CASE kind WHEN 'image' THEN length(data) ELSE 0 END`

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
