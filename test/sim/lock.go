package sim

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"coppice"
	"coppice/engine"
	"coppice/lock"
	"coppice/store"
)

// locked counts what locks went through.
type locked struct {
	Locked  int // requests were granted immediately,
	Blocked int // or waited,
	Granted int // and were granted later,
	Expired int // or waited too long;
	Cycles  int // some would have closed a cycle,
	Ended   int // and sessions ended that held locks
}

func (c *locked) add(o locked) {
	c.Locked, c.Blocked, c.Granted, c.Expired = c.Locked+o.Locked, c.Blocked+o.Blocked, c.Granted+o.Granted, c.Expired+o.Expired
	c.Cycles, c.Ended = c.Cycles+o.Cycles, c.Ended+o.Ended
}

// locking is what agents do with locks.
type locking struct {
	locked
	rng   *rand.Rand
	calls int
	open  map[int64]openLock // the calls that wait, by session
	holds map[int64]bool     // the sessions that held locks after the last turn
}

type openLock struct {
	ask   engine.LockAsk
	until time.Time // when its request, or its answer, is gone
}

func newLocking(seed uint64) *locking {
	return &locking{rng: rand.New(rand.NewPCG(seed, 50)), open: map[int64]openLock{}, holds: map[int64]bool{}}
}

var lockNames = []string{"f1", "f2", "f3", "dir/a", "dir/b", "dir/*", "checkout::dir", "**/a", "checkout::."}

// lockingActions are what happens where agents lock files.
func (s *sim) lockingActions() weights {
	return weights{
		{"turn", 24}, {"take", 20}, {"work", 24}, {"agent", 8}, {"time", 6}, {"renew", 10}, {"ask", 1}, {"create", 10}, {"crash worker", 1},
		{"crash server", 2}, {"kill host", 1}, {"lock", 40},
	}
}

// lock lets the agent of a session request locks, repeat a call that was not
// answered, leave it, or release what it has.
func (s *sim) lock() error {
	var live []coppice.Session
	var held []coppice.Lock
	err := s.st.View(s.ctx, func(r store.Reader) (err error) {
		if live, err = r.Sessions.Live(); err != nil || len(live) == 0 {
			return err
		}
		live = live[s.locks.rng.IntN(len(live)):]
		held, err = r.Locks.Held(live[0].ProjectID)
		return err
	})
	if err != nil || len(live) == 0 {
		return err
	}
	x := live[0]
	if o, waits := s.locks.open[x.ID]; waits {
		if s.locks.rng.IntN(8) > 0 {
			return s.callLock(x, o)
		}
		err := s.intake.LeaveLock(s.ctx, x.ID, o.ask.Call)
		if err == nil {
			delete(s.locks.open, x.ID)
		}
		return err
	}
	held = slices.DeleteFunc(held, func(l coppice.Lock) bool { return l.SessionID != x.ID })
	if len(held) > 0 && s.locks.rng.IntN(3) == 0 {
		name := held[s.locks.rng.IntN(len(held))].Name
		got, err := s.intake.ReleaseLocks(s.ctx, x.ID, []string{name})
		if err == nil && !slices.Equal(got, []string{name}) {
			return fmt.Errorf("%s released %v, not %s", x.Key, got, name)
		}
		return err
	}
	s.locks.calls++
	ask := engine.LockAsk{Call: fmt.Sprint(x.Key, "/", s.locks.calls), TTL: coppice.LockTTL, Wait: time.Duration(1+s.locks.rng.IntN(20)) * time.Minute}
	for range 1 + s.locks.rng.IntN(3) {
		ask.Names = append(ask.Names, lockNames[s.locks.rng.IntN(len(lockNames))])
	}
	return s.callLock(x, openLock{ask: ask, until: s.now.Add(ask.Wait + coppice.LockCollect)})
}

