// Package clock is the source of time for long-lived parts, so that a test or the
// simulation can stop and move it.
package clock

import (
	"context"
	"time"
)

// Clock returns the time and wakes its callers. Implementations are safe for
// concurrent use.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// NewTimer returns a timer that sends the time on its C after d.
	NewTimer(d time.Duration) *Timer
	// AfterFunc calls f after d, in a new goroutine on the real clock and within
	// Advance on a manual one. Its timer has no C.
	AfterFunc(d time.Duration, f func()) *Timer
}

// Timer is one pending wake-up.
type Timer struct {
	C     <-chan time.Time
	stop  func() bool
	reset func(time.Duration) bool
}

// Stop cancels the timer and reports whether it was still pending. After Stop, no
// earlier time is received from C.
func (t *Timer) Stop() bool { return t.stop() }

// Reset sets the timer to fire after d, and reports whether it was still pending.
func (t *Timer) Reset(d time.Duration) bool { return t.reset(d) }

// Real returns the machine's clock.
func Real() Clock { return machine{} }

type machine struct{}

func (machine) Now() time.Time { return time.Now() }

func (machine) NewTimer(d time.Duration) *Timer {
	t := time.NewTimer(d)
	return &Timer{C: t.C, stop: t.Stop, reset: t.Reset}
}

func (machine) AfterFunc(d time.Duration, f func()) *Timer {
	t := time.AfterFunc(d, f)
	return &Timer{stop: t.Stop, reset: t.Reset}
}

// Sleep waits until d has passed. When ctx ends first, it returns the cause.
func Sleep(ctx context.Context, c Clock, d time.Duration) error {
	t := c.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
