package gitfiles

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strings"
)

// Modes of entries in a tree.
const (
	ModeLink   = "120000" // a symbolic link
	ModeModule = "160000" // a submodule

	modeTree = "40000"
	modeFile = "100644"
	modeExec = "100755"
)

// entry is one entry of a tree. The zero entry means that there is none.
type entry struct {
	name, mode string
	hash       string // the 20 bytes of its object's id
}

// id returns the id of the entry's object, or "".
func (e entry) id() string { return hex.EncodeToString([]byte(e.hash)) }

// tree returns the id of a directory, or "" for other entries.
func (e entry) tree() string {
	if e.mode != modeTree {
		return ""
	}
	return e.id()
}

// compareEntries compares in git's order, in which the name of a directory ends in
// a slash.
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

// tree reads the entries of a tree in the order in which it has them. An empty id
// means an empty tree.
func (r *Repo) tree(id string) ([]entry, error) {
	if id == "" {
		return nil, nil
	}
	data, err := r.read("tree", id)
	if err != nil {
		return nil, err
	}
	const least = len("100644 a\x00") + sha1.Size
	rest, list := string(data), make([]entry, 0, len(data)/least)
	for rest != "" {
		head, after, ok := strings.Cut(rest, "\x00")
		mode, name, ok2 := strings.Cut(head, " ")
		if !ok || !ok2 || len(after) < sha1.Size {
			return nil, ErrUseGit
		}
		list = append(list, entry{name, mode, after[:sha1.Size]})
		rest = after[sha1.Size:]
	}
	return list, nil
}

// isOrdered reports whether entries are in git's order, each name once.
func isOrdered(list []entry) bool {
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
	size := 0
	for _, e := range list {
		size += len(e.mode) + len(e.name) + len(e.hash) + 2
	}
	data := make([]byte, 0, size)
	for _, e := range list {
		data = append(append(data, e.mode...), ' ')
		data = append(append(data, e.name...), 0)
		data = append(data, e.hash...)
	}
	return data
}

// pairChanges returns the entries in which two trees differ, by name: the old one
// and the new one. For trees that are not in order, a pair may have equal entries.
func pairChanges(was, now []entry) map[string][2]entry {
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
func (r *Repo) readChanges(from, to string) (map[string][2]entry, error) {
	was, err := r.tree(from)
	if err != nil {
		return nil, err
	}
	now, err := r.tree(to)
	if err != nil {
		return nil, err
	}
	return pairChanges(was, now), nil
}

// Change is a path that differs between two trees. A mode is empty if the tree has
// nothing at the path.
type Change struct {
	Path    string `json:"path"`
	OldMode string `json:"old_mode,omitempty"`
	Old     string `json:"old,omitempty"`
	NewMode string `json:"new_mode,omitempty"`
	New     string `json:"new,omitempty"`
}

// Diff lists the files, links and submodules that differ between two trees or
// commits, as git diff-tree -r does, in the order of their paths.
func (r *Repo) Diff(from, to string) ([]Change, error) {
	a, err := r.treeOf(from)
	if err != nil {
		return nil, err
	}
	b, err := r.treeOf(to)
	if err != nil {
		return nil, err
	}
	var list []Change
	if err := r.diffTrees(a, b, "", &list); err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

func (r *Repo) diffTrees(from, to, below string, list *[]Change) error {
	if from == to {
		return nil
	}
	pairs, err := r.readChanges(from, to)
	if err != nil {
		return err
	}
	for name, p := range pairs {
		was, now := p[0], p[1]
		if was == now {
			continue
		}
		c := Change{Path: below + name}
		if was.mode != modeTree && was.mode != "" {
			c.OldMode, c.Old = was.mode, was.id()
		}
		if now.mode != modeTree && now.mode != "" {
			c.NewMode, c.New = now.mode, now.id()
		}
		if c.OldMode != "" || c.NewMode != "" {
			*list = append(*list, c)
		}
		if was.mode == modeTree || now.mode == modeTree {
			if err := r.diffTrees(was.tree(), now.tree(), below+name+"/", list); err != nil {
				return err
			}
		}
	}
	return nil
}
