// Package fabrictest has the conformance suite of the fabric contract: tests
// that every implementation must pass.
package fabrictest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/fabric"
)

// Bundle is a fabric under test, and functions that act as the engine behind it.
// It closes what it opens when the test ends.
type Bundle struct {
	Fabric fabric.Fabric
	// Lease is how long a lease lasts.
	Lease time.Duration
	// Offer offers work, as the engine does. Kind, Key and Pool are given. The
	// work can be taken when Offer returns.
	Offer func(t *testing.T, w coppice.Work)
	// Cancel cancels work, as the engine does.
	Cancel func(t *testing.T, key string)
	// Advance lets time pass. Leases that expire until then are handled when it
	// returns.
	Advance func(t *testing.T, d time.Duration)
	// Work returns an item as stored.
	Work func(t *testing.T, key string) coppice.Work
	// Reopen returns a new fabric on the same facts, as after a restart.
	Reopen func(t *testing.T) fabric.Fabric
}

// Run runs the suite. Open returns a bundle without any work.
func Run(t *testing.T, open func(t *testing.T) Bundle) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *bundle)
	}{
		{"Take", testTake},
		{"PoolsAndKinds", testPoolsAndKinds},
		{"OldestFirst", testOldestFirst},
		{"OneHolder", testOneHolder},
		{"Renew", testRenew},
		{"Held", testHeld},
		{"Expired", testExpired},
		{"FinishOnce", testFinishOnce},
		{"FinishFailure", testFinishFailure},
		{"OldAttempt", testOldAttempt},
		{"Cancelled", testCancelled},
		{"WaitWakes", testWaitWakes},
		{"WaitMissesNothing", testWaitMissesNothing},
		{"WaitForExpired", testWaitForExpired},
		{"WaitEnds", testWaitEnds},
		{"Nodes", testNodes},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			c.test(t, &bundle{Bundle: open(t), t: t, ctx: ctx})
		})
	}
}

// patience limits waits for what should happen immediately. Only a hang reaches
// it.
const patience = 30 * time.Second

// Pools and kinds of the suite. The engine never gives up these kinds, however
// often a lease expires.
const (
	pool  = "local"
	other = "control"
)

var kinds = []coppice.WorkKind{coppice.WorkRun, coppice.WorkRemove, coppice.WorkRestore}

type bundle struct {
	Bundle
	t   *testing.T
	ctx context.Context
}

// offer offers runs with these keys.
func (b *bundle) offer(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.Offer(b.t, coppice.Work{Kind: coppice.WorkRun, Key: k, Pool: pool})
	}
}

func request(worker string, most int) fabric.Request {
	return fabric.Request{Worker: worker, Pools: []string{pool}, Wants: []fabric.Want{{Kinds: kinds, Most: most}}}
}

func (b *bundle) take(r fabric.Request) []coppice.Lease {
	b.t.Helper()
	leases, err := b.Fabric.TryTake(b.ctx, r)
	if err != nil {
		b.t.Fatal(err)
	}
	return leases
}

// takeOne takes the only takeable item.
func (b *bundle) takeOne(worker string) coppice.Lease {
	b.t.Helper()
	leases := b.take(request(worker, 9))
	if len(leases) != 1 {
		b.t.Fatalf("%s took %v, want one item", worker, keysOf(leases))
	}
	return leases[0]
}

func (b *bundle) finish(l coppice.Lease) error {
	return b.Fabric.Finish(b.ctx, l, json.RawMessage(`{"by":"`+l.Worker+`"}`), nil)
}

func (b *bundle) lost(what string, err error) {
	b.t.Helper()
	if !errors.Is(err, fabric.ErrLost) {
		b.t.Errorf("%s: got %v, want ErrLost", what, err)
	}
}

func keysOf(leases []coppice.Lease) []string {
	keys := []string{}
	for _, l := range leases {
		keys = append(keys, l.Work.Key)
	}
	return keys
}

