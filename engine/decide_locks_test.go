package engine

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/store"
)

// lockers opens a bundle whose tasks have a running session each.
func lockers(t *testing.T, n int) (*bundle, []coppice.Session) {
	t.Helper()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Limits.Sessions = n })
	var list []coppice.Session
	for i := range n {
		b.create(coppice.NewTask{Title: "a"})
		list = append(list, b.working(fmt.Sprintf("app-%d", i+1)))
	}
	return b, list
}

// lock requests names for a session, as the call with a number.
func (b *bundle) lock(s coppice.Session, call int, names ...string) LockAnswer {
	b.t.Helper()
	a, err := b.Lock(b.t.Context(), s.ID, LockAsk{Call: fmt.Sprint(s.Key, "/", call), Names: names, TTL: coppice.LockTTL, Wait: coppice.LockWait})
	b.must(err)
	b.turn()
	return a
}

// lockLater ends a call that waits with still_waiting.
func (b *bundle) lockLater(s coppice.Session, call int, names ...string) {
	b.t.Helper()
	a, err := b.Lock(b.t.Context(), s.ID, LockAsk{Call: fmt.Sprint(s.Key, "/", call), Names: names, TTL: coppice.LockTTL, Wait: coppice.LockWait, Later: true})
	if err != nil || !a.Waits {
		b.t.Fatal(a, err)
	}
}

// wantLocks checks who holds what, and who waits.
func (b *bundle) wantLocks(want ...string) {
	b.t.Helper()
	table := read(b, func(r store.Reader) (list []string, err error) {
		t, err := lockTable(r, 1)
		for _, l := range t.Held {
			list = append(list, l.Owner.Session+" holds "+l.Name)
		}
		for _, q := range t.Requests {
			list = append(list, fmt.Sprint(q.Owner.Session, " ", q.Outcome, " ", q.Names))
		}
		return list, err
	})
	if d := cmp.Diff(want, table); d != "" {
		b.t.Errorf("locks (-want +got):\n%s", d)
	}
}

// A waiting request is granted in the transaction in which the holder releases, in
// order, and that transaction stores the answer of its call.
func TestLocksAreGrantedInOrder(t *testing.T) {
	t.Parallel()
	b, s := lockers(t, 3)
	if a := b.lock(s[0], 1, "a.go", "b.go"); !a.Granted {
		t.Fatal(a)
	}
	if a := b.lock(s[1], 1, "b.go", "c.go"); !a.Waits || len(a.Blocked) != 1 || a.Blocked[0].Owner().Session != "app-1.1" {
		t.Fatal(a)
	}
	if a := b.lock(s[2], 1, "c.go"); !a.Waits { // it does not overtake the second
		t.Fatal(a)
	}
	b.wantLocks("app-1.1 holds a.go", "app-1.1 holds b.go", "app-2.1  [b.go c.go]", "app-3.1  [c.go]")
	released, err := b.ReleaseLocks(t.Context(), s[0].ID, []string{"b.go", "z.go"})
	b.must(err)
	if len(released) != 1 || released[0] != "b.go" {
		t.Error(released)
	}
	for range 2 { // a turn changes nothing
		b.wantLocks("app-1.1 holds a.go", "app-2.1 holds b.go", "app-2.1 holds c.go", "app-3.1  [c.go]")
		b.wantAnswer(s[1], 1, `{"success":true,"acquired":["b.go","c.go"]}`)
		b.wantAnswer(s[2], 1, "")
		b.turn()
	}
	if got := b.events(store.EventFilter{Kinds: []coppice.EventKind{coppice.EventLocksChanged}}); len(got) != 4 {
		t.Errorf("%d events", len(got))
	}
}

// wantAnswer checks the stored answer of a call.
func (b *bundle) wantAnswer(s coppice.Session, call int, want string) {
	b.t.Helper()
	got := read(b, func(r store.Reader) (json.RawMessage, error) {
		return r.Calls.Answer(s.ID, fmt.Sprint(s.Key, "/", call))
	})
	if string(got) != want {
		b.t.Errorf("%s/%d got %s, want %s", s.Key, call, got, want)
	}
}

