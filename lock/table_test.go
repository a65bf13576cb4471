package lock

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
)

var start = time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)

// files says which files each name of the model means. In this small set every
// answer of Conflicts is exact.
var files = map[string][]string{
	"a/x":         {"ax"},
	"a/y":         {"ay"},
	"b/x":         {"bx"},
	"b/z":         {"bz"},
	"a/*":         {"ax", "ay"},
	"**/x":        {"ax", "bx"},
	"b/{x,z}":     {"bx", "bz"},
	"checkout::a": {"ax", "ay"},
	"checkout::b": {"bx", "bz"},
	"checkout::.": {"ax", "ay", "bx", "bz"},
}

var names = slices.Sorted(func(yield func(string) bool) {
	for n := range files {
		if !yield(n) {
			return
		}
	}
})

func TestModelNamesAreExact(t *testing.T) {
	t.Parallel()
	for _, a := range names {
		for _, b := range names {
			if got := Conflicts(a, b); got != common(a, b) {
				t.Errorf("%s and %s: %v", a, b, got)
			}
		}
	}
}

func common(a, b string) bool {
	return slices.ContainsFunc(files[a], func(f string) bool { return slices.Contains(files[b], f) })
}

// holds reports whether a lock on a makes one on b unnecessary.
func holds(a, b string) bool {
	tree := len(a) > len(TreePrefix) && a[:len(TreePrefix)] == TreePrefix
	return a == b || tree && !slices.ContainsFunc(files[b], func(f string) bool { return !slices.Contains(files[a], f) })
}

// model is a simple form of the rules: it compares everything with everything.
type model struct {
	now  time.Time
	held []hold
	asks []ask // oldest first
	next int64
}

type hold struct {
	session int64
	name    string
	expires time.Time
}

type ask struct {
	id, session int64
	names       []string
	until       time.Time
	got         []string // granted, and not collected
	granted     bool
	timedOut    bool
	refused     bool
}

func (a ask) waits() bool { return !a.granted && !a.timedOut && !a.refused }

// open returns the names for which a request must wait.
func (m *model) open(a ask) []string {
	var list []string
	for _, n := range a.names {
		if !slices.ContainsFunc(m.held, func(h hold) bool { return h.session == a.session && holds(h.name, n) }) {
			list = append(list, n)
		}
	}
	return list
}

// waitsFor returns the sessions for which a request at a position waits.
func (m *model) waitsFor(a ask, at int) map[int64]bool {
	out := map[int64]bool{}
	for _, n := range m.open(a) {
		for _, h := range m.held {
			if h.session != a.session && common(h.name, n) {
				out[h.session] = true
			}
		}
		for _, o := range m.asks[:at] {
			for _, on := range o.names {
				if o.waits() && o.session != a.session && common(on, n) {
					out[o.session] = true
				}
			}
		}
	}
	return out
}

// cyclic returns the sessions that wait for themselves, by the transitive closure
// of who waits for whom.
func (m *model) cyclic() map[int64]bool {
	reach := map[[2]int64]bool{}
	for i, a := range m.asks {
		if a.waits() {
			for s := range m.waitsFor(a, i) {
				reach[[2]int64{a.session, s}] = true
			}
		}
	}
	for k := range int64(sessions) {
		for i := range int64(sessions) {
			for j := range int64(sessions) {
				if reach[[2]int64{i, k}] && reach[[2]int64{k, j}] {
					reach[[2]int64{i, j}] = true
				}
			}
		}
	}
	out := map[int64]bool{}
	for i := range int64(sessions) {
		if reach[[2]int64{i, i}] {
			out[i] = true
		}
	}
	return out
}

const sessions = 5

// machine is a table and its model.
type machine struct {
	Table
	model
	parked [sessions]bool
}

func (k *machine) owner(s int64) coppice.LockOwner {
	return coppice.LockOwner{Session: fmt.Sprintf("app-%d.1", s), Task: fmt.Sprintf("app-%d", s), State: coppice.SessionWorking, Parked: k.parked[s]}
}

