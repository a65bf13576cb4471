package clock_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"coppice/internal/clock"
)

// Sleep ends when its time has passed, or with its context.
func TestSleep(t *testing.T) {
	t.Parallel()
	c := clock.NewManual(time.Unix(0, 0))
	ended := make(chan error)
	go func() { ended <- clock.Sleep(t.Context(), c, time.Minute) }()
	if err := c.WaitPending(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	c.Advance(time.Minute)
	if err := <-ended; err != nil {
		t.Errorf("after a minute: %v", err)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := clock.Sleep(ctx, c, time.Minute); !errors.Is(err, why) {
		t.Errorf("with a context that ended: %v, want %v", err, why)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestManualFiresInOrder(t *testing.T) {
	t.Parallel()
	m := clock.NewManual(start)
	var got []string
	add := func(d time.Duration, name string) {
		m.AfterFunc(d, func() { got = append(got, name+" "+m.Now().Sub(start).String()) })
	}
	add(3*time.Second, "c")
	add(time.Second, "a")
	add(time.Second, "b")
	add(time.Minute, "never")
	m.Advance(5 * time.Second)
	want := []string{"a 1s", "b 1s", "c 3s"}
	if !slices.Equal(got, want) {
		t.Fatalf("fired %q, want %q", got, want)
	}
	if now := m.Now().Sub(start); now != 5*time.Second {
		t.Fatalf("the clock is at %v, want 5s", now)
	}
}

func TestManualFunctionsMaySetTimers(t *testing.T) {
	t.Parallel()
	m := clock.NewManual(start)
	var ticks int
	var tick func()
	tick = func() {
		ticks++
		m.AfterFunc(time.Second, tick)
	}
	m.AfterFunc(time.Second, tick)
	m.Advance(10 * time.Second)
	if ticks != 10 {
		t.Fatalf("ticked %d times, want 10", ticks)
	}
	if at, ok := m.Next(); !ok || at.Sub(start) != 11*time.Second {
		t.Fatalf("next is %v %v, want 11s", at.Sub(start), ok)
	}
}

func TestManualTimer(t *testing.T) {
	t.Parallel()
	m := clock.NewManual(start)
	tm := m.NewTimer(time.Second)
	m.Advance(time.Second)
	if at := <-tm.C; !at.Equal(start.Add(time.Second)) {
		t.Fatalf("fired at %v", at)
	}
	if tm.Reset(time.Second) {
		t.Fatal("a fired timer was pending")
	}
	m.Advance(time.Second)
	if tm.Stop() {
		t.Fatal("a fired timer was pending")
	}
	select {
	case <-tm.C:
		t.Fatal("a stopped timer still delivers")
	default:
	}
	if tm = m.NewTimer(time.Second); !tm.Stop() {
		t.Fatal("a fresh timer was not pending")
	}
	m.Advance(time.Hour)
	select {
	case <-tm.C:
		t.Fatal("a stopped timer fired")
	default:
	}
}

func TestManualZeroFiresAtOnce(t *testing.T) {
	t.Parallel()
	m := clock.NewManual(start)
	fired := false
	m.AfterFunc(-time.Second, func() { fired = true })
	if !fired {
		t.Fatal("a wake-up that is already due did not happen")
	}
}

func TestWaitPending(t *testing.T) {
	t.Parallel()
	m := clock.NewManual(start)
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-m.NewTimer(time.Second).C
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := m.WaitPending(ctx, 1); err != nil {
		t.Fatal(err)
	}
	m.Advance(time.Second)
	<-done
	cancel()
	if err := m.WaitPending(ctx, 1); err == nil {
		t.Fatal("waited for nothing without an error")
	}
}

// Time passes while something is due soon, and does not pass otherwise.
func TestManualRun(t *testing.T) {
	t.Parallel()
	m := clock.NewManual(start)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.Run(ctx, time.Minute)
	}()
	m.NewTimer(time.Hour)
	for range 3 {
		<-m.NewTimer(time.Minute).C
	}
	if now := m.Now().Sub(start); now != 3*time.Minute {
		t.Errorf("the clock is at %v, want 3m", now)
	}
	cancel()
	<-ended
}

// Exactly the timers that are due by a moment have fired at that moment.
func TestManualFiresExactlyTheDue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		delays := rapid.SliceOfN(rapid.IntRange(0, 20), 1, 10).Draw(rt, "delays")
		until := time.Duration(rapid.IntRange(0, 25).Draw(rt, "until")) * time.Second
		m := clock.NewManual(start)
		manual := make([]bool, len(delays))
		for i, d := range delays {
			m.AfterFunc(time.Duration(d)*time.Second, func() { manual[i] = true })
		}
		m.Advance(until)
		for i, d := range delays {
			if want := time.Duration(d)*time.Second <= until; manual[i] != want {
				rt.Fatalf("timer %d of %ds fired: %v", i, d, manual[i])
			}
		}
	})
}

func TestReal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clock.Real()
		began := c.Now()
		if at := <-c.NewTimer(time.Hour).C; at.Sub(began) != time.Hour {
			t.Fatalf("fired after %v", at.Sub(began))
		}
		done := make(chan struct{})
		tm := c.AfterFunc(time.Hour, func() { close(done) })
		if !tm.Reset(time.Minute) {
			t.Fatal("a fresh timer was not pending")
		}
		<-done
		if d := c.Now().Sub(began); d != time.Hour+time.Minute {
			t.Fatalf("took %v", d)
		}
		if tm.Stop() {
			t.Fatal("a fired timer was pending")
		}
	})
}
