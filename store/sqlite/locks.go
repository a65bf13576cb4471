package sqlite

import (
	"database/sql"
	"errors"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

func (r locks) Held(project int64) ([]coppice.Lock, error) {
	rows, err := r.q.LocksIn(r.ctx, project)
	return each(rows, err, func(row dbsqlc.LocksInRow) (coppice.Lock, error) {
		l := row.Lock
		return coppice.Lock{
			ProjectID: l.ProjectID, SessionID: l.SessionID, Name: l.Name, Reason: l.Reason, TTL: coppice.Duration(l.Ttl),
			AcquiredAt: at(l.AcquiredAt), ExpiresAt: at(l.ExpiresAt),
			Owner: coppice.LockOwner{Session: row.Session, Task: row.Task, State: coppice.SessionState(row.State), Parked: row.Parked},
		}, nil
	})
}

func (r locks) Requests(project int64) ([]coppice.LockRequest, error) {
	rows, err := r.q.LockRequestsIn(r.ctx, project)
	return each(rows, err, func(row dbsqlc.LockRequestsInRow) (coppice.LockRequest, error) {
		var u unpacker
		l := row.LockRequest
		q := coppice.LockRequest{
			ID: l.ID, ProjectID: l.ProjectID, SessionID: l.SessionID, Call: l.CallID, Reason: l.Reason, TTL: coppice.Duration(l.Ttl),
			Since: at(l.Since), Until: at(l.Until), Outcome: coppice.LockOutcome(l.Outcome), Hint: l.Hint,
			Got: unpackValue[[]string](&u, l.Got), Cycle: unpackValue[[]string](&u, l.Cycle),
			Owner: coppice.LockOwner{Session: row.Session, Task: row.Task, State: coppice.SessionState(row.State), Parked: row.Parked},
		}
		u.unpack(l.Names, &q.Names)
		return q, u.err
	})
}

func (r locks) Outcome(session int64, call string) (coppice.LockOutcome, bool, error) {
	o, err := r.q.LockRequestOf(r.ctx, session, call)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return coppice.LockOutcome(o), err == nil, err
}

func (r locks) Uses(session int64) (bool, error) { return r.q.UsesLocks(r.ctx, session) }

func (r locks) Table(project int64) (coppice.LockTable, error) {
	held, err := r.Held(project)
	if err != nil {
		return coppice.LockTable{}, err
	}
	seq, err := r.q.LockSeq(r.ctx, project)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	t := coppice.LockTable{Seq: seq}
	for _, l := range held {
		t.Held = append(t.Held, coppice.HeldLock{Name: l.Name, Session: l.Owner.Session, Task: l.Owner.Task, Reason: l.Reason, Expires: l.ExpiresAt})
	}
	return t, err
}

func (t locks) Put(l coppice.Lock) error {
	err := t.q.PutLock(t.ctx, dbsqlc.PutLockParams{
		ProjectID: l.ProjectID, SessionID: l.SessionID, Name: l.Name, Reason: l.Reason, Ttl: int64(l.TTL),
		AcquiredAt: moment(l.AcquiredAt), ExpiresAt: moment(l.ExpiresAt),
	})
	return errors.Join(err, t.changed(l.ProjectID))
}

func (t locks) Drop(l coppice.Lock) error {
	n, err := t.q.DropLock(t.ctx, l.ProjectID, l.Name, l.SessionID)
	if err != nil || n == 0 {
		return err
	}
	return t.changed(l.ProjectID)
}

// changed follows each change of a lock.
func (t locks) changed(project int64) error {
	t.touch(store.TopicLocks(project))
	return t.q.GrowLockSeq(t.ctx, project)
}

func (t locks) PutRequest(r *coppice.LockRequest) error {
	var p packer
	row := dbsqlc.PutLockRequestParams{
		ID: rowID(r.ID), ProjectID: r.ProjectID, SessionID: r.SessionID, CallID: r.Call, Names: p.pack(r.Names), Reason: r.Reason, Ttl: int64(r.TTL),
		Since: moment(r.Since), Until: moment(r.Until), Outcome: string(r.Outcome), Got: packList(&p, r.Got), Cycle: packList(&p, r.Cycle), Hint: r.Hint,
	}
	t.requested(r.ProjectID, r.SessionID)
	return stored(t.tx, p, &r.ID, t.q.PutLockRequest, row)
}

func (t locks) DropRequest(r coppice.LockRequest) error {
	n, err := t.q.DropLockRequest(t.ctx, r.ID)
	if n > 0 {
		t.requested(r.ProjectID, r.SessionID)
	}
	return err
}

// requested follows each change of a request.
func (t locks) requested(project, session int64) {
	t.touch(store.TopicLocks(project))
	t.touch(store.TopicLockRequest(project, session))
}
