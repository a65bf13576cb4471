package lock

import (
	"slices"
	"strings"
	"time"

	"coppice"
)

// refuseCycles gives waiting requests of sessions that lost locks the outcome
// LockDeadlock, if they are part of a cycle. A request did not wait for names
// that its session held. It waits for them now.
func (t *Table) refuseCycles(dropped []coppice.Lock, now time.Time) {
	var x *index
	for i := len(t.Requests) - 1; i >= 0; i-- {
		r := &t.Requests[i]
		if !r.Waits() || !slices.ContainsFunc(dropped, func(l coppice.Lock) bool { return l.SessionID == r.SessionID }) {
			continue
		}
		if x == nil {
			x = t.index()
		}
		if cycle := t.cycle(x, *r, i); cycle != nil {
			t.refuse(r, cycle, now)
			x = nil
		}
	}
}

// refuse ends a request that is part of a cycle.
func (t *Table) refuse(r *coppice.LockRequest, cycle []coppice.LockOwner, now time.Time) {
	r.Outcome, r.Until = coppice.LockDeadlock, now.Add(coppice.LockCycleKept)
	for _, o := range cycle {
		r.Cycle = append(r.Cycle, o.Session)
	}
	last := cycle[len(cycle)-1].Session
	if names := t.contested(r.SessionID, cycle[len(cycle)-1]); len(names) > 0 {
		r.Hint = r.Owner.Session + " should release " + strings.Join(names, ", ") + ", for which " + last + " waits, and then request all that it needs in one call"
	} else {
		r.Hint = r.Owner.Session + " should wait for its other request first, because " + last + " waits for that"
	}
}

// cycle returns the shortest cycle of waiting sessions that a request with an age
// closes, or nil. It starts with the request's session.
func (t *Table) cycle(x *index, r coppice.LockRequest, age int) []coppice.LockOwner {
	me := r.SessionID
	mine := func(session int64) bool { return session == me }
	if !slices.ContainsFunc(t.Held, func(l coppice.Lock) bool { return mine(l.SessionID) }) &&
		!slices.ContainsFunc(t.Requests, func(o coppice.LockRequest) bool { return mine(o.SessionID) && o.Waits() }) {
		return nil // nobody waits for this session
	}
	waiting := map[int64][]int{} // positions of requests, by session
	for i := range t.Requests {
		if o := &t.Requests[i]; o.Waits() {
			waiting[o.SessionID] = append(waiting[o.SessionID], i)
		}
	}
	owner := map[int64]coppice.LockOwner{me: r.Owner}
	from := map[int64]int64{} // the session through which each was reached
	var queue []int64
	// reach adds the sessions for which a request waits, and reports whether one
	// of them is the first.
	reach := func(o coppice.LockRequest, age int) bool {
		for _, n := range open(o, t.own(o.SessionID)) {
			for e := range x.conflicts(n, o.SessionID) {
				if e.age >= age {
					continue
				}
				if e.session == me {
					from[me] = o.SessionID
					return true
				}
				if _, seen := from[e.session]; !seen {
					from[e.session], owner[e.session] = o.SessionID, Block{"", e.lock, e.request}.Owner()
					queue = append(queue, e.session)
				}
			}
		}
		return false
	}
	reach(r, age)
	for len(queue) > 0 {
		session := queue[0]
		queue = queue[1:]
		for _, i := range waiting[session] {
			if reach(t.Requests[i], i) {
				return members(from, owner, me)
			}
		}
	}
	return nil
}

// members returns the cycle through a session.
func members(from map[int64]int64, owner map[int64]coppice.LockOwner, me int64) []coppice.LockOwner {
	list := []coppice.LockOwner{owner[me]}
	for s := from[me]; s != me; s = from[s] {
		list = append(list, owner[s])
	}
	slices.Reverse(list[1:])
	return list
}

// contested returns the names that a session holds and for which another one
// waits.
func (t *Table) contested(session int64, other coppice.LockOwner) []string {
	x := newIndex()
	for i := range t.Requests {
		if o := &t.Requests[i]; o.Owner == other {
			x.addRequest(o, i)
		}
	}
	var list []string
	for _, l := range t.Held {
		if l.SessionID != session {
			continue
		}
		for range x.conflicts(parse(l.Name), session) {
			list = append(list, l.Name)
			break
		}
	}
	return list
}
