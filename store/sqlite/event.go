package sqlite

import (
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

func (t log) Append(events ...*coppice.Event) error {
	for _, e := range events {
		seq, err := t.q.AddEvent(t.ctx, dbsqlc.AddEventParams{
			At: moment(e.At), Kind: string(e.Kind), ProjectID: e.ProjectID, TaskID: e.TaskID, SessionID: e.SessionID, About: e.About.String(),
			Subject: e.Subject, Actor: e.By, Reason: e.Reason, Data: text(e.Data),
		})
		if err != nil {
			return err
		}
		e.Seq = seq
		t.wake.event = seq
		if e.TaskID != 0 {
			t.touch(store.TopicTask(e.TaskID))
		}
	}
	return nil
}

// Bounds returns last + 1 as the first if every event was removed, so that a
// reader who has read last sees that it missed nothing.
func (r log) Bounds() (first, last int64, err error) {
	last, err = r.lastEvent()
	if err != nil || last == 0 {
		return 0, 0, err
	}
	first, err = r.q.FirstEvent(r.ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return last + 1, last, nil
	}
	return first, last, err
}

func (t log) Trim(before time.Time, keep int) (int, error) {
	first, last, err := t.Bounds()
	if err != nil {
		return 0, err
	}
	var upTo int64
	if keep > 0 {
		upTo = last - int64(keep)
	}
	if !before.IsZero() {
		since, err := t.q.FirstEventSince(t.ctx, store.MostTrimmed, before.UnixNano())
		if errors.Is(err, sql.ErrNoRows) {
			since, err = last+1, nil // all of the oldest events are older
		}
		if err != nil {
			return 0, err
		}
		upTo = max(upTo, since-1)
	}
	slowest, err := t.q.SlowestCursor(t.ctx)
	if err == nil {
		upTo = min(upTo, slowest)
	} else if !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	n, err := t.q.DropEvents(t.ctx, min(upTo, first+store.MostTrimmed-1))
	return int(n), err
}

func (r log) Cursor(name string) (int64, error) {
	seq, err := r.q.Cursor(r.ctx, name)
	return seq, ignoreNoRows(err)
}

func (t log) SetCursor(name string, seq int64) error { return t.q.SetCursor(t.ctx, name, seq) }

func (t timers) Set(m store.Timer) error {
	if m.At.IsZero() {
		return t.q.DropTimer(t.ctx, m.Kind, m.ID)
	}
	return t.q.SetTimer(t.ctx, m.Kind, m.ID, m.At.UnixNano())
}

func (t timers) Postpone(kind string, ids []string, to time.Time) error {
	text, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	_, err = t.exec(t.ctx, "UPDATE timers SET at = ? WHERE kind = ? AND id IN (SELECT value FROM json_each(CAST(? AS TEXT)))", to.UnixNano(), kind, string(text))
	return err
}

func (r timers) Due(now time.Time, most int) ([]store.Timer, error) {
	rows, err := r.q.DueTimers(r.ctx, now.UnixNano(), int64(most))
	return each(rows, err, func(row dbsqlc.Timer) (store.Timer, error) {
		return store.Timer{Kind: row.Kind, ID: row.ID, At: time.Unix(0, row.At).UTC()}, nil
	})
}

func (r timers) Next() (time.Time, error) {
	n, err := r.q.NextTimer(r.ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return time.Unix(0, n).UTC(), nil
}

func (r limits) All() ([]coppice.AgentLimit, error) {
	rows, err := r.q.AgentLimits(r.ctx)
	return each(rows, err, func(row dbsqlc.AgentLimit) (coppice.AgentLimit, error) {
		return coppice.AgentLimit{
			Agent: row.Agent, Until: at(row.Until), Class: coppice.Class(row.Class), Text: row.Text, Since: at(row.Since),
		}, nil
	})
}

func (t limits) Put(l coppice.AgentLimit) error {
	return t.q.SetLimit(t.ctx, dbsqlc.SetLimitParams{
		Agent: l.Agent, Until: moment(l.Until), Class: string(l.Class), Text: l.Text, Since: moment(l.Since),
	})
}

func (t limits) Drop(agent string) error { return t.q.DropLimit(t.ctx, agent) }
