// Package lock has the rules of locks: which names conflict, who gets a lock, and
// who waits for whom.
//
// A session gets all names of a request or none. A request waits if one of its
// names conflicts with a lock of another session, or with an older waiting
// request of another session: no request overtakes an older one. A name that the
// session holds already is only renewed, and waits for nothing.
//
// A request that would close a cycle of waiting sessions is refused. Its session
// is the only one of the cycle that is not blocked, so it should release what the
// others wait for. A waiting request that becomes part of a cycle, because its
// session lost a lock, is refused then. So the waiting requests never contain a
// cycle.
package lock

import (
	"slices"
	"time"

	"coppice"
)

// Table has the locks of a project and the requests for them. The zero value has
// none. Its methods are not safe for concurrent use.
type Table struct {
	Held     []coppice.Lock
	Requests []coppice.LockRequest // oldest first; those that have ended included
}

// Clone returns a copy that can be changed.
func (t Table) Clone() Table { return Table{slices.Clone(t.Held), slices.Clone(t.Requests)} }

// Block says why a name is not granted: another session holds a lock, or waits
// for one since earlier. One of the two is set.
type Block struct {
	Name    string
	Lock    *coppice.Lock
	Request *coppice.LockRequest
}

// Owner returns the session that holds the lock, or waits for it.
func (b Block) Owner() coppice.LockOwner {
	if b.Lock != nil {
		return b.Lock.Owner
	}
	return b.Request.Owner
}

// Result is what follows from a request.
type Result struct {
	Granted bool
	Blocked []Block // if it is not granted: each blocked name, with the first that blocks it
	// Refused is the request, with its cycle and what ends it, if it would close
	// one. It starts with the request's own session.
	Refused *coppice.LockRequest
}

// Request grants a request, adds it to the waiting ones, or refuses it because it
// would close a cycle.
func (t *Table) Request(r coppice.LockRequest, now time.Time) Result {
	x := t.index()
	own := t.own(r.SessionID)
	blocked := x.blocks(r, own)
	if len(blocked) == 0 {
		t.grant(&r, now)
		return Result{Granted: true}
	}
	if cycle := t.cycle(x, r, len(t.Requests)); cycle != nil {
		t.refuse(&r, cycle, now)
		return Result{Blocked: blocked, Refused: &r}
	}
	t.Requests = append(t.Requests, r)
	return Result{Blocked: blocked}
}

// Refuse adds a refused request, so that people see its cycle. It replaces an
// earlier one of the session.
func (t *Table) Refuse(r coppice.LockRequest) {
	t.Requests = slices.DeleteFunc(t.Requests, func(o coppice.LockRequest) bool {
		return o.SessionID == r.SessionID && o.Outcome == coppice.LockDeadlock && o.Call == ""
	})
	t.Requests = append(t.Requests, r)
}

// Blocked returns what blocks a waiting request.
func (t *Table) Blocked(r coppice.LockRequest) []Block {
	x := newIndex()
	t.indexHeld(x)
	for i := range t.Requests {
		if t.Requests[i].ID == r.ID {
			break
		}
		x.addRequest(&t.Requests[i], i)
	}
	return x.blocks(r, t.own(r.SessionID))
}

// AllBlocked returns what blocks each waiting request, by its ID.
func (t *Table) AllBlocked() map[int64][]Block {
	x := newIndex()
	t.indexHeld(x)
	all, own := map[int64][]Block{}, t.owners()
	for i := range t.Requests {
		if r := &t.Requests[i]; r.Waits() {
			all[r.ID] = x.blocks(*r, own[r.SessionID])
			x.addRequest(r, i)
		}
	}
	return all
}

// Grant grants all waiting requests that can be granted, oldest first. Each gets
// its outcome, and waits for its agent to collect it.
func (t *Table) Grant(now time.Time) {
	x, own := newIndex(), t.owners()
	t.indexHeld(x)
	for i := range t.Requests {
		r := &t.Requests[i]
		if !r.Waits() {
			continue
		}
		if len(x.blocks(*r, own[r.SessionID])) > 0 {
			x.addRequest(r, i)
			continue
		}
		r.Got = t.grant(r, now)
		r.Outcome, r.Until = coppice.LockGranted, now.Add(coppice.LockCollect)
		for _, n := range r.Got {
			e := &entry{name: parse(n), session: r.SessionID, age: -1}
			x.add(e)
			own[r.SessionID] = append(own[r.SessionID], e.name)
		}
	}
}

// grant adds the locks of a request, or renews them. It returns the names that
// the session did not hold.
func (t *Table) grant(r *coppice.LockRequest, now time.Time) (got []string) {
	at := map[string]int{}
	for i := range t.Held {
		if t.Held[i].SessionID == r.SessionID {
			at[t.Held[i].Name] = i
		}
	}
	for _, n := range r.Names {
		l := coppice.Lock{
			ProjectID: r.ProjectID, SessionID: r.SessionID, Name: n, Reason: r.Reason, TTL: r.TTL, AcquiredAt: now,
			ExpiresAt: now.Add(time.Duration(r.TTL)), Owner: r.Owner,
		}
		i, held := at[n]
		if !held {
			at[n] = len(t.Held)
			t.Held, got = append(t.Held, l), append(got, n)
			continue
		}
		l.AcquiredAt = t.Held[i].AcquiredAt
		if l.Reason == "" {
			l.Reason = t.Held[i].Reason
		}
		t.Held[i] = l
	}
	// A grant that its agent never collects is taken back. What the agent has
	// received by another request stays.
	for i := range t.Requests {
		if o := &t.Requests[i]; o.SessionID == r.SessionID && o.Outcome == coppice.LockGranted {
			o.Got = slices.DeleteFunc(slices.Clone(o.Got), func(n string) bool { return slices.Contains(r.Names, n) })
		}
	}
	return got
}

