package workspace

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// entry is one line of a tree. The zero entry stands for none.
type entry struct {
	name, mode string
	hash       string // the 20 bytes of its object's id
}

const modeTree, modeLink, modeModule = "40000", "120000", "160000"

// id returns the id of the entry's object in hexadecimal, empty for none.
func (e entry) id() string { return hex.EncodeToString([]byte(e.hash)) }

// tree returns the id of a directory, and empty for everything else.
func (e entry) tree() string {
	if e.mode != modeTree {
		return ""
	}
	return e.id()
}

// compareEntries compares in git's order: a directory is sorted as if its name
// ended in a slash.
func compareEntries(a, b entry) int {
	n := min(len(a.name), len(b.name))
	if c := strings.Compare(a.name[:n], b.name[:n]); c != 0 {
		return c
	}
	return a.letter(n) - b.letter(n)
}

func (e entry) letter(n int) int {
	switch {
	case n < len(e.name):
		return int(e.name[n])
	case e.mode == modeTree:
		return '/'
	}
	return 0
}

// readTree reads the entries of a tree, as they stand in it. An empty id is an
// empty tree.
func readTree(common, id string) ([]entry, error) {
	if id == "" {
		return nil, nil
	}
	data, err := youngObject(common, "tree", id)
	if err != nil {
		return nil, err
	}
	const least = len("100644 a\x00") + sha1.Size
	rest, list := string(data), make([]entry, 0, len(data)/least)
	for rest != "" {
		head, after, ok := strings.Cut(rest, "\x00")
		mode, name, ok2 := strings.Cut(head, " ")
		if !ok || !ok2 || len(after) < sha1.Size {
			return nil, errOdd
		}
		list = append(list, entry{name, mode, after[:sha1.Size]})
		rest = after[sha1.Size:]
	}
	return list, nil
}

// ordered reports whether entries stand in git's order, each name once.
func ordered(list []entry) bool {
	for i, e := range list {
		if i > 0 && compareEntries(list[i-1], e) >= 0 {
			return false
		}
		if e.mode == modeTree {
			if _, twice := slices.BinarySearchFunc(list, entry{name: e.name}, compareEntries); twice {
				return false
			}
		}
	}
	return true
}

// treeData returns the content of a tree with these entries.
func treeData(list []entry) []byte {
	if !slices.IsSortedFunc(list, compareEntries) {
		list = slices.SortedFunc(slices.Values(list), compareEntries)
	}
	var data []byte
	for _, e := range list {
		data = fmt.Appendf(data, "%s %s\x00%s", e.mode, e.name, e.hash)
	}
	return data
}

// treeChanges pairs the entries in which two trees differ, by name: first that of
// the old tree, then that of the new one. In trees that are not in order it may
// pair equal ones too.
func treeChanges(was, now []entry) map[string][2]entry {
	pairs := map[string][2]entry{}
	add := func(side int, e entry) {
		p := pairs[e.name]
		p[side] = e
		pairs[e.name] = p
	}
	for len(was) > 0 || len(now) > 0 {
		c := 0
		switch {
		case len(was) == 0:
			c = 1
		case len(now) == 0:
			c = -1
		default:
			c = compareEntries(was[0], now[0])
		}
		if c == 0 && was[0] == now[0] {
			was, now = was[1:], now[1:]
			continue
		}
		if c <= 0 {
			add(0, was[0])
			was = was[1:]
		}
		if c >= 0 {
			add(1, now[0])
			now = now[1:]
		}
	}
	return pairs
}

// readChanges reads two trees and pairs the entries in which they differ.
func readChanges(common, from, to string) (map[string][2]entry, error) {
	was, err := readTree(common, from)
	if err != nil {
		return nil, err
	}
	now, err := readTree(common, to)
	if err != nil {
		return nil, err
	}
	return treeChanges(was, now), nil
}

// newEntries calls f with what a tree has that another has not, or has as
// something else: files, links and submodules, by path.
func newEntries(common, from, to, below string, f func(path string, e entry)) error {
	if from == to {
		return nil
	}
	pairs, err := readChanges(common, from, to)
	if err != nil {
		return err
	}
	for name, p := range pairs {
		switch was, e := p[0], p[1]; {
		case e.mode == modeTree:
			if err := newEntries(common, was.tree(), e.id(), below+name+"/", f); err != nil {
				return err
			}
		case e.mode != "" && (was.mode == "" || was.mode == modeTree || (was.mode == modeLink) != (e.mode == modeLink)):
			f(below+name, e)
		}
	}
	return nil
}

// sameAt tells whether two trees have the same at each of the paths: the same
// file or directory, or nothing. False says nothing.
func sameAt(common, a, b string, paths []string) bool {
	for _, p := range paths {
		x, err := entryAt(common, a, p)
		y, err2 := entryAt(common, b, p)
		if err != nil || err2 != nil || x != y {
			return false
		}
	}
	return true
}

// entryAt finds what a tree has at a path; the zero entry is nothing.
func entryAt(common, tree, path string) (entry, error) {
	at := entry{}
	for name := range strings.SplitSeq(path, "/") {
		list, err := readTree(common, tree)
		if err != nil {
			return entry{}, err
		}
		at = entry{}
		if i := slices.IndexFunc(list, func(e entry) bool { return e.name == name }); i >= 0 {
			at = list[i]
		}
		tree = at.tree()
	}
	return at, nil
}