// A session that ends in any way loses its locks and requests.
func TestLocksEndWithTheirSession(t *testing.T) {
	t.Parallel()
	zero := 0
	for name, r := range map[string]any{
		"done": coppice.RunResult{Exit: &zero}, "lost": coppice.RunResult{Lost: true}, "failed": &coppice.Failure{Class: coppice.ClassTimeout, Text: "no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, s := lockers(t, 3)
			b.lock(s[0], 1, "a.go")
			b.lock(s[2], 1, "x.go")
			b.lock(s[0], 2, "x.go")
			b.lock(s[1], 1, "checkout::.")
			b.wantLocks("app-1.1 holds a.go", "app-3.1 holds x.go", "app-1.1  [x.go]", "app-2.1  [checkout::.]")
			b.finish("app-1", coppice.WorkRun, r)
			b.wantLocks("app-3.1 holds x.go", "app-2.1  [checkout::.]")
			b.finish("app-3", coppice.WorkRun, r)
			b.wantLocks("app-2.1 holds checkout::.")
			b.wantAnswer(s[1], 1, `{"success":true,"acquired":["checkout::."]}`)
		})
	}
}

// Locks of a session that works are renewed. Those of a parked one expire.
func TestLocksAreRenewed(t *testing.T) {
	t.Parallel()
	b, s := lockers(t, 2)
	b.lock(s[0], 1, "a.go")
	b.lock(s[1], 1, "b.go")
	expires := func() (out []string) {
		for _, l := range read(b, func(r store.Reader) ([]coppice.Lock, error) { return r.Locks.Held(1) }) {
			out = append(out, fmt.Sprint(l.Name, " ", l.ExpiresAt.Sub(noon)))
		}
		return out
	}
	due := func(want time.Duration) {
		t.Helper()
		if got := b.turn().Due; !got.Equal(noon.Add(want)) {
			t.Errorf("the next turn is due after %s, not %s", got.Sub(noon), want)
		}
	}
	due(5 * time.Minute)
	b.wonder("app-2", coppice.Question{})
	b.clock = noon.Add(5 * time.Minute)
	b.turn()
	if d := cmp.Diff([]string{"a.go 15m0s", "b.go 10m0s"}, expires()); d != "" {
		t.Error(d)
	}
	b.clock = noon.Add(10 * time.Minute)
	b.turn()
	if d := cmp.Diff([]string{"a.go 20m0s"}, expires()); d != "" {
		t.Error(d)
	}
}

// A request waits at most its time. The answer that no agent collects is dropped,
// and the locks that it got are released.
func TestLockRequestsEnd(t *testing.T) {
	t.Parallel()
	b, s := lockers(t, 2)
	b.lock(s[0], 1, "a.go")
	b.lock(s[1], 1, "a.go")
	b.clock = noon.Add(coppice.LockWait)
	b.turn()
	b.wantLocks("app-1.1 holds a.go", "app-2.1 timed_out [a.go]")
	if a := b.lock(s[1], 1, "a.go"); !a.TimedOut || len(a.Blocked) != 1 {
		t.Error(a)
	}
	b.wantLocks("app-1.1 holds a.go")

	b.lock(s[1], 2, "a.go", "b.go")
	b.lockLater(s[1], 2, "a.go", "b.go")
	_, err := b.ReleaseLock(t.Context(), "app", "a.go", "")
	b.must(err)
	b.wantLocks("app-2.1 holds a.go", "app-2.1 holds b.go", "app-2.1 granted [a.go b.go]")
	b.lock(s[1], 3, "b.go") // the agent has received this one
	b.clock = b.clock.Add(coppice.LockCollect)
	b.turn()
	b.wantLocks("app-2.1 holds b.go")
}

