package engine

import (
	"slices"
	"time"

	"coppice"
	"coppice/lock"
	"coppice/store"
)

// decide settles the locks in one decision, so a waiting request is granted in the
// turn in which its files became free.
func (v *LocksView) decide() *Decision {
	after := v.Table.Clone()
	settleLocks(&after, v.Now)
	c := diffLocks(v.Table, &after)
	if c.Empty() {
		return nil
	}
	return &Decision{
		By: "locks", Kind: coppice.EventLocksChanged, Reason: c.Summary(), Data: c.Events,
		More: []Row{locksRow(c, func() { v.Table = after })},
	}
}

// settleLocks releases the locks of sessions that have ended, renews those of
// sessions that work, ends what is over and grants what is free.
func settleLocks(t *lock.Table, now time.Time) {
	for _, l := range slices.Clone(t.Held) {
		if !l.Owner.State.Live() {
			t.End(l.SessionID)
		}
	}
	for _, r := range slices.Clone(t.Requests) {
		if !r.Owner.State.Live() {
			t.End(r.SessionID)
		}
	}
	t.Renew(now)
	t.Expire(now)
	t.Grant(now)
}

// LockGrant is the answer of a call that got its locks.
type LockGrant struct {
	Success  bool     `json:"success"`
	Acquired []string `json:"acquired"`
}

// lockChange is a change of a project's locks, with the calls that it answers.
type lockChange struct {
	lock.Change
	answered []coppice.LockRequest // whose calls wait, and get their locks
}

// diffLocks returns what changed. A granted request for which a call waits is
// removed: its answer is stored with the change, so that the call needs no further
// transaction. The other granted requests stay until an agent collects them.
func diffLocks(before lock.Table, after *lock.Table) (c lockChange) {
	after.Requests = slices.DeleteFunc(after.Requests, func(r coppice.LockRequest) bool {
		answered := r.Outcome == coppice.LockGranted && r.Call != ""
		if answered {
			c.answered = append(c.answered, r)
		}
		return answered
	})
	c.Change = lock.Diff(before, *after)
	return c
}

// locksRow writes a change of a project's locks.
func locksRow(c lockChange, show func()) Row {
	return row{coppice.SubjectLocks, func(tx store.Tx) error { return putLocks(tx, c) }, show}
}

func putLocks(tx store.Tx, c lockChange) error {
	for _, r := range c.answered {
		if err := tx.Calls.Put(r.SessionID, r.Call, coppice.Raw(LockGrant{true, r.Names})); err != nil {
			return err
		}
	}
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
