package ingest

import (
	"cmp"
	"context"

	"coppice"
	"coppice/store"
)

// Locks implements fabric.Ledger.
func (l *Ledger) Locks(ctx context.Context, session, after int64) (coppice.LockTable, error) {
	s, err := store.Read(ctx, l.cfg.Store, func(r store.Reader) (coppice.Session, error) { return r.Sessions.Get(session) })
	if err != nil {
		return coppice.LockTable{}, err
	}
	w := l.cfg.Store.Watch(store.TopicLocks(s.ProjectID)) // before the read, so that no change is missed
	defer w.Close()
	for {
		t, err := store.Read(ctx, l.cfg.Store, func(r store.Reader) (coppice.LockTable, error) { return lockTable(r, s.ProjectID) })
		if err != nil || t.Seq > after {
			return t, err
		}
		if _, err := w.Wait(ctx); err != nil {
			return coppice.LockTable{}, err
		}
	}
}

// lockTable returns the locks of a project, with the mode of its policy.
func lockTable(r store.Reader, project int64) (coppice.LockTable, error) {
	p, err := r.Projects.Get(project)
	if err != nil {
		return coppice.LockTable{}, err
	}
	t, err := r.Locks.Table(project)
	t.Mode = cmp.Or(p.Policy.Locks, coppice.LocksAdvisory)
	return t, err
}