// lock requests names in both.
func (k *machine) lock(t *rapid.T) {
	s := int64(rapid.IntRange(0, sessions-1).Draw(t, "session"))
	want := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 3, rapid.ID).Draw(t, "names")
	wait := time.Duration(rapid.IntRange(1, 20).Draw(t, "wait")) * time.Minute
	k.next++
	r := coppice.LockRequest{ID: k.next, SessionID: s, Names: want, TTL: coppice.Duration(coppice.LockTTL), Since: k.now, Until: k.now.Add(wait), Owner: k.owner(s)}
	res := k.Request(r, k.now)

	a := ask{id: k.next, session: s, names: want, until: k.now.Add(wait)}
	if len(k.waitsFor(a, len(k.asks))) == 0 {
		if !res.Granted {
			t.Fatalf("%d cannot lock %v: %v", s, want, res.Blocked)
		}
		k.give(a)
		return
	}
	if res.Granted || len(res.Blocked) == 0 {
		t.Fatalf("%d locked %v", s, want)
	}
	k.asks = append(k.asks, a)
	if closed := len(k.cyclic()) > 0; closed != (res.Refused != nil) {
		t.Fatalf("%d waits for %v: a cycle is %v, and found is %v", s, want, closed, res.Refused != nil)
	}
	if res.Refused != nil {
		k.checkCycle(t, *res.Refused)
		k.asks = k.asks[:len(k.asks)-1]
	}
}

// checkCycle checks that each member of a cycle waits for the next one.
func (k *machine) checkCycle(t *rapid.T, r coppice.LockRequest) {
	id := map[string]int64{}
	for s := range int64(sessions) {
		id[k.owner(s).Session] = s
	}
	if len(r.Cycle) < 2 || r.Cycle[0] != r.Owner.Session || r.Hint == "" {
		t.Fatalf("the cycle of %s: %v, %q", r.Owner.Session, r.Cycle, r.Hint)
	}
	for i, member := range r.Cycle {
		next := id[r.Cycle[(i+1)%len(r.Cycle)]]
		if !slices.ContainsFunc(k.asks, func(a ask) bool {
			at := slices.IndexFunc(k.asks, func(o ask) bool { return o.id == a.id })
			return a.session == id[member] && a.waits() && k.waitsFor(a, at)[next]
		}) {
			t.Fatalf("%s does not wait for %d: %v", member, next, r.Cycle)
		}
	}
}

// give adds the locks of a request to the model.
func (m *model) give(a ask) (got []string) {
	for _, n := range a.names {
		i := slices.IndexFunc(m.held, func(h hold) bool { return h.session == a.session && h.name == n })
		if i < 0 {
			m.held, got = append(m.held, hold{a.session, n, m.now.Add(coppice.LockTTL)}), append(got, n)
		} else {
			m.held[i].expires = m.now.Add(coppice.LockTTL)
		}
	}
	for i := range m.asks {
		if m.asks[i].session == a.session {
			m.asks[i].got = slices.DeleteFunc(slices.Clone(m.asks[i].got), func(n string) bool { return slices.Contains(a.names, n) })
		}
	}
	return got
}

// free removes locks from the model.
func (k *machine) free(over func(hold) bool) {
	k.held = slices.DeleteFunc(k.held, over)
	// The table names the requests that it refuses.
	for i := range k.asks {
		for _, r := range k.Requests {
			if a := &k.asks[i]; r.ID == a.id && r.Outcome == coppice.LockDeadlock {
				a.refused = true
			}
		}
	}
}

func (k *machine) release(t *rapid.T) {
	if len(k.held) == 0 {
		return
	}
	h := rapid.SampledFrom(k.held).Draw(t, "lock")
	before := len(k.cyclic())
	if got := k.Release(h.session, []string{h.name, "not/held"}, k.now); len(got) != 1 || before != 0 {
		t.Fatalf("released %v", got)
	}
	k.held = slices.DeleteFunc(k.held, func(o hold) bool { return o == h })
	cyclic, earlier := k.cyclic(), slices.Clone(k.asks)
	k.free(func(hold) bool { return false })
	for i, a := range k.asks {
		if a.refused && !earlier[i].refused && !cyclic[a.session] {
			t.Fatalf("%v was refused without a cycle", a)
		}
	}
}

