package lock

import (
	"iter"
	"strings"

	"coppice"
)

// entry is a name that a session holds or waits for.
type entry struct {
	name    name
	session int64
	// age orders entries. Held locks have a negative one. Requests have their
	// position.
	age     int
	lock    *coppice.Lock        // if it is held
	request *coppice.LockRequest // if it is waited for
}

// index finds the entries that conflict with a name. Its cost does not depend on
// how many files are in it, unless globs are among them.
type index struct {
	at    map[string][]*entry // files and trees, by path
	below map[string][]*entry // the same, by each directory above the path
	globs []*entry
	plain []*entry
}

func newIndex() *index {
	return &index{at: map[string][]*entry{}, below: map[string][]*entry{}}
}

func (x *index) add(e *entry) {
	if e.name.glob {
		x.globs = append(x.globs, e)
		return
	}
	x.plain = append(x.plain, e)
	x.at[e.name.path] = append(x.at[e.name.path], e)
	for dir := range above(e.name.path) {
		x.below[dir] = append(x.below[dir], e)
	}
}

// conflicts returns the entries of other sessions that conflict with a name.
func (x *index) conflicts(n name, session int64) iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		all := func(list []*entry, check bool) bool {
			for _, e := range list {
				if e.session != session && (!check || n.conflicts(e.name)) && !yield(e) {
					return false
				}
			}
			return true
		}
		if !all(x.globs, true) {
			return
		}
		if n.glob {
			all(x.plain, true)
			return
		}
		if !all(x.at[n.path], false) || !all(x.below[n.path], false) {
			return
		}
		for dir := range above(n.path) {
			if !all(x.at[dir], false) {
				return
			}
		}
	}
}

// above returns the directories above a path. The last one is "", unless that is
// the path.
func above(p string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for p != "" {
			p = p[:max(0, strings.LastIndexByte(p, '/'))]
			if !yield(p) {
				return
			}
		}
	}
}
