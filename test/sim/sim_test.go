package sim

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"

	"coppice"
)

var (
	seeds     = flag.Int("seeds", 200, "how many histories to play")
	start     = flag.Uint64("first", 1, "the seed of the first of them")
	flowSeeds = flag.Int("flows", 1000, "how many histories of flows to play")
	seed      = flag.Uint64("seed", 0, "play this one history only")
)

// TestMain lets the collector run less often: a history needs little memory.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

func options(seed uint64) Options {
	return Options{Seed: seed, Tasks: 4 + int(seed%9), Steps: 400}
}

// histories plays n histories of a kind, from a first seed on, and passes their reports
// to add. With -seed it plays only that one and returns false, because one history is
// too few to count what happened.
func histories(t *testing.T, first uint64, n int, set func(*Options), add func(Report)) bool {
	t.Helper()
	play(t, first, n, func(seed uint64) Options {
		opt := options(seed)
		set(&opt)
		return opt
	}, add)
	return *seed == 0
}

// TestHistories plays many random histories; every one must keep every promise.
// A failing one is played again with -seed.
func TestHistories(t *testing.T) {
	t.Parallel()
	var total Report
	played := play(t, *start, *seeds, options, func(r Report) {
		total.Done, total.Failed, total.Other, total.Events = total.Done+r.Done, total.Failed+r.Failed, total.Other+r.Other, total.Events+r.Events
	})
	t.Logf("%d histories: %d tasks done, %d failed, %d cancelled or waiting; %d events", played, total.Done, total.Failed, total.Other, total.Events)
}

