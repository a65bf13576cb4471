package sqlite

import (
	"database/sql"
	"errors"
	"math"
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

// next is the task that Forget handles next. Its id is 0 if none is due.
type next struct {
	id  int64
	all bool      // remove the task, not only its output
	due time.Time // when one will be due because of its age; zero for never
}

// next finds the oldest task that is beyond a limit.
func (r history) next(k store.Keep, now time.Time) (n next, err error) {
	kept, err := r.Kept()
	if err != nil {
		return n, err
	}
	full, err := r.q.OldestFull(r.ctx)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return n, err
	}
	if err == nil && k.Output > 0 {
		n.due = time.Unix(0, full.OverAt).Add(k.Output).UTC()
	}
	if err == nil && (!n.due.IsZero() && !n.due.After(now) || k.OutputSize > 0 && kept.Output > k.OutputSize) {
		return next{id: full.ID, due: now}, nil
	}
	until := now.Add(-k.Tasks).UnixNano()
	if k.Tasks == 0 {
		until = 0
	}
	if k.TasksMost > 0 && kept.Tasks > k.TasksMost {
		until = math.MaxInt64
	}
	id, err := r.q.OldestOver(r.ctx, until)
	if err == nil {
		return next{id: id, all: true, due: now}, nil
	}
	if !errors.Is(err, sql.ErrNoRows) || k.Tasks == 0 {
		return n, ignoreNoRows(err)
	}
	over, err := r.q.NextOver(r.ctx, now.Add(-k.Tasks).UnixNano())
	if moment := time.Unix(0, over).Add(k.Tasks).UTC(); err == nil && (n.due.IsZero() || moment.Before(n.due)) {
		n.due = moment
	}
	return n, ignoreNoRows(err)
}

func ignoreNoRows(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

func (r history) Due(k store.Keep, now time.Time) (time.Time, error) {
	n, err := r.next(k, now)
	return n.due, err
}

func (t history) Forget(k store.Keep, now time.Time, most int) (f store.Forgotten, err error) {
	n, err := t.next(k, now)
	switch {
	case err != nil || n.id == 0:
		return f, err
	case n.all:
		return t.drop(n.id, most)
	}
	return t.empty(n.id, k, now, most)
}

// begin reads a task that Forget handles, and the ids of its checks.
func (t history) begin(id int64) (f store.Forgotten, err error) {
	task, err := tasks(t).Get(id)
	if err != nil {
		return f, err
	}
	f.Task = &task
	f.Checks, err = t.q.CheckIDs(t.ctx, id)
	return f, err
}

// drop removes a task with everything that belongs to it.
func (t history) drop(id int64, most int) (store.Forgotten, error) {
	f, err := t.begin(id)
	if err == nil {
		err = t.q.KeepLastIDs(t.ctx)
	}
	if err != nil {
		return f, err
	}
	f.All = true
	f.Done, err = t.forgetTask(0, id, int64(min(most, outputBatch)))
	return f, err
}

// empty removes the output of a task's sessions and the logs of its checks.
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

// emptySession adds a notice to a session whose output is removed.
func (t history) emptySession(s dbsqlc.Session, k store.Keep, now time.Time) error {
	cursor := s.Cursor
	if cursor > 0 {
		notice := coppice.Output{Offset: cursor, At: now, Kind: coppice.OutputHost, Data: k.Notice}
		if err := t.addRow(s.ID, notice); err != nil {
			return err
		}
		cursor++ // so that the search index reads the session again
	}
	t.touch(store.TopicSession(s.ID))
	return errors.Join(t.q.ForgetPrompt(t.ctx, s.ID), t.q.DropMask(t.ctx, s.ID), t.q.EmptySession(t.ctx, moment(now), cursor, s.ID))
}