// callLock calls the tool. A call that is not answered stays open.
func (s *sim) callLock(x coppice.Session, o openLock) error {
	_, repeated := s.locks.open[x.ID]
	answer, err := store.Read(s.ctx, s.st, func(r store.Reader) (json.RawMessage, error) { return r.Calls.Answer(x.ID, o.ask.Call) })
	if err != nil {
		return err
	}
	if answer != nil {
		delete(s.locks.open, x.ID)
		s.locks.Granted++
		return nil
	}
	a, err := s.intake.Lock(s.ctx, x.ID, o.ask)
	if err != nil {
		return err
	}
	delete(s.locks.open, x.ID)
	switch {
	case a.Waits:
		if s.locks.open[x.ID] = o; !repeated {
			s.locks.Blocked++
		}
	case a.Refused != nil:
		s.locks.Cycles++
	case a.TimedOut:
		s.locks.Expired++
	case repeated:
		s.locks.Granted++
	default:
		s.locks.Locked++
	}
	return nil
}

// locksHold checks locks after a turn: no lock and no request outlives its
// session, no two sessions hold conflicting names, no request waits for what is
// free, and no call that waits has lost its request.
func (s *sim) locksHold(r store.Reader) error {
	if !s.opt.Locks {
		return nil
	}
	holds := map[int64]bool{}
	for _, p := range s.projects {
		t, err := lockTable(r, p.ID)
		if err != nil {
			return err
		}
		if err := s.tableHolds(t); err != nil {
			return err
		}
		for _, l := range t.Held {
			holds[l.SessionID] = true
		}
		for id, o := range s.locks.open {
			x, err := r.Sessions.Get(id)
			if err != nil {
				return err
			}
			answer, err := r.Calls.Answer(id, o.ask.Call)
			if err != nil {
				return err
			}
			known := answer != nil || slices.ContainsFunc(t.Requests, func(q coppice.LockRequest) bool { return q.Call == o.ask.Call })
			switch {
			case x.ProjectID != p.ID:
			case !x.State.Live() || !known && !s.now.Before(o.until):
				delete(s.locks.open, id)
			case !known:
				return fmt.Errorf("the request of the call %s is lost", o.ask.Call)
			}
		}
	}
	for id := range s.locks.holds {
		if x, err := r.Sessions.Get(id); err == nil && !x.State.Live() {
			s.locks.Ended++
		}
	}
	s.locks.holds = holds
	return nil
}

func lockTable(r store.Reader, project int64) (t lock.Table, err error) {
	if t.Held, err = r.Locks.Held(project); err == nil {
		t.Requests, err = r.Locks.Requests(project)
	}
	return t, err
}

func (s *sim) tableHolds(t lock.Table) error {
	for i, l := range t.Held {
		if !l.Owner.State.Live() {
			return fmt.Errorf("%s is %s, and holds %s", l.Owner.Session, l.Owner.State, l.Name)
		}
		if !s.now.Before(l.ExpiresAt) {
			return fmt.Errorf("the lock of %s on %s has expired, and is held", l.Owner.Session, l.Name)
		}
		for _, o := range t.Held[:i] {
			if o.SessionID != l.SessionID && lock.Conflicts(o.Name, l.Name) {
				return fmt.Errorf("%s holds %s, and %s holds %s", l.Owner.Session, l.Name, o.Owner.Session, o.Name)
			}
		}
	}
	blocked := t.AllBlocked()
	for _, q := range t.Requests {
		if !q.Owner.State.Live() {
			return fmt.Errorf("%s is %s, and has a request for %v", q.Owner.Session, q.Owner.State, q.Names)
		}
		if !s.now.Before(q.Until) {
			return fmt.Errorf("the request of %s for %v is over, and is kept", q.Owner.Session, q.Names)
		}
		if q.Waits() && len(blocked[q.ID]) == 0 {
			return fmt.Errorf("%s waits for %v, which is free", q.Owner.Session, q.Names)
		}
	}
	return nil
}
