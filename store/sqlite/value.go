package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// moment is how a time is stored: nanoseconds, or NULL for the zero time.
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

// rowID is how an id is written: NULL, which lets SQLite choose, for 0.
func rowID(id int64) sql.NullInt64 { return sql.NullInt64{Int64: id, Valid: id != 0} }

// text is how raw JSON is stored.
func text(raw json.RawMessage) sql.NullString {
	return sql.NullString{String: string(raw), Valid: raw != nil}
}

func raw(s sql.NullString) json.RawMessage {
	if !s.Valid {
		return nil
	}
	return json.RawMessage(s.String)
}

// packer encodes nested values, and remembers the first that could not be.
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

// packFields encodes a struct whose fields are left out when empty. One without
// any field set takes no space.
func packFields(p *packer, v any) sql.NullString {
	text := p.pack(v)
	return sql.NullString{String: text, Valid: text != "{}"}
}

// unpacker decodes nested values, and remembers the first that could not be.
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

// ofIDs runs a query that takes ids of any number, unless there are none.
func ofIDs[R any](ctx context.Context, query func(context.Context, string) ([]R, error), ids []int64) ([]R, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return query(ctx, idList(ids))
}

// idList is how a query takes ids of any number: as a list in JSON.
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

// grouped maps rows to facts, by what they belong to.
func grouped[R, F any](rows []R, err error, fact func(R) (F, error), of func(F) int64) (map[int64][]F, error) {
	facts, err := each(rows, err, fact)
	groups := map[int64][]F{}
	for _, f := range facts {
		groups[of(f)] = append(groups[of(f)], f)
	}
	return groups, err
}

// keyed maps rows to facts, by what they belong to: the first of each.
func keyed[R, F any](rows []R, err error, fact func(R) (F, error), of func(F) int64) (map[int64]F, error) {
	facts, err := each(rows, err, fact)
	first := make(map[int64]F, len(facts))
	for _, f := range facts {
		if _, ok := first[of(f)]; !ok {
			first[of(f)] = f
		}
	}
	return first, err
}

// each maps rows to facts.
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

// one maps a row to a fact. Without a row the fact is not found by its name.
func one[R, F any](row R, err error, fact func(R) (F, error), what string, name any) (F, error) {
	if err != nil {
		var none F
		return none, lookup(err, what, name)
	}
	return fact(row)
}

// oneOrNone maps a row to a fact, and no row to nil.
func oneOrNone[R, F any](row R, err error, fact func(R) (F, error)) (*F, error) {
	if err != nil {
		var none F
		return found(none, err)
	}
	return found(fact(row))
}
