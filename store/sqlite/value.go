package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// moment returns a time as it is stored: nanoseconds, or NULL for the zero time.
func moment(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixNano(), Valid: true}
}

func at(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.Unix(0, n.Int64).UTC()
}

// rowID returns an id as it is written: NULL for 0, so that SQLite chooses one.
func rowID(id int64) sql.NullInt64 { return sql.NullInt64{Int64: id, Valid: id != 0} }

// text returns raw JSON as it is stored.
func text(raw json.RawMessage) sql.NullString {
	return sql.NullString{String: string(raw), Valid: raw != nil}
}

func raw(s sql.NullString) json.RawMessage {
	if !s.Valid {
		return nil
	}
	return json.RawMessage(s.String)
}

// packer encodes nested values, and keeps the first error.
type packer struct{ err error }

func (p *packer) pack(v any) string {
	b, err := json.Marshal(v)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("encoding %T: %w", v, err)
	}
	return string(b)
}

func packPtr[T any](p *packer, v *T) sql.NullString {
	if v == nil {
		return sql.NullString{}
	}
	return sql.NullString{String: p.pack(v), Valid: true}
}

func packList[T any](p *packer, v []T) sql.NullString {
	if len(v) == 0 {
		return sql.NullString{}
	}
	return sql.NullString{String: p.pack(v), Valid: true}
}

// packFields encodes a struct whose empty fields are omitted. An empty struct is
// stored as NULL.
func packFields(p *packer, v any) sql.NullString {
	text := p.pack(v)
	return sql.NullString{String: text, Valid: text != "{}"}
}

// unpacker decodes nested values, and keeps the first error.
type unpacker struct{ err error }

func (u *unpacker) unpack(s string, v any) {
	if err := json.Unmarshal([]byte(s), v); err != nil && u.err == nil {
		u.err = fmt.Errorf("decoding a stored %T: %w", v, err)
	}
}

func unpackPtr[T any](u *unpacker, s sql.NullString) *T {
	if !s.Valid {
		return nil
	}
	v := new(T)
	u.unpack(s.String, v)
	return v
}

func unpackValue[T any](u *unpacker, s sql.NullString) T {
	var v T
	if s.Valid {
		u.unpack(s.String, &v)
	}
	return v
}

// ofIDs runs a query that takes any number of ids, unless there are none.
func ofIDs[R any](ctx context.Context, query func(context.Context, string) ([]R, error), ids []int64) ([]R, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return query(ctx, idList(ids))
}

// idList returns ids as a JSON list, so that a query can take any number of them.
func idList(ids []int64) string {
	list := []byte("[")
	for i, id := range ids {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, id, 10)
	}
	return string(append(list, ']'))
}

// grouped returns a function that converts the rows of a query to facts, and groups
// them by their owner.
func grouped[R, F any](fact func(R) (F, error), of func(F) int64) func([]R, error) (map[int64][]F, error) {
	return func(rows []R, err error) (map[int64][]F, error) {
		facts, err := each(rows, err, fact)
		groups := map[int64][]F{}
		for _, f := range facts {
			groups[of(f)] = append(groups[of(f)], f)
		}
		return groups, err
	}
}

// keyed returns a function that converts the rows of a query to facts, and returns
// the first one of each owner.
func keyed[R, F any](fact func(R) (F, error), of func(F) int64) func([]R, error) (map[int64]F, error) {
	return func(rows []R, err error) (map[int64]F, error) {
		facts, err := each(rows, err, fact)
		first := make(map[int64]F, len(facts))
		for _, f := range facts {
			if _, ok := first[of(f)]; !ok {
				first[of(f)] = f
			}
		}
		return first, err
	}
}

// many returns a function that converts the rows of a query to facts.
func many[R, F any](fact func(R) (F, error)) func([]R, error) ([]F, error) {
	return func(rows []R, err error) ([]F, error) { return each(rows, err, fact) }
}

// each converts rows to facts.
func each[R, F any](rows []R, err error, fact func(R) (F, error)) ([]F, error) {
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	facts := make([]F, len(rows))
	for i, row := range rows {
		if facts[i], err = fact(row); err != nil {
			return nil, err
		}
	}
	return facts, nil
}

// one returns a function that converts the row of a query to a fact. If there is no
// row, it returns a not_found error with the name.
func one[R, F any](fact func(R) (F, error), what string, name any) func(R, error) (F, error) {
	return func(row R, err error) (F, error) {
		if err != nil {
			var none F
			return none, lookup(err, what, name)
		}
		return fact(row)
	}
}

// oneOrNone returns a function that converts the row of a query to a fact. If there
// is no row, it returns nil.
func oneOrNone[R, F any](fact func(R) (F, error)) func(R, error) (*F, error) {
	return func(row R, err error) (*F, error) {
		if err != nil {
			var none F
			return found(none, err)
		}
		return found(fact(row))
	}
}
