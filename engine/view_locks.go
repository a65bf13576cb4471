package engine

import (
	"time"

	"coppice"
	"coppice/lock"
	"coppice/store"
)

// LocksView is what the deciders of a project's locks see.
type LocksView struct {
	Common
	Table lock.Table
}

// locksView loads the view of a project's locks.
func (t *turn) locksView(project int64) (*LocksView, error) {
	v := &LocksView{}
	var err error
	if v.Common, err = t.common(coppice.LocksSubject(project)); err != nil {
		return nil, err
	}
	if v.Project, err = t.tx.Projects.Get(project); err != nil {
		return nil, gone(err)
	}
	v.Table, err = lockTable(t.tx.Reader(), project)
	return v, err
}

// lockTable reads the locks of a project, and the requests for them.
func lockTable(r store.Reader, project int64) (lock.Table, error) {
	held, err := r.Locks.Held(project)
	if err != nil {
		return lock.Table{}, err
	}
	requests, err := r.Locks.Requests(project)
	return lock.Table{Held: held, Requests: requests}, err
}

func (v *LocksView) due() time.Time { return v.Table.Due() }

func (v *LocksView) follow(*turn, *Decision) error { return nil }

// wakeLocks wakes the locks of a project when a session that uses them has ended.
func (t *turn) wakeLocks(s *coppice.Session) error {
	if s == nil || s.State.Live() {
		return nil
	}
	uses, err := t.tx.Locks.Uses(s.ID)
	if uses {
		t.dirty.add(coppice.LocksSubject(s.ProjectID))
	}
	return err
}
