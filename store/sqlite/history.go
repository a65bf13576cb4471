package sqlite

import (
	"database/sql"
	"errors"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

func (r history) Kept() (k store.Kept, err error) {
	if k.Output, err = r.q.OutputSize(r.ctx); err != nil {
		return k, err
	}
	n, err := r.q.EndedTasks(r.ctx)
	k.Tasks = int(n)
	return k, err
}

// oldest is the task that is forgotten next: altogether, or what was written for
// it. Its id is 0 when there is none.
type oldest struct {
	id   int64
	over time.Time
}

// due tells whether the age of the task is beyond a limit.
func (o oldest) due(limit time.Duration, now time.Time) bool {
	return limit > 0 && !o.over.Add(limit).After(now)
}

func (r history) oldestFull() (oldest, error) {
	row, err := r.q.OldestFull(r.ctx)
	return oldestOf(row.ID, row.OverAt, err)
}

func (r history) oldestOver() (oldest, error) {
	row, err := r.q.OldestOver(r.ctx)
	return oldestOf(row.ID, row.OverAt, err)
}

func oldestOf(id, over int64, err error) (oldest, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return oldest{}, nil
	}
	return oldest{id, time.Unix(0, over).UTC()}, err
}

func (r history) Due(k store.Keep) (due time.Time, err error) {
	for _, part := range []struct {
		limit  time.Duration
		oldest func() (oldest, error)
	}{{k.Output, r.oldestFull}, {k.Tasks, r.oldestOver}} {
		o, err := part.oldest()
		if err != nil {
			return due, err
		}
		if moment := o.over.Add(part.limit); o.id != 0 && part.limit > 0 && (due.IsZero() || moment.Before(due)) {
			due = moment
		}
	}
	return due, nil
}

func (t history) Forget(k store.Keep, now time.Time, most int) (f store.Forgotten, err error) {
	kept, err := t.Kept()
	if err != nil {
		return f, err
	}
	full, err := t.oldestFull()
	if err != nil {
		return f, err
	}
	if full.id != 0 && (full.due(k.Output, now) || k.OutputSize > 0 && kept.Output > k.OutputSize) {
		return t.empty(full.id, k, now, most)
	}
	over, err := t.oldestOver()
	if err != nil || over.id == 0 || !over.due(k.Tasks, now) && (k.TasksMost == 0 || kept.Tasks <= k.TasksMost) {
		return f, err
	}
	return t.drop(over.id, most)
}

// begin reads a task that is forgotten, and its checks.
func (t history) begin(id int64) (f store.Forgotten, err error) {
	task, err := tasks(t).Get(id)
	if err != nil {
		return f, err
	}
	f.Task = &task
	f.Checks, err = t.q.CheckIDs(t.ctx, id)
	return f, err
}

// drop removes a task with all that belongs to it.
func (t history) drop(id int64, most int) (store.Forgotten, error) {
	f, err := t.begin(id)
	if err == nil {
		err = t.q.RaiseIDFloors(t.ctx)
	}
	if err != nil {
		return f, err
	}
	f.All = true
	f.Done, err = t.forgetTask(0, id, int64(min(most, outputBatch)))
	return f, err
}

// empty removes what the sessions and checks of a task wrote.
func (t history) empty(id int64, k store.Keep, now time.Time, most int) (store.Forgotten, error) {
	f, err := t.begin(id)
	if err != nil {
		return f, err
	}
	sessions, err := t.q.SessionsOf(t.ctx, id)
	if err != nil {
		return f, err
	}
	if f.Done, err = t.forgetOutput(sessions, int64(min(most, outputBatch))); err != nil || !f.Done {
		return f, err
	}
	for _, s := range sessions {
		if err := t.emptySession(s, k, now); err != nil {
			return f, err
		}
	}
	return f, errors.Join(t.q.EmptyChecks(t.ctx, id), t.q.EmptyTask(t.ctx, id))
}

// emptySession leaves a notice in the place of what a session wrote.
func (t history) emptySession(s dbsqlc.Session, k store.Keep, now time.Time) error {
	cursor := s.Cursor
	if cursor > 0 {
		notice := coppice.Output{Offset: cursor, At: now, Kind: coppice.OutputHost, Data: k.Notice}
		if err := t.addRow(s.ID, notice); err != nil {
			return err
		}
		cursor++ // so that the search index looks again
	}
	t.touch(store.TopicSession(s.ID))
	return errors.Join(t.q.ForgetPrompt(t.ctx, s.ID), t.q.DropMask(t.ctx, s.ID), t.q.EmptySession(t.ctx, moment(now), cursor, s.ID))
}
