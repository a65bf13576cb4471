package worker

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coppice"
	"coppice/fabric"
)

// slowLedger takes reports with a delay, or fails.
type slowLedger struct {
	fabric.Ledger
	delay time.Duration
	fails int

	mu  sync.Mutex
	got []fabric.Progress
	at  []time.Time
}

func (l *slowLedger) Progress(ctx context.Context, p fabric.Progress) error {
	select {
	case <-time.After(l.delay):
	case <-ctx.Done():
		return ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails--; l.fails >= 0 {
		return errors.New("no connection")
	}
	l.got, l.at = append(l.got, p), append(l.at, time.Now())
	return nil
}

// text returns the reported output, with a mark for each gap.
func (l *slowLedger) text() string {
	var b strings.Builder
	end := int64(0)
	for _, p := range l.got {
		for _, o := range p.Output {
			if o.Offset > end {
				b.WriteString("~")
			}
			b.Write(o.Data)
			end = o.Offset + int64(len(o.Data))
		}
	}
	return b.String()
}

// observed runs a command that writes pieces, and returns how long it took.
func observed(t *testing.T, l *slowLedger, pieces int, each time.Duration, piece string) time.Duration {
	t.Helper()
	w := &Worker{cfg: Config{Ledger: l, Now: time.Now, Retry: time.Second}}
	p := w.newProgress(t.Context(), coppice.Lease{Work: coppice.Work{ID: 7}, Attempt: 2})
	start := time.Now()
	p.Started("test", false)
	for range pieces {
		p.Output([]byte(piece))
		<-time.After(each)
	}
	p.Ended(coppice.CommandRun{Exit: 1})
	took := time.Since(start)
	p.close()
	return took
}

// Reports are at least 100 ms apart, bounded, complete, and end quietly.
func TestProgressIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &slowLedger{}
		observed(t, l, 1000, time.Millisecond, strings.Repeat("x", 600)+"\n")
		if got := l.text(); got != strings.Repeat(strings.Repeat("x", 600)+"\n", 1000) {
			t.Errorf("%d bytes were reported", len(got))
		}
		last := l.got[len(l.got)-1]
		if !last.Quiet || last.Work != 7 || last.Attempt != 2 || last.Commands[0].State != coppice.RunEnded || last.Commands[0].Exit != 1 {
			t.Errorf("the last report: %+v", last)
		}
		for i, p := range l.got[:len(l.got)-2] {
			size := 0
			for _, o := range p.Output {
				size += len(o.Data)
			}
			if i > 0 && l.at[i].Sub(l.at[i-1]) < fabric.ProgressEvery || size > fabric.ProgressBytes {
				t.Errorf("report %d: %s after the last, %d bytes", i, l.at[i].Sub(l.at[i-1]), size)
			}
		}
	})
}

// A control process that is slow does not delay the command. It gets the end of
// the output.
func TestProgressDelaysNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &slowLedger{delay: 300 * time.Millisecond}
		took := observed(t, l, 1000, time.Millisecond, strings.Repeat("y", 2000)+"\n")
		if took != time.Second {
			t.Errorf("the command took %s", took)
		}
		if n := len(l.text()); n == 0 || n > 2_000_000 || !strings.Contains(l.text(), "~") {
			t.Errorf("%d bytes were reported", n)
		}
	})
}

// A report that failed is sent again.
func TestProgressIsRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &slowLedger{fails: 2}
		observed(t, l, 5, 2*time.Second, "line\n")
		if got := l.text(); got != strings.Repeat("line\n", 5) {
			t.Errorf("%q was reported", got)
		}
	})
}

// After a pause the ledger is asked, once, to show what it holds back.
func TestProgressTurnsQuiet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &slowLedger{}
		observed(t, l, 1, time.Minute, "gh")
		quiet := 0
		for _, p := range l.got[:len(l.got)-1] {
			if p.Quiet {
				quiet++
			}
		}
		if quiet != 1 {
			t.Errorf("%d of %d reports were quiet before the end", quiet, len(l.got))
		}
	})
}
