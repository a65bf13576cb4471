package engine

import (
	"coppice"
	"coppice/lock"
	"coppice/store"
)

// decide releases the locks of sessions that have ended, renews those of sessions
// that work, ends what is over and grants what is free. All of it is one
// decision, so a waiting request is granted in the turn in which its files became
// free.
func (v *LocksView) decide() *Decision {
	after := v.Table.Clone()
	for _, l := range v.Table.Held {
		if !l.Owner.State.Live() {
			after.End(l.SessionID)
		}
	}
	for _, r := range v.Table.Requests {
		if !r.Owner.State.Live() {
			after.End(r.SessionID)
		}
	}
	after.Renew(v.Now)
	after.Expire(v.Now)
	after.Grant(v.Now)
	c := lock.Diff(v.Table, after)
	if c.Empty() {
		return nil
	}
	return &Decision{
		By: "locks", Kind: coppice.EventLocksChanged, Reason: c.Summary(), Data: c.Events,
		More: []Row{locksRow(c, func() { v.Table = after })},
	}
}

// locksRow writes a change of a project's locks.
func locksRow(c lock.Change, show func()) Row {
	return row{coppice.SubjectLocks, func(tx store.Tx) error { return putLocks(tx, c) }, show}
}

func putLocks(tx store.Tx, c lock.Change) error {
	for _, l := range c.Drop {
		if err := tx.Locks.Drop(l); err != nil {
			return err
		}
	}
	for _, l := range c.Put {
		if err := tx.Locks.Put(l); err != nil {
			return err
		}
	}
	for _, r := range c.DropRequests {
		if err := tx.Locks.DropRequest(r); err != nil {
			return err
		}
	}
	for i := range c.PutRequests {
		if err := tx.Locks.PutRequest(&c.PutRequests[i]); err != nil {
			return err
		}
	}
	return nil
}
