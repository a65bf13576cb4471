package gitfiles

import (
	"crypto/sha1"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// entries draws entries whose names are close to each other in git's order.
func entries() *rapid.Generator[[]entry] {
	one := rapid.Custom(func(t *rapid.T) entry {
		return entry{
			name: rapid.SampledFrom([]string{"a", "a.b", "a-", "a0", "ab", "b"}).Draw(t, "name"),
			mode: rapid.SampledFrom([]string{"100644", modeTree}).Draw(t, "mode"),
			hash: strings.Repeat(rapid.SampledFrom([]string{"1", "2"}).Draw(t, "hash"), sha1.Size),
		}
	})
	return rapid.SliceOfN(one, 0, 8)
}

// TestOrdered compares with what a tree becomes that has each name once and is
// sorted by git's rule.
func TestOrdered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := entries().Draw(t, "entries")
		once := map[string]entry{}
		for _, e := range list {
			once[e.name] = e
		}
		key := func(e entry) string {
			if e.mode == modeTree {
				return e.name + "/"
			}
			return e.name
		}
		sorted := slices.SortedFunc(maps.Values(once), func(a, b entry) int { return strings.Compare(key(a), key(b)) })
		if got, want := isOrdered(list), slices.Equal(list, sorted); got != want {
			t.Fatalf("ordered is %t", got)
		}
		if !isOrdered(sorted) || string(treeData(slices.Collect(maps.Values(once)))) != string(treeData(sorted)) {
			t.Fatalf("%v is not in order", sorted)
		}
	})
}

// TestPairChanges compares with maps of both trees: what differs is there, and
// nothing else. Trees that are not in order are left to git.
func TestPairChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		was, now := entries().Draw(t, "was"), entries().Draw(t, "now")
		if rapid.Bool().Draw(t, "sorted") {
			was, now = sortOnce(was), sortOnce(now)
		}
		got := pairChanges(was, now)
		if !isOrdered(was) || !isOrdered(now) {
			return
		}
		a, b := byName(was), byName(now)
		names := map[string]bool{}
		for _, e := range slices.Concat(was, now) {
			names[e.name] = true
		}
		for name := range names {
			p, found := got[name]
			if found != (a[name] != b[name]) || found && p != [2]entry{a[name], b[name]} {
				t.Fatalf("%s: %v, want %v", name, p, [2]entry{a[name], b[name]})
			}
		}
	})
}

func byName(list []entry) map[string]entry {
	m := map[string]entry{}
	for _, e := range list {
		m[e.name] = e
	}
	return m
}

func sortOnce(list []entry) []entry {
	return slices.SortedFunc(maps.Values(byName(list)), compareEntries)
}
