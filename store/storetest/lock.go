package storetest

import (
	"testing"

	"coppice"
	"coppice/store"
)

// testLocks checks that the sequence number grows with each change of a lock, and
// that the table has the keys of the holders.
func testLocks(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	k := task(t, s, p, 1, nil)
	one, two := session(t, s, k, 1, nil), session(t, s, k, 2, nil)
	lock := func(of coppice.Session, name string) coppice.Lock {
		return coppice.Lock{ProjectID: p.ID, SessionID: of.ID, Name: name, Reason: "because", ExpiresAt: start}
	}
	table := func() (got coppice.LockTable) {
		view(t, s, func(r store.Reader) (err error) { got, err = r.Locks.Table(p.ID); return err })
		return got
	}
	same(t, "an empty table", coppice.LockTable{}, table())
	for i, c := range []struct {
		do   func(store.Tx) error
		grow bool
	}{
		{func(tx store.Tx) error { return tx.Locks.Put(lock(one, "b")) }, true},
		{func(tx store.Tx) error { return tx.Locks.Put(lock(two, "a")) }, true},
		{func(tx store.Tx) error { return tx.Locks.Put(lock(two, "a")) }, true},
		{func(tx store.Tx) error { return tx.Locks.Drop(lock(two, "b")) }, false}, // another session holds it
		{func(tx store.Tx) error {
			return tx.Locks.PutRequest(&coppice.LockRequest{ProjectID: p.ID, SessionID: two.ID, Call: "c/1"})
		}, false},
	} {
		before := table().Seq
		update(t, s, c.do)
		if after := table().Seq; (after > before) != c.grow {
			t.Errorf("change %d: the number was %d and is %d", i, before, after)
		}
	}
	same(t, "the table", []coppice.HeldLock{
		{Name: "a", Session: two.Key, Task: k.Key, Reason: "because", Expires: start}, {Name: "b", Session: one.Key, Task: k.Key, Reason: "because", Expires: start},
	}, table().Held)
	view(t, s, func(r store.Reader) error {
		if _, ok, err := r.Locks.Outcome(two.ID, "c/1"); !ok || err != nil {
			t.Errorf("the request: %v, %v", ok, err)
		}
		if _, ok, err := r.Locks.Outcome(one.ID, "c/1"); ok || err != nil {
			t.Errorf("a request of another session: %v, %v", ok, err)
		}
		if uses := must(r.Locks.Uses(one.ID)); !uses {
			t.Error("a session that holds a lock uses none")
		}
		return nil
	})
	update(t, s, func(tx store.Tx) error { return tx.Locks.Drop(lock(one, "b")) })
	view(t, s, func(r store.Reader) error {
		if uses := must(r.Locks.Uses(one.ID)); uses {
			t.Error("a session without locks uses some")
		}
		return nil
	})
}
