package fabrictest

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coppice"
)

func testFinishOnce(t *testing.T, b *bundle) {
	b.offer("a")
	l := b.takeOne("w1")
	if err := b.Fabric.Finish(b.ctx, l, json.RawMessage(`{"n":1}`), nil); err != nil {
		t.Fatal(err)
	}
	b.lost("a second result", b.Fabric.Finish(b.ctx, l, json.RawMessage(`{"n":2}`), nil))
	if w := b.Work(t, "a"); w.State != coppice.WorkFinished || string(w.Result) != `{"n":1}` || w.Failure != nil {
		t.Errorf("stored is %s, result %s", w.State, w.Result)
	}
	b.wantKeys("taken though finished", b.take(request("w2", 9)))
}

func testFinishFailure(t *testing.T, b *bundle) {
	b.offer("a")
	fail := coppice.Failf(coppice.ClassDisk, "the disk is full", "free some space")
	if err := b.Fabric.Finish(b.ctx, b.takeOne("w1"), nil, fail); err != nil {
		t.Fatal(err)
	}
	w := b.Work(t, "a")
	if d := cmp.Diff(fail, w.Failure); d != "" || w.State != coppice.WorkFinished || len(w.Result) != 0 {
		t.Errorf("stored is %s, result %s, failure:\n%s", w.State, w.Result, d)
	}
}

// testOldAttempt lets the first holder return after a second one has taken over.
func testOldAttempt(t *testing.T, b *bundle) {
	b.offer("a", "b")
	old := b.take(request("w1", 2))
	b.Advance(t, b.Lease)
	b.lost("a result after the lease ran out", b.finish(old[0]))
	current := b.take(request("w2", 1))
	b.wantKeys("taken over", current, "a")
	b.lost("a result of the first attempt", b.finish(old[0]))
	lost, err := b.Fabric.Renew(b.ctx, append(old, current...))
	if err != nil {
		t.Fatal(err)
	}
	b.wantKeys("lost", lost, "a", "b")
	for _, l := range lost {
		if l.Worker != "w1" || l.Attempt != 1 {
			t.Errorf("lost %s of %s, attempt %d", l.Work.Key, l.Worker, l.Attempt)
		}
	}
	forged := current[0]
	forged.Worker = "w3"
	b.lost("a result in another's name", b.finish(forged))
	forged = current[0]
	forged.Attempt++
	b.lost("a result of an attempt to come", b.finish(forged))
	if err := b.finish(current[0]); err != nil {
		t.Errorf("the current holder: %v", err)
	}
	if w := b.Work(t, "a"); string(w.Result) != `{"by":"w2"}` {
		t.Errorf("accepted %s", w.Result)
	}
	// The same worker can take it again, but as a new attempt.
	again := b.take(request("w1", 1))
	b.wantKeys("taken up again", again, "b")
	b.lost("its own first attempt", b.finish(old[1]))
	if err := b.finish(again[0]); err != nil {
		t.Error(err)
	}
}

func testCancelled(t *testing.T, b *bundle) {
	b.offer("a", "b")
	l := b.take(request("w1", 1))
	b.Cancel(t, "a")
	b.Cancel(t, "b")
	b.lost("a result of cancelled work", b.finish(l[0]))
	lost, err := b.Fabric.Renew(b.ctx, l)
	if err != nil {
		t.Fatal(err)
	}
	b.wantKeys("lost", lost, "a")
	b.wantKeys("taken though cancelled", b.take(request("w1", 9)))
	b.Advance(t, b.Lease)
	b.wantKeys("taken though cancelled, later", b.take(request("w1", 9)))
	held, err := b.Fabric.Held(b.ctx, "w1")
	if err != nil {
		t.Fatal(err)
	}
	b.wantKeys("held though cancelled", held)
}

// served takes all work, waits in between, and sends each item's key.
func (b *bundle) served(ctx context.Context) <-chan string {
	keys := make(chan string)
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	b.t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			leases, err := b.Fabric.TryTake(ctx, request("w1", 1))
			if err != nil && ctx.Err() == nil {
				b.t.Error(err)
				return
			}
			for _, l := range leases {
				select {
				case keys <- l.Work.Key:
				case <-ctx.Done():
				}
			}
			if len(leases) > 0 {
				continue
			}
			if err := b.Fabric.Wait(ctx); err != nil && ctx.Err() == nil {
				b.t.Error(err)
				return
			}
		}
	}()
	return keys
}

func (b *bundle) next(keys <-chan string, want string) {
	b.t.Helper()
	select {
	case got := <-keys:
		if got != want {
			b.t.Fatalf("took %s, want %s", got, want)
		}
	case <-b.ctx.Done():
		b.t.Fatalf("%s was offered and nobody woke", want)
	}
}

// testWaitWakes offers one item after another to a worker that waits for each.
func testWaitWakes(_ *testing.T, b *bundle) {
	keys := b.served(b.ctx)
	for n := range 100 {
		key := fmt.Sprintf("item/%d", n)
		b.offer(key)
		b.next(keys, key)
	}
}

// testWaitMissesNothing offers work between a TryTake that found nothing and the
// Wait after it.
func testWaitMissesNothing(t *testing.T, b *bundle) {
	for n := range 20 {
		b.wantKeys("before", b.take(request("w1", 1)))
		key := fmt.Sprintf("item/%d", n)
		b.offer(key)
		for taken := []coppice.Lease(nil); len(taken) == 0; taken = b.take(request("w1", 1)) {
			if err := b.Fabric.Wait(b.ctx); err != nil {
				t.Fatalf("%s was offered before Wait, which missed it: %v", key, err)
			}
		}
	}
}

// testWaitForExpired waits for an item that another worker has and loses.
func testWaitForExpired(t *testing.T, b *bundle) {
	b.offer("a")
	b.wantKeys("held by another", b.take(request("w2", 1)), "a")
	keys := b.served(b.ctx)
	b.Advance(t, b.Lease)
	b.next(keys, "a")
}

func testWaitEnds(t *testing.T, b *bundle) {
	ctx, cancel := context.WithCancel(b.ctx)
	ended := make(chan error)
	go func() {
		for { // it can return without a reason
			if err := b.Fabric.Wait(ctx); err != nil || ctx.Err() != nil {
				ended <- err
				return
			}
		}
	}()
	cancel()
	select {
	case <-ended:
	case <-b.ctx.Done():
		t.Fatal("Wait outlives its context")
	}
}

func testNodes(t *testing.T, b *bundle) {
	announce := func(n coppice.Node) {
		t.Helper()
		if err := b.Fabric.Announce(b.ctx, n); err != nil {
			t.Fatal(err)
		}
	}
	nodes := func() []coppice.Node {
		t.Helper()
		all, err := b.Fabric.Nodes(b.ctx)
		if err != nil {
			t.Fatal(err)
		}
		sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
		return append([]coppice.Node{}, all...)
	}
	if d := cmp.Diff([]coppice.Node{}, nodes()); d != "" {
		t.Errorf("nodes before any was announced:\n%s", d)
	}
	one := coppice.Node{Name: "one", MemoryTotal: 100, MemoryUsed: 10, DiskFree: 5}
	two := coppice.Node{Name: "two", MemoryTotal: 200}
	announce(two)
	announce(one)
	one.MemoryUsed = 20
	announce(one)
	if d := cmp.Diff([]coppice.Node{one, two}, nodes()); d != "" {
		t.Errorf("nodes (-want +got):\n%s", d)
	}
}
