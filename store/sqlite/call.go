package sqlite

import (
	"database/sql"
	"encoding/json"
	"errors"
)

func (r calls) Answer(session int64, id string) (json.RawMessage, error) {
	answer, err := r.q.CallAnswer(r.ctx, session, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return json.RawMessage(answer), err
}

func (t calls) Put(session int64, id string, answer json.RawMessage) error {
	return t.q.PutCall(t.ctx, session, id, string(answer))
}
