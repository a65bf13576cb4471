package clock

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Manual is a clock that moves only by its methods. While it moves, timers fire in
// the order of their times, and those of the same time in the order in which they
// were set. Each sees its own time as the current time.
type Manual struct {
	mu      sync.Mutex
	now     time.Time
	seq     uint64
	pending []*alarm
	changed chan struct{} // closed and replaced when pending changes
}

// alarm is one pending wake-up of a Manual clock.
type alarm struct {
	at   time.Time
	seq  uint64
	fire func(time.Time)
}

// NewManual returns a clock at the given time.
func NewManual(at time.Time) *Manual {
	return &Manual{now: at, changed: make(chan struct{})}
}

// Now returns the time of the clock.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// NewTimer implements Clock.
func (m *Manual) NewTimer(d time.Duration) *Timer {
	c := make(chan time.Time, 1)
	drain := func() {
		select {
		case <-c:
		default:
		}
	}
	a := &alarm{fire: func(at time.Time) {
		select {
		case c <- at:
		default:
		}
	}}
	t := m.timer(a, d, drain)
	t.C = c
	return t
}

// AfterFunc implements Clock.
func (m *Manual) AfterFunc(d time.Duration, f func()) *Timer {
	return m.timer(&alarm{fire: func(time.Time) { f() }}, d, func() {})
}

func (m *Manual) timer(a *alarm, d time.Duration, drain func()) *Timer {
	stop := func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		was := m.remove(a)
		drain()
		return was
	}
	reset := func(d time.Duration) bool {
		m.mu.Lock()
		was := m.remove(a)
		drain()
		m.arm(a, d)
		m.mu.Unlock()
		m.run(time.Time{})
		return was
	}
	m.mu.Lock()
	m.arm(a, d)
	m.mu.Unlock()
	m.run(time.Time{})
	return &Timer{stop: stop, reset: reset}
}

// arm and remove are called with mu held.
func (m *Manual) arm(a *alarm, d time.Duration) {
	m.seq++
	a.at, a.seq = m.now.Add(max(d, 0)), m.seq
	m.pending = append(m.pending, a)
	m.signal()
}

func (m *Manual) remove(a *alarm) bool {
	i := slices.Index(m.pending, a)
	if i < 0 {
		return false
	}
	m.pending = slices.Delete(m.pending, i, i+1)
	m.signal()
	return true
}

func (m *Manual) signal() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Advance moves the clock forward and returns after all due timers have fired.
func (m *Manual) Advance(d time.Duration) { m.run(m.Now().Add(d)) }

// run fires the timers that are due until the given time, or until now if it is zero,
// and leaves the clock there. It calls functions without the lock, so they can use
// the clock.
func (m *Manual) run(until time.Time) {
	for {
		m.mu.Lock()
		if until.Before(m.now) {
			until = m.now
		}
		var next *alarm
		for _, a := range m.pending {
			if !a.at.After(until) && (next == nil || a.at.Before(next.at) || (a.at.Equal(next.at) && a.seq < next.seq)) {
				next = a
			}
		}
		if next == nil {
			m.now = until
			m.mu.Unlock()
			return
		}
		if next.at.After(m.now) {
			m.now = next.at
		}
		m.remove(next)
		at := m.now
		m.mu.Unlock()
		next.fire(at)
	}
}

// Next returns the time of the earliest pending timer, and whether there is one.
func (m *Manual) Next() (time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var next time.Time
	for i, a := range m.pending {
		if i == 0 || a.at.Before(next) {
			next = a.at
		}
	}
	return next, len(m.pending) > 0
}

// WaitPending returns once at least n wake-ups are pending. It lets a test move
// the clock only after the code under test has gone to wait for it.
func (m *Manual) WaitPending(ctx context.Context, n int) error {
	return m.wait(ctx, func() bool { return len(m.pending) >= n })
}

// WaitAt returns once a wake-up is pending that is due in exactly d.
func (m *Manual) WaitAt(ctx context.Context, d time.Duration) error {
	return m.wait(ctx, func() bool {
		return slices.ContainsFunc(m.pending, func(a *alarm) bool { return a.at.Sub(m.now) == d })
	})
}

// wait returns once ready holds, which is called with mu held.
func (m *Manual) wait(ctx context.Context, ready func() bool) error {
	for {
		m.mu.Lock()
		done, changed := ready(), m.changed
		m.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Run moves the clock to the next wake-up again and again, as soon as one is due
// within d, until ctx ends. Time passes as fast as the code under test waits for
// it, and does not pass while nothing is due soon.
func (m *Manual) Run(ctx context.Context, d time.Duration) {
	soon := func() bool {
		return slices.ContainsFunc(m.pending, func(a *alarm) bool { return a.at.Sub(m.now) <= d })
	}
	for m.wait(ctx, soon) == nil {
		if next, ok := m.Next(); ok {
			m.Advance(next.Sub(m.Now()))
		}
	}
}