func (k *machine) crash(t *rapid.T) {
	s := int64(rapid.IntRange(0, sessions-1).Draw(t, "session"))
	k.End(s)
	k.parked[s] = false
	k.held = slices.DeleteFunc(k.held, func(h hold) bool { return h.session == s })
	k.asks = slices.DeleteFunc(k.asks, func(a ask) bool { return a.session == s })
}

// collect takes the answer of a request that has ended.
func (k *machine) collect(t *rapid.T) {
	for i, a := range k.asks {
		if !a.waits() {
			k.asks = slices.Delete(k.asks, i, i+1)
			k.Requests = slices.DeleteFunc(k.Requests, func(r coppice.LockRequest) bool { return r.ID == a.id })
			return
		}
	}
}

// leave ends the call of a request.
func (k *machine) leave(t *rapid.T) {
	if len(k.asks) == 0 {
		return
	}
	a := rapid.SampledFrom(k.asks).Draw(t, "request")
	k.Withdraw(a.id, k.now)
	k.asks = slices.DeleteFunc(k.asks, func(o ask) bool { return o.id == a.id })
	k.free(func(h hold) bool { return h.session == a.session && slices.Contains(a.got, h.name) })
}

func (k *machine) park(t *rapid.T) {
	s := rapid.IntRange(0, sessions-1).Draw(t, "session")
	k.parked[s] = !k.parked[s]
	for i := range k.Held {
		k.Held[i].Owner = k.owner(k.Held[i].SessionID)
	}
	for i := range k.Requests {
		k.Requests[i].Owner = k.owner(k.Requests[i].SessionID)
	}
}

func (k *machine) pass(t *rapid.T) {
	k.now = k.now.Add(time.Duration(rapid.IntRange(1, 400).Draw(t, "seconds")) * time.Second)
}

// restart keeps only what is stored.
func (k *machine) restart(t *rapid.T) {
	b, err := json.Marshal(k.Table)
	if err != nil {
		t.Fatal(err)
	}
	k.Table = Table{}
	if err := json.Unmarshal(b, &k.Table); err != nil {
		t.Fatal(err)
	}
}

// turn does what the engine does, in both.
func (k *machine) turn() {
	k.Renew(k.now)
	k.Expire(k.now)
	k.Grant(k.now)

	for i := range k.held {
		if h := &k.held[i]; !k.parked[h.session] && !k.now.Before(h.expires.Add(-coppice.LockTTL/2)) {
			h.expires = k.now.Add(coppice.LockTTL)
		}
	}
	k.free(func(h hold) bool { return !k.now.Before(h.expires) })
	var over []ask
	for i := range k.asks {
		a := &k.asks[i]
		switch {
		case k.now.Before(a.until):
		case a.waits():
			a.timedOut, a.until = true, k.now.Add(coppice.LockCollect)
		default:
			over = append(over, *a)
		}
		if a.refused && a.until.Before(k.now.Add(coppice.LockCycleKept)) {
			a.until = k.now.Add(coppice.LockCycleKept)
		}
	}
	for _, a := range over {
		k.asks = slices.DeleteFunc(k.asks, func(o ask) bool { return o.id == a.id })
		k.free(func(h hold) bool { return h.session == a.session && slices.Contains(a.got, h.name) })
	}
	for i := range k.asks {
		if a := &k.asks[i]; a.waits() && len(k.waitsFor(*a, i)) == 0 {
			a.got = k.give(*a)
			a.granted, a.until = true, k.now.Add(coppice.LockCollect)
		}
	}
}

