package lock

import (
	"slices"
	"strconv"
	"strings"

	"coppice"
)

// Change is the difference between two tables of the same project.
type Change struct {
	Put          []coppice.Lock // new and renewed
	Drop         []coppice.Lock
	PutRequests  []coppice.LockRequest // new and changed; a new one has no ID
	DropRequests []coppice.LockRequest
	Events       coppice.LocksChanged
}

// Empty reports whether the tables are equal.
func (c Change) Empty() bool {
	return len(c.Put)+len(c.Drop)+len(c.PutRequests)+len(c.DropRequests) == 0
}

// Notable reports whether people or other sessions see a difference.
func (c Change) Notable() bool {
	e := c.Events
	return len(e.Acquired)+len(e.Renewed)+len(e.Released)+len(e.Waiting)+len(e.Ended)+len(e.Cycle) > 0
}

// Summary describes the change in one line.
func (c Change) Summary() string {
	var list []string
	add := func(refs []coppice.LockRef, one, many string) {
		switch {
		case len(refs) == 1:
			list = append(list, refs[0].Session+" "+one+" "+refs[0].Name)
		case len(refs) > 1:
			list = append(list, strconv.Itoa(len(refs))+" names "+many)
		}
	}
	add(c.Events.Acquired, "locked", "locked")
	add(c.Events.Released, "released", "released")
	add(c.Events.Waiting, "waits for", "waited for")
	add(c.Events.Ended, "no longer waits for", "no longer waited for")
	add(c.Events.Renewed, "renewed", "renewed")
	if len(c.Events.Cycle) > 0 {
		list = append(list, "a cycle: "+strings.Join(c.Events.Cycle, ", "))
	}
	return strings.Join(list, "; ")
}

// Diff returns what changed between two tables.
func Diff(before, after Table) Change {
	var c Change
	type key struct {
		session int64
		name    string
	}
	held := make(map[key]coppice.Lock, len(before.Held))
	for _, l := range before.Held {
		held[key{l.SessionID, l.Name}] = l
	}
	for _, l := range after.Held {
		old, ok := held[key{l.SessionID, l.Name}]
		delete(held, key{l.SessionID, l.Name})
		switch {
		case !ok:
			note(&c.Events.Acquired, l.Owner, l.Name)
		case old == l:
			continue
		default:
			note(&c.Events.Renewed, l.Owner, l.Name)
		}
		c.Put = append(c.Put, l)
	}
	for _, l := range before.Held {
		if _, gone := held[key{l.SessionID, l.Name}]; gone {
			note(&c.Events.Released, l.Owner, l.Name)
			c.Drop = append(c.Drop, l)
		}
	}
	c.requests(before.Requests, after.Requests)
	return c
}

func (c *Change) requests(before, after []coppice.LockRequest) {
	old := make(map[int64]coppice.LockRequest, len(before))
	for _, r := range before {
		old[r.ID] = r
	}
	for _, r := range after {
		o, ok := old[r.ID]
		if ok = ok && r.ID != 0; ok {
			delete(old, r.ID)
			if same(o, r) {
				continue
			}
		}
		c.PutRequests = append(c.PutRequests, r)
		if r.Outcome == coppice.LockDeadlock && (!ok || o.Waits()) {
			c.Events.Cycle = r.Cycle
		}
		switch {
		case !ok && r.Waits():
			note(&c.Events.Waiting, r.Owner, r.Names...)
		case ok && o.Waits() && !r.Waits():
			note(&c.Events.Ended, r.Owner, r.Names...)
		}
	}
	for _, r := range before {
		if _, gone := old[r.ID]; !gone {
			continue
		}
		c.DropRequests = append(c.DropRequests, r)
		if r.Waits() {
			note(&c.Events.Ended, r.Owner, r.Names...)
		}
	}
}

// same reports whether two requests with the same ID are equal. Names and
// reasons never change.
func same(a, b coppice.LockRequest) bool {
	return a.Call == b.Call && a.Until.Equal(b.Until) && a.Outcome == b.Outcome && slices.Equal(a.Got, b.Got)
}

// note adds names to a list of an event, up to its limit.
func note(list *[]coppice.LockRef, owner coppice.LockOwner, names ...string) {
	for _, n := range names {
		if len(*list) < coppice.MaxLockChanges {
			*list = append(*list, coppice.LockRef{Name: n, Session: owner.Session})
		}
	}
}