// play plays n histories from the first seed on, or the one of -seed, and returns how
// many it played. It adds one report at a time.
func play(t *testing.T, first uint64, n int, options func(seed uint64) Options, add func(Report)) (played int) {
	t.Helper()
	last := first + uint64(n) - 1
	if *seed != 0 {
		first, last, logged = *seed, *seed, 3000
	}
	var next atomic.Uint64
	next.Store(first)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for n := next.Add(1) - 1; n <= last && ctx.Err() == nil; n = next.Add(1) - 1 {
				r, err := Run(ctx, options(n))
				if err != nil {
					if ctx.Err() == nil {
						t.Errorf("%v\nplay it again: go test ./test/sim -run '%s$' -seed %d", err, t.Name(), n)
					}
					cancel()
					return
				}
				mu.Lock()
				played++
				add(r)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return played
}

// TestKills plays histories in which many checks are killed and nothing else is
// wrong with the environment: no kill may count against anybody.
func TestKills(t *testing.T) {
	t.Parallel()
	killed, done := 0, 0
	for n := range uint64(40) {
		opt := options(n + 9000)
		opt.Kills = true
		r, err := Run(t.Context(), opt)
		if err != nil {
			t.Fatal(err)
		}
		killed, done = killed+r.Killed, done+r.Done
	}
	if killed < 200 || done < 100 {
		t.Errorf("%d checks were killed and %d tasks done, which shows little", killed, done)
	}
}

// TestRedBases plays histories in which people break the base and fix it, and
// agents often change nothing: no session starts without a person then, and every
// choice was made.
func TestRedBases(t *testing.T) {
	t.Parallel()
	var all decided
	done := 0
	if !histories(t, 13000, 20, func(o *Options) { o.Red, o.Steps = true, 800 }, func(r Report) {
		all.Skipped, all.Despite, all.Fixed = all.Skipped+r.Skipped, all.Despite+r.Despite, all.Fixed+r.Fixed
		all.AsItIs, all.More, done = all.AsItIs+r.AsItIs, all.More+r.More, done+r.Done
	}) {
		return
	}
	if t.Logf("%+v, %d tasks done", all, done); min(all.Skipped, all.Despite, all.Fixed, all.AsItIs, all.More) < 4 || done < 60 {
		t.Error("that shows little")
	}
}

// TestNotify plays histories in which people get messages: whatever needs a person is
// noticed in the turn that decides it, each message is accepted at least once and always
// with the same text, whatever fails or is killed.
func TestNotify(t *testing.T) {
	t.Parallel()
	var all notified
	if !histories(t, 19000, 20, func(o *Options) { o.Notify, o.Steps = true, 800 }, func(r Report) {
		all.Messages, all.Again, all.GivenUp, all.Notices = all.Messages+r.Messages, all.Again+r.Again, all.GivenUp+r.GivenUp, all.Notices+r.Notices
	}) {
		return
	}
	if t.Logf("%+v", all); all.Messages < 100 || all.Again < 5 || all.Notices < all.Messages {
		t.Error("that shows little")
	}
}

// TestHooks plays histories in which every event has hooks, and landings wait for
// one that fails at times: each event has exactly one run per hook, whatever is
// killed, and nothing lands that its hook has not passed.
func TestHooks(t *testing.T) {
	t.Parallel()
	var all hooks
	done := 0
	if !histories(t, 17000, 20, func(o *Options) { o.Hooks, o.Steps = true, 1000 }, func(r Report) {
		all.Fired, all.Repeated, all.Refused, done = all.Fired+r.Fired, all.Repeated+r.Repeated, all.Refused+r.Refused, done+r.Done
	}) {
		return
	}
	if t.Logf("%+v, %d tasks done", all, done); all.Fired < 1500 || all.Repeated < 40 || all.Refused < 5 || done < 40 {
		t.Error("that shows little")
	}
}

// TestParked plays histories in which a project has one session and agents ask a
// lot: everything ends, and all that can become of a parked session did.
func TestParked(t *testing.T) {
	t.Parallel()
	var all parks
	if !histories(t, 11000, max(40, *seeds/5), func(o *Options) { o.Asks, o.Steps = true, 1000 }, func(r Report) {
		all.Parked, all.Waited, all.Stopped, all.Passed = all.Parked+r.Parked, all.Waited+r.Waited, all.Stopped+r.Stopped, all.Passed+r.Passed
	}) {
		return
	}
	if t.Logf("%+v", all); all.Parked < 150 || all.Waited < 200 || all.Stopped < 25 || all.Passed < 25 {
		t.Error("that shows little")
	}
}

// TestFamilies plays histories in which a project has one session, and agents create
// tasks, wait for them, ask and finish: everything ends, nothing runs below a stopped
// task, no result is lost, and budgets hold over the family.
func TestFamilies(t *testing.T) {
	t.Parallel()
	var all families
	done := 0
	if !histories(t, 17000, max(30, *seeds/5), func(o *Options) { o.Family, o.Steps, o.Tasks = true, 1000, 4 }, func(r Report) {
		f := r.families
		all.Created, all.Delivered, all.Resumed, all.Replied = all.Created+f.Created, all.Delivered+f.Delivered, all.Resumed+f.Resumed, all.Replied+f.Replied
		all.Finished, all.Below, done = all.Finished+f.Finished, all.Below+f.Below, done+r.Done
	}) {
		return
	}
	if t.Logf("%+v, %d tasks done", all, done); min(all.Created, all.Delivered, all.Resumed, all.Replied, all.Finished, all.Below) < 5 {
		t.Error("that shows little")
	}
}

// TestFlows plays histories in which people create flows of every kind and schedules:
// each flow ends or says what it waits for, no step runs twice, nothing runs below a
// stopped flow, and budgets and documents hold.
func TestFlows(t *testing.T) {
	t.Parallel()
	var all flows
	play(t, 18999+*start, *flowSeeds, func(seed uint64) Options { return Options{Seed: seed, Flows: true, Steps: 120} }, func(r Report) { all.add(r.flows) })
	if *seed != 0 {
		return
	}
	if t.Logf("%+v", all); *flowSeeds < 1000 { // too few to show everything
		return
	}
	for n, c := range all.Kinds {
		if least := *flowSeeds / 200; c.Ran < 20*least || c.Done < 10*least || min(c.Failed, c.Stopped, c.Blocked, c.Paused, c.Resumed, c.Wrapped) < least {
			t.Errorf("%s: %+v, which shows little", coppice.FlowKinds[n], c)
		}
	}
	if min(all.Landed, all.Spawned, all.Retried, all.Written, all.Outdated, all.Scheduled) < *flowSeeds/50 || all.Commented < 1 {
		t.Error("that shows little")
	}
}

// TestLimits plays histories in which sessions reach their limits, and accounts
// their budgets.
func TestLimits(t *testing.T) {
	t.Parallel()
	var all limited
	if !histories(t, 13000, max(12, *seeds/10), func(o *Options) { o.Limits, o.Plain, o.Steps, o.Tasks = true, false, 1000, 15 }, func(r Report) {
		all.AtLimit, all.OfAccount = all.AtLimit+r.AtLimit, all.OfAccount+r.OfAccount
	}) {
		return
	}
	if t.Logf("%+v", all); all.AtLimit < 4 || all.OfAccount < 1 {
		t.Error("that shows little")
	}
}

// TestRemovals plays histories in which a project is removed while everything runs:
// it is gone in the end, and the other one keeps every promise.
func TestRemovals(t *testing.T) {
	t.Parallel()
	for n := range uint64(40) {
		o := options(n + 7000)
		if *seed != 0 {
			o = options(*seed)
		}
		o.Remove = true
		if _, err := Run(t.Context(), o); err != nil {
			t.Fatalf("%v\nplay it again: go test ./test/sim -run TestRemovals -seed %d", err, o.Seed)
		}
		if *seed != 0 {
			return
		}
	}
}

// TestReplay plays some histories twice: the logs must be the same to the letter.
func TestReplay(t *testing.T) {
	t.Parallel()
	for n := range uint64(10) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			a, err := Run(t.Context(), options(n+5000))
			if err != nil {
				t.Fatal(err)
			}
			b, err := Run(t.Context(), options(n+5000))
			if err != nil {
				t.Fatal(err)
			}
			if a != b {
				t.Fatalf("two plays of one seed differ: %+v and %+v", a, b)
			}
		})
	}
}

// TestOnceBroken plays the histories that broke a promise before.
func TestOnceBroken(t *testing.T) {
	t.Parallel()
	for _, n := range []uint64{
		1570, // a move that nobody reported was given up, and its stopped task called cancelled
		3024, // a restore that failed after it had happened left a workspace that nobody knew of
	} {
		opt := options(n)
		opt.Plain = true
		if _, err := Run(t.Context(), opt); err != nil {
			t.Error(err)
		}
	}
}