// check compares both, after a turn.
func (k *machine) check(t *rapid.T) {
	k.turn()
	var held []hold
	for _, l := range k.Held {
		held = append(held, hold{l.SessionID, l.Name, l.ExpiresAt})
	}
	if !slices.Equal(held, k.held) {
		t.Fatalf("held: %v, not %v", held, k.held)
	}
	for i, a := range k.held {
		for _, b := range k.held[:i] {
			if a.session != b.session && common(a.name, b.name) {
				t.Fatalf("two owners: %v and %v", a, b)
			}
		}
	}
	var got, want []string
	for _, r := range k.Requests {
		got = append(got, fmt.Sprint(r.ID, r.Names, r.Waits(), r.Outcome == coppice.LockGranted, r.Outcome == coppice.LockDeadlock, len(r.Got)))
	}
	for _, a := range k.asks {
		want = append(want, fmt.Sprint(a.id, a.names, a.waits(), a.granted, a.refused, len(a.got)))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("requests: %v, not %v", got, want)
	}
	if c := k.cyclic(); len(c) > 0 {
		t.Fatalf("a cycle was not found: %v", c)
	}
}

// Random sessions lock, release, leave, crash and park, while time passes and the
// server restarts. The table always equals the model: no two sessions hold
// conflicting names, no waiting request is lost or overtaken, and each cycle is
// found.
func TestTableEqualsModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := &machine{model: model{now: start}}
		t.Repeat(map[string]func(*rapid.T){
			"": k.check, "lock": k.lock, "lock more": k.lock, "release": k.release, "crash": k.crash, "collect": k.collect,
			"leave": k.leave, "park": k.park, "pass": k.pass, "restart": k.restart,
		})
	})
}

// request requests names for a session with a number.
func (k *machine) request(s int64, names ...string) Result {
	k.next++
	return k.Request(coppice.LockRequest{
		ID: k.next, SessionID: s, Names: names, TTL: coppice.Duration(coppice.LockTTL), Since: k.now, Until: k.now.Add(time.Hour), Owner: k.owner(s),
	}, k.now)
}

// The session that closes a cycle learns who is in it, and what it should release.
func TestCycleIsNamed(t *testing.T) {
	t.Parallel()
	k := &machine{model: model{now: start}}
	for s, n := range []string{"a", "b", "c"} {
		if r := k.request(int64(s), n); !r.Granted {
			t.Fatal(r)
		}
	}
	if r := k.request(0, "b"); r.Granted || r.Refused != nil {
		t.Fatal(r)
	}
	if r := k.request(1, "c"); r.Granted || r.Refused != nil {
		t.Fatal(r)
	}
	r := k.request(2, "a", "d")
	if r.Refused == nil || len(r.Blocked) != 1 || r.Blocked[0].Owner().Session != "app-0.1" {
		t.Fatal(r)
	}
	if got := fmt.Sprint(r.Refused.Cycle); got != "[app-2.1 app-0.1 app-1.1]" {
		t.Error(got)
	}
	if want := "app-2.1 should release c, for which app-1.1 waits, and then request all that it needs in one call"; r.Refused.Hint != want {
		t.Error(r.Refused.Hint)
	}
}

// A waiting request that becomes part of a cycle, because its session released a
// lock, is refused.
func TestReleaseClosesCycle(t *testing.T) {
	t.Parallel()
	k := &machine{model: model{now: start}}
	k.request(0, "checkout::src", "w")
	k.request(1, "x")
	k.request(3, "z")
	k.request(2, "src/a", "z")
	if r := k.request(0, "src/a", "x"); r.Refused != nil {
		t.Fatal(r)
	}
	k.request(3, "w")
	if k.Release(0, []string{"w2"}, k.now); len(k.Requests) != 3 {
		t.Fatal(k.Requests)
	}
	k.Release(0, []string{"checkout::src"}, k.now)
	for _, r := range k.Requests {
		if refused := r.Outcome == coppice.LockDeadlock; refused != (r.SessionID == 0) {
			t.Errorf("%s: %s", r.Owner.Session, r.Outcome)
		}
	}
}
