package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"coppice"
	"coppice/store"
)

// testTopics checks which topics each change touches.
func testTopics(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	k := task(t, s, p, 1, nil)
	one, two := session(t, s, k, 1, nil), session(t, s, k, 2, nil)
	ctx := within(t)
	all := s.Watch(store.TopicLog, store.TopicWork, store.TopicSessions, "task/", "locks/")
	defer all.Close()
	w := offered("a")
	for _, c := range []struct {
		name string
		do   func(store.Tx) error
		want []string
	}{
		{"output", func(tx store.Tx) error { return tx.Outputs.Add(one.ID, 0, 5, nil) }, []string{store.TopicSession(one.ID)}},
		{"an end", func(tx store.Tx) error { two.State = coppice.SessionDone; return tx.Sessions.Put(&two) }, []string{store.TopicSession(two.ID)}},
		{"an offer", func(tx store.Tx) error { return tx.Work.Put(w) }, []string{store.TopicWork}},
		{"an event", func(tx store.Tx) error {
			return tx.Log.Append(&coppice.Event{At: start, Kind: coppice.EventProjectChanged})
		}, []string{store.TopicLog}},
		{"an event of a task", func(tx store.Tx) error {
			return tx.Log.Append(&coppice.Event{At: start, Kind: coppice.EventTaskChanged, TaskID: k.ID})
		}, []string{store.TopicLog, store.TopicTask(k.ID)}},
		{"a lock", func(tx store.Tx) error {
			return tx.Locks.Put(coppice.Lock{ProjectID: p.ID, SessionID: one.ID, Name: "a"})
		}, []string{store.TopicLocks(p.ID)}},
		{"a request for locks", func(tx store.Tx) error {
			return tx.Locks.PutRequest(&coppice.LockRequest{ProjectID: p.ID, SessionID: one.ID})
		}, []string{store.TopicLocks(p.ID), store.TopicLockRequest(p.ID, one.ID)}},
		{"several", func(tx store.Tx) error {
			return errors.Join(tx.Outputs.Add(one.ID, 5, 6, nil), tx.Outputs.Add(one.ID, 6, 7, nil), tx.Log.Append(&coppice.Event{At: start, Kind: coppice.EventProjectChanged}))
		}, []string{store.TopicLog, store.TopicSession(one.ID)}},
	} {
		update(t, s, c.do)
		same(t, c.name, c.want, must(all.Wait(ctx)))
	}
	same(t, "the session of a topic", []int64{12, 0, 0}, []int64{store.SessionOf("session/12"), store.SessionOf("task/12"), store.SessionOf("session/")})
}

func offered(key string) *coppice.Work {
	return &coppice.Work{Kind: coppice.WorkRun, Key: key, Pool: "p", State: coppice.WorkOffered, OfferedAt: start}
}

// testWatch checks that a watch misses none of its topics, reports no others, and
// ends.
func testWatch(t *testing.T, open Open) {
	s := open(t)
	k := task(t, s, project(t, s, "app"), 1, nil)
	one, two := session(t, s, k, 1, nil), session(t, s, k, 2, nil)
	ctx := within(t)
	add := func(id, from, to int64) {
		update(t, s, func(tx store.Tx) error { return tx.Outputs.Add(id, from, to, nil) })
	}
	add(one.ID, 0, 1) // before the watch starts
	w, other, all := s.Watch(store.TopicSession(one.ID)), s.Watch(store.TopicSession(one.ID)), s.Watch(store.TopicSessions)
	defer w.Close()
	defer all.Close()
	woken := make(chan error, 1)
	wait := func(ctx context.Context) {
		go func() { _, err := w.Wait(ctx); woken <- err }()
		settle()
	}
	wait(ctx)
	for to := int64(1); to < 50; to++ {
		add(two.ID, to-1, to)
	}
	err := s.Update(ctx, func(tx store.Tx) error { return errors.Join(tx.Outputs.Add(one.ID, 1, 2, nil), errors.New("undone")) })
	if err == nil {
		t.Fatal("the failing transaction was committed")
	}
	settle()
	select {
	case err := <-woken:
		t.Fatal("woken by another session, or by what was undone:", err)
	default:
	}
	add(one.ID, 1, 2)
	if err := <-woken; err != nil {
		t.Fatal(err)
	}
	same(t, "another watch reports the same", []string{store.TopicSession(one.ID)}, must(other.Wait(ctx)))
	same(t, "all that wrote, each once", []string{store.TopicSession(one.ID), store.TopicSession(two.ID)}, must(all.Wait(ctx)))
	other.Close()
	for i := int64(2); i < 22; i++ { // between two waits, and during one
		add(one.ID, 2*i-2, 2*i-1)
		same(t, fmt.Sprint("before ", i), []string{store.TopicSession(one.ID)}, must(w.Wait(ctx)))
		go func() { _, err := w.Wait(ctx); woken <- err }()
		add(one.ID, 2*i-1, 2*i)
		if err := <-woken; err != nil {
			t.Fatal(err)
		}
	}
	waiting, stop := context.WithCancel(ctx)
	wait(waiting)
	stop()
	if err := <-woken; !errors.Is(err, context.Canceled) {
		t.Fatal("cancelled:", err)
	}
}

// testFacts checks that FactsVersion changes only with commits that change more
// than output.
func testFacts(t *testing.T, open Open) {
	s := open(t)
	k := task(t, s, project(t, s, "app"), 1, nil)
	one := session(t, s, k, 1, nil)
	session(t, s, k, 2, func(x *coppice.Session) { x.State = coppice.SessionDone })
	failed := errors.New("undone")
	w := offered("a")
	for _, c := range []struct {
		name string
		do   func(store.Tx) error
		more bool
	}{
		{"output", func(tx store.Tx) error {
			return tx.Outputs.Add(one.ID, 0, 5, []coppice.Output{{Kind: coppice.OutputStdout, Data: []byte("x")}})
		}, false},
		{"a mask", func(tx store.Tx) error { return tx.Outputs.PutMask(one.ID, []byte("{}")) }, false},
		{"nothing", func(tx store.Tx) error { _, err := tx.Sessions.Live(); return err }, false},
		{"a session", func(tx store.Tx) error { one.Usage.CostUSD = 1; return tx.Sessions.Put(&one) }, true},
		{"output and a session", func(tx store.Tx) error { return errors.Join(tx.Sessions.Put(&one), tx.Outputs.Add(one.ID, 5, 6, nil)) }, true},
		{"what is undone", func(tx store.Tx) error { return errors.Join(tx.Sessions.Put(&one), failed) }, false},
		{"work", func(tx store.Tx) error { return tx.Work.Put(w) }, true},
		{"a lease and its timer", func(tx store.Tx) error {
			_, err := tx.Work.Renew([]coppice.Lease{{Work: *w}}, start)
			return errors.Join(err, tx.Timers.Postpone("work", []string{"1"}, start))
		}, false},
		{"an event", func(tx store.Tx) error {
			return tx.Log.Append(&coppice.Event{At: start, Kind: coppice.EventProjectChanged})
		}, true},
	} {
		before := s.FactsVersion()
		if err := s.Update(t.Context(), c.do); err != nil && !errors.Is(err, failed) {
			t.Fatal(c.name, err)
		}
		if after := s.FactsVersion(); (after != before) != c.more {
			t.Errorf("%s: the number was %d and is %d", c.name, before, after)
		}
	}
	view(t, s, func(r store.Reader) error {
		written, err := r.Sessions.Written()
		same(t, "written", map[string]store.Written{one.Key: {Session: one.ID, Cursor: 6}}, written)
		return err
	})
}