// A call that ends with still_waiting keeps its position. A call whose agent left
// does not.
func TestLockLaterAndLeave(t *testing.T) {
	t.Parallel()
	b, s := lockers(t, 3)
	b.lock(s[0], 1, "a.go")
	b.lock(s[1], 1, "a.go")
	b.lock(s[2], 1, "a.go")
	b.lockLater(s[1], 1, "a.go")
	b.must(b.LeaveLock(t.Context(), s[1].ID, s[1].Key+"/1")) // no longer its call
	if a := b.lock(s[1], 2, "a.go"); !a.Waits {
		t.Fatal(a)
	}
	b.wantLocks("app-1.1 holds a.go", "app-2.1  [a.go]", "app-3.1  [a.go]")
	b.must(b.LeaveLock(t.Context(), s[1].ID, s[1].Key+"/2"))
	_, err := b.ReleaseLocks(t.Context(), s[0].ID, []string{"a.go"})
	b.must(err)
	b.wantLocks("app-3.1 holds a.go")
}

// A request that would close a cycle is refused with its members. People see it for
// a while.
func TestLockCycle(t *testing.T) {
	t.Parallel()
	b, s := lockers(t, 2)
	b.lock(s[0], 1, "a.go")
	b.lock(s[1], 1, "b.go")
	b.lock(s[0], 2, "b.go")
	for call := range 2 {
		a := b.lock(s[1], 2+call, "a.go")
		if a.Refused == nil || cmp.Diff([]string{"app-2.1", "app-1.1"}, a.Refused.Cycle) != "" {
			t.Fatal(a)
		}
	}
	b.wantLocks("app-1.1 holds a.go", "app-2.1 holds b.go", "app-1.1  [b.go]", "app-2.1 deadlock [a.go]")
	b.clock = noon.Add(coppice.LockCycleKept)
	b.turn()
	b.wantLocks("app-1.1 holds a.go", "app-2.1 holds b.go", "app-1.1  [b.go]")
}

func TestLockRefused(t *testing.T) {
	t.Parallel()
	b, s := lockers(t, 1)
	many := make([]string, coppice.MaxLockNames)
	for n := range coppice.MaxLocks / coppice.MaxLockNames {
		for i := range many {
			many[i] = fmt.Sprint(n, "/", i)
		}
		b.lock(s[0], n, many...)
	}
	for name, c := range map[string]struct {
		ask  LockAsk
		code coppice.Code
	}{
		"no names":     {LockAsk{TTL: coppice.LockTTL}, coppice.EInvalid},
		"a parent":     {LockAsk{Names: []string{"../x"}, TTL: coppice.LockTTL}, coppice.EInvalid},
		"too many":     {LockAsk{Names: make([]string, coppice.MaxLockNames+1), TTL: coppice.LockTTL}, coppice.EInvalid},
		"a short time": {LockAsk{Names: []string{"x"}, TTL: time.Second}, coppice.EInvalid},
		"a long time":  {LockAsk{Names: []string{"x"}, TTL: 2 * time.Hour}, coppice.EInvalid},
		"a long wait":  {LockAsk{Names: []string{"x"}, TTL: coppice.LockTTL, Wait: 2 * time.Hour}, coppice.EInvalid},
		"a full table": {LockAsk{Names: []string{"x"}, TTL: coppice.LockTTL}, coppice.ETooLarge},
	} {
		if _, err := b.Lock(t.Context(), s[0].ID, c.ask); coppice.ErrorCode(err) != c.code || coppice.Public(err).Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, of := range [][2]string{{"", ""}, {"a", "app-1.1"}, {"nothing", ""}, {"", "app-9.1"}} {
		if _, err := b.ReleaseLock(t.Context(), "app", of[0], of[1]); err == nil || coppice.Public(err).Fix == "" {
			t.Errorf("%v: %v", of, err)
		}
	}
	if got, err := b.ReleaseLock(t.Context(), "app", "", "app-1.1"); err != nil || len(got) != coppice.MaxLocks {
		t.Errorf("%d released, %v", len(got), err)
	}
}
