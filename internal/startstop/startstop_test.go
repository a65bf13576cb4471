package startstop_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"coppice/internal/startstop"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// journal records what happened to services, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

type service struct {
	name  string
	log   *journal
	start func(ctx context.Context) error
	ctx   context.Context
}

func (s *service) Start(ctx context.Context) error {
	s.ctx = ctx
	if s.start != nil {
		if err := s.start(ctx); err != nil {
			return err
		}
	}
	s.log.add("+" + s.name)
	return nil
}

func (s *service) Stop() {
	if s.ctx.Err() != nil {
		s.log.add("context of " + s.name + " ended early")
	}
	s.log.add("-" + s.name)
}

func setup(names string, fail string) (*startstop.Set, *journal) {
	set, log := &startstop.Set{}, &journal{}
	for _, n := range strings.Split(names, "") {
		s := &service{name: n, log: log}
		if n == fail {
			s.start = func(context.Context) error { return errBroken }
		}
		set.Add(n, s)
	}
	return set, log
}

var errBroken = errors.New("broken")

func TestOrder(t *testing.T) {
	t.Parallel()
	set, log := setup("abc", "")
	if err := set.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := set.Start(t.Context()); !errors.Is(err, startstop.ErrStarted) {
		t.Fatalf("second start: %v", err)
	}
	set.Stop()
	set.Stop()
	if got := strings.Join(log.lines, " "); got != "+a +b +c -c -b -a" {
		t.Fatal(got)
	}
	if err := set.Start(t.Context()); !errors.Is(err, startstop.ErrStopped) {
		t.Fatalf("start after stop: %v", err)
	}
}

func TestFailureUnwinds(t *testing.T) {
	t.Parallel()
	set, log := setup("abcd", "c")
	err := set.Start(t.Context())
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "starting c") {
		t.Fatal(err)
	}
	set.Stop()
	if got := strings.Join(log.lines, " "); got != "+a +b -b -a" {
		t.Fatal(got)
	}
}

func TestStopBeforeStart(t *testing.T) {
	t.Parallel()
	set, log := setup("a", "")
	set.Stop()
	if err := set.Start(t.Context()); !errors.Is(err, startstop.ErrStopped) {
		t.Fatal(err)
	}
	if len(log.lines) > 0 {
		t.Fatal(log.lines)
	}
}

func TestStopInterruptsStart(t *testing.T) {
	t.Parallel()
	set, log := &startstop.Set{}, &journal{}
	set.Add("a", &service{name: "a", log: log})
	starting := make(chan struct{})
	set.Add("slow", &service{name: "slow", log: log, start: func(ctx context.Context) error {
		close(starting)
		<-ctx.Done()
		return context.Cause(ctx)
	}})
	result := make(chan error)
	go func() { result <- set.Start(t.Context()) }()
	<-starting
	stopped := make(chan struct{})
	go func() { set.Stop(); close(stopped) }()
	if err := <-result; !errors.Is(err, startstop.ErrStopped) {
		t.Fatal(err)
	}
	<-stopped
	if got := strings.Count(strings.Join(log.lines, " "), "-a"); got != 1 {
		t.Fatal(log.lines)
	}
}

func TestCancelledBeforeStart(t *testing.T) {
	t.Parallel()
	set, log := setup("ab", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := set.Start(ctx); !errors.Is(err, context.Canceled) || len(log.lines) > 0 {
		t.Fatal(err, log.lines)
	}
}

func TestNests(t *testing.T) {
	t.Parallel()
	inner, log := setup("ab", "")
	outer := &startstop.Set{}
	outer.Add("inner", inner)
	outer.Add("c", &service{name: "c", log: log, start: func(context.Context) error { return errBroken }})
	if err := outer.Start(t.Context()); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	if got := strings.Join(log.lines, " "); got != "+a +b -b -a" {
		t.Fatal(got)
	}
}

// Whatever starts is stopped exactly once, in reverse, from however many
// goroutines Stop is called.
func TestEveryStartIsStopped(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		names := "abcdefgh"[:rapid.IntRange(1, 8).Draw(rt, "services")]
		fail := rapid.SampledFrom(append(strings.Split(names, ""), "", "")).Draw(rt, "fails")
		set, log := setup(names, fail)
		var wg sync.WaitGroup
		wg.Go(func() { _ = set.Start(t.Context()) })
		for range rapid.IntRange(1, 3).Draw(rt, "stops") {
			wg.Go(set.Stop)
		}
		wg.Wait()
		set.Stop()
		var up []string
		for _, line := range log.lines {
			if name, ok := strings.CutPrefix(line, "+"); ok {
				up = append(up, name)
				continue
			}
			if name, ok := strings.CutPrefix(line, "-"); ok {
				if len(up) == 0 || up[len(up)-1] != name {
					rt.Fatalf("out of order: %v", log.lines)
				}
				up = slices.Delete(up, len(up)-1, len(up))
			}
		}
		if len(up) > 0 {
			rt.Fatalf("still up: %v of %v", up, log.lines)
		}
	})
}