func (b *bundle) wantKeys(what string, leases []coppice.Lease, want ...string) {
	b.t.Helper()
	if d := cmp.Diff(append([]string{}, want...), keysOf(leases)); d != "" {
		b.t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func testTake(t *testing.T, b *bundle) {
	b.wantKeys("taken of nothing", b.take(request("w1", 1)))
	spec := json.RawMessage(`{"text":"Grüße","n":1}`)
	b.Offer(t, coppice.Work{Kind: coppice.WorkRun, Key: "a", Pool: pool, Spec: spec})
	l := b.takeOne("w1")
	if l.Attempt != 1 || l.Worker != "w1" || l.Work.Kind != coppice.WorkRun || l.Work.Pool != pool || string(l.Work.Spec) != string(spec) {
		t.Errorf("lease %+v", l)
	}
	if l.Until.IsZero() {
		t.Error("the lease has no end")
	}
	b.wantKeys("taken twice", b.take(request("w2", 1)))
	if w := b.Work(t, "a"); w.State != coppice.WorkTaken || w.Worker != "w1" || w.Attempt != 1 {
		t.Errorf("stored is %+v", w)
	}
}

func testPoolsAndKinds(t *testing.T, b *bundle) {
	b.Offer(t, coppice.Work{Kind: coppice.WorkRun, Key: "run", Pool: pool})
	b.Offer(t, coppice.Work{Kind: coppice.WorkRun, Key: "second", Pool: pool})
	b.Offer(t, coppice.Work{Kind: coppice.WorkRemove, Key: "remove", Pool: pool})
	b.Offer(t, coppice.Work{Kind: coppice.WorkRun, Key: "elsewhere", Pool: other})
	of := func(most int, kinds ...coppice.WorkKind) fabric.Want { return fabric.Want{Kinds: kinds, Most: most} }
	for _, c := range []struct {
		name  string
		pools []string
		wants []fabric.Want
		want  []string
	}{
		{"no want", []string{pool, other}, nil, nil},
		{"no kind", []string{pool, other}, []fabric.Want{of(9)}, nil},
		{"no pool", nil, []fabric.Want{of(9, kinds...)}, nil},
		{"another pool", []string{"mars"}, []fabric.Want{of(9, kinds...)}, nil},
		{"another kind", []string{pool, other}, []fabric.Want{of(9, coppice.WorkRestore)}, nil},
		{"no capacity", []string{pool, other}, []fabric.Want{of(0, kinds...)}, nil},
		{"two wants", []string{pool}, []fabric.Want{of(9, coppice.WorkRemove), of(1, coppice.WorkRun), of(0, kinds...)}, []string{"remove", "run"}},
		{"one pool", []string{other}, []fabric.Want{of(9, kinds...)}, []string{"elsewhere"}},
		{"the rest", []string{other, pool}, []fabric.Want{of(9, kinds...)}, []string{"second"}},
	} {
		b.wantKeys(c.name, b.take(fabric.Request{Worker: "w1", Pools: c.pools, Wants: c.wants}), c.want...)
	}
}

func testOldestFirst(t *testing.T, b *bundle) {
	b.offer("z", "y", "x", "w", "v")
	b.wantKeys("first two", b.take(request("w1", 2)), "z", "y")
	b.wantKeys("third", b.take(request("w2", 1)), "x")
	b.wantKeys("the rest", b.take(request("w1", 9)), "w", "v")
}

// testOneHolder lets 16 workers take from one queue. Each item goes to one of
// them.
func testOneHolder(t *testing.T, b *bundle) {
	const items, takers = 200, 16
	for n := range items {
		b.offer(fmt.Sprintf("item/%d", n))
	}
	var mu sync.Mutex
	holders := map[string][]string{}
	var wg sync.WaitGroup
	for n := range takers {
		wg.Go(func() {
			worker := fmt.Sprintf("w%d", n)
			for {
				leases, err := b.Fabric.TryTake(b.ctx, request(worker, 1+n%3))
				if err != nil {
					t.Error(err)
				}
				if len(leases) == 0 {
					return
				}
				mu.Lock()
				for _, l := range leases {
					holders[l.Work.Key] = append(holders[l.Work.Key], worker)
				}
				mu.Unlock()
				for _, l := range leases {
					if err := b.finish(l); err != nil {
						t.Errorf("%s by %s: %v", l.Work.Key, worker, err)
					}
				}
			}
		})
	}
	wg.Wait()
	if len(holders) != items {
		t.Errorf("%d of %d items were taken", len(holders), items)
	}
	for key, by := range holders {
		if len(by) != 1 {
			t.Errorf("%s was handed to %v", key, by)
		}
	}
}

func testRenew(t *testing.T, b *bundle) {
	b.offer("a", "b")
	leases := b.take(request("w1", 2))
	for range 3 { // longer than a lease, in steps shorter than a lease
		b.Advance(t, b.Lease*2/3)
		lost, err := b.Fabric.Renew(b.ctx, leases)
		if err != nil || len(lost) != 0 {
			t.Fatalf("lost %v: %v", keysOf(lost), err)
		}
	}
	b.wantKeys("taken from a living holder", b.take(request("w2", 9)))
	b.Advance(t, b.Lease-1) // from the last renewal
	b.wantKeys("taken just before the end of a renewed lease", b.take(request("w2", 9)))
	if lost, err := b.Fabric.Renew(b.ctx, leases[:1]); err != nil || len(lost) != 0 {
		t.Fatalf("lost %v: %v", keysOf(lost), err)
	}
	b.Advance(t, 1)
	b.wantKeys("taken from a holder that renewed only the other", b.take(request("w2", 9)), "b")
	leases = leases[:1]
	if lost, err := b.Fabric.Renew(b.ctx, nil); err != nil || len(lost) != 0 {
		t.Errorf("renewing nothing: %v, %v", lost, err)
	}
	for _, l := range leases {
		if err := b.finish(l); err != nil {
			t.Error(err)
		}
	}
	lost, err := b.Fabric.Renew(b.ctx, leases)
	if err != nil {
		t.Fatal(err)
	}
	b.wantKeys("lost once finished", lost, "a")
}

func testHeld(t *testing.T, b *bundle) {
	b.offer("a", "b", "c")
	mine := b.take(request("w1", 2))
	b.take(request("w2", 1))
	b.Fabric = b.Reopen(t)
	held, err := b.Fabric.Held(b.ctx, "w1")
	if err != nil {
		t.Fatal(err)
	}
	b.wantKeys("held", held, "a", "b")
	for i, l := range held {
		if l.Attempt != mine[i].Attempt || l.Worker != "w1" {
			t.Errorf("%s after a restart: attempt %d by %s", l.Work.Key, l.Attempt, l.Worker)
		}
	}
	if lost, err := b.Fabric.Renew(b.ctx, held); err != nil || len(lost) != 0 {
		t.Errorf("renewing after a restart: lost %v, %v", keysOf(lost), err)
	}
	if err := b.finish(held[0]); err != nil {
		t.Errorf("finishing after a restart: %v", err)
	}
	held, err = b.Fabric.Held(b.ctx, "w1")
	if err != nil {
		t.Fatal(err)
	}
	b.wantKeys("held after one is finished", held, "b")
	none, err := b.Fabric.Held(b.ctx, "stranger")
	if err != nil {
		t.Fatal(err)
	}
	b.wantKeys("held by a stranger", none)
}

func testExpired(t *testing.T, b *bundle) {
	b.offer("a")
	b.takeOne("w1")
	b.Advance(t, b.Lease-1)
	b.wantKeys("taken before the lease ends", b.take(request("w2", 9)))
	for attempt := 2; attempt < 9; attempt++ {
		b.Advance(t, b.Lease)
		if l := b.takeOne("w2"); l.Attempt != attempt {
			t.Fatalf("attempt %d, want %d", l.Attempt, attempt)
		}
	}
	held, err := b.Fabric.Held(b.ctx, "w1")
	if err != nil {
		t.Fatal(err)
	}
	b.wantKeys("still held by the silent one", held)
}