// Release removes locks of a session, and returns them. Names that it does not
// hold are ignored.
func (t *Table) Release(session int64, names []string, now time.Time) []coppice.Lock {
	dropped := t.drop(func(l coppice.Lock) bool { return l.SessionID == session && slices.Contains(names, l.Name) })
	t.refuseCycles(dropped, now)
	return dropped
}

// End removes everything of a session, and returns its locks.
func (t *Table) End(session int64) []coppice.Lock {
	t.Requests = slices.DeleteFunc(t.Requests, func(r coppice.LockRequest) bool { return r.SessionID == session })
	return t.drop(func(l coppice.Lock) bool { return l.SessionID == session })
}

// Withdraw removes a request. If it was granted and the agent does not know it,
// the locks that it got are removed too.
func (t *Table) Withdraw(id int64, now time.Time) {
	i := slices.IndexFunc(t.Requests, func(r coppice.LockRequest) bool { return r.ID == id })
	if i < 0 {
		return
	}
	r := t.Requests[i]
	t.Requests = slices.Delete(t.Requests, i, i+1)
	if r.Outcome == coppice.LockGranted {
		t.Release(r.SessionID, r.Got, now)
	}
}

// Renew extends the locks of working sessions, when half of their time is over.
func (t *Table) Renew(now time.Time) {
	for i := range t.Held {
		if l := &t.Held[i]; l.Owner.Works() && !now.Before(renewAt(*l)) {
			l.ExpiresAt = now.Add(time.Duration(l.TTL))
		}
	}
}

func renewAt(l coppice.Lock) time.Time { return l.ExpiresAt.Add(-time.Duration(l.TTL) / 2) }

// Expire removes locks and requests whose time is over. A request that waited
// too long gets that outcome.
func (t *Table) Expire(now time.Time) {
	t.refuseCycles(t.drop(func(l coppice.Lock) bool { return !now.Before(l.ExpiresAt) }), now)
	var over []int64
	for i := range t.Requests {
		r := &t.Requests[i]
		switch {
		case now.Before(r.Until):
		case r.Waits():
			r.Outcome, r.Until = coppice.LockTimedOut, now.Add(coppice.LockCollect)
		default:
			over = append(over, r.ID)
		}
	}
	for _, id := range over {
		t.Withdraw(id, now)
	}
}

// Due returns when Renew or Expire will next change something. Zero means never.
func (t *Table) Due() time.Time {
	var due time.Time
	at := func(when time.Time) {
		if due.IsZero() || when.Before(due) {
			due = when
		}
	}
	for _, l := range t.Held {
		if l.Owner.Works() {
			at(renewAt(l))
		} else {
			at(l.ExpiresAt)
		}
	}
	for _, r := range t.Requests {
		at(r.Until)
	}
	return due
}

// Size returns the number of names that are held or waited for.
func (t *Table) Size() int {
	n := len(t.Held)
	for _, r := range t.Requests {
		if r.Waits() {
			n += len(r.Names)
		}
	}
	return n
}

func (t *Table) drop(over func(coppice.Lock) bool) (dropped []coppice.Lock) {
	t.Held = slices.DeleteFunc(t.Held, func(l coppice.Lock) bool {
		if over(l) {
			dropped = append(dropped, l)
			return true
		}
		return false
	})
	return dropped
}

// owners returns the names that sessions hold.
func (t *Table) owners() map[int64][]name {
	all := map[int64][]name{}
	for i := range t.Held {
		l := &t.Held[i]
		all[l.SessionID] = append(all[l.SessionID], parse(l.Name))
	}
	return all
}

// own returns the names that a session holds.
func (t *Table) own(session int64) []name {
	var list []name
	for i := range t.Held {
		if l := &t.Held[i]; l.SessionID == session {
			list = append(list, parse(l.Name))
		}
	}
	return list
}

// index returns all locks and waiting requests.
func (t *Table) index() *index {
	x := newIndex()
	t.indexHeld(x)
	for i := range t.Requests {
		x.addRequest(&t.Requests[i], i)
	}
	return x
}

func (t *Table) indexHeld(x *index) {
	for i := range t.Held {
		l := &t.Held[i]
		x.add(&entry{name: parse(l.Name), session: l.SessionID, age: -1, lock: l})
	}
}

func (x *index) addRequest(r *coppice.LockRequest, age int) {
	if !r.Waits() {
		return
	}
	for _, n := range r.Names {
		x.add(&entry{name: parse(n), session: r.SessionID, age: age, request: r})
	}
}

// blocks returns the names of a request that are blocked.
func (x *index) blocks(r coppice.LockRequest, own []name) []Block {
	var list []Block
	for _, n := range open(r, own) {
		for e := range x.conflicts(n, r.SessionID) {
			list = append(list, Block{n.text, e.lock, e.request})
			break
		}
	}
	return list
}

// open returns the names of a request that the session does not hold yet.
func open(r coppice.LockRequest, own []name) []name {
	var list []name
	for _, text := range r.Names {
		n := parse(text)
		if !slices.ContainsFunc(own, func(o name) bool { return o.covers(n) }) {
			list = append(list, n)
		}
	}
	return list
}
