package workspace

import (
	"encoding/hex"
	"path/filepath"
)

// Most candidates touch other files than what has landed since they began. Then
// a merge is a choice between whole entries of trees, and is made without a
// process of git. It is left to git as soon as anything has to be weighed: a
// file that both sides changed, one that is gone and so could have been renamed,
// a directory where a file was, a history that is not a line.

// maxLine bounds how far back the place is looked for at which two lines of
// commits left each other.
const maxLine = 64

// mergePlainly returns the tree of two commits merged.
func mergePlainly(common, ours, theirs string) (string, error) {
	if !plainObjects(common) || exists(filepath.Join(common, "info", "grafts")) {
		return "", errOdd
	}
	base, err := fork(common, ours, theirs)
	if err != nil {
		return "", err
	}
	var trees [3]string
	for i, id := range []string{base, ours, theirs} {
		c, err := readCommit(common, id)
		if err != nil {
			return "", err
		}
		trees[i] = c.tree
	}
	return mergeTrees(common, trees[0], trees[1], trees[2])
}

// fork returns the commit at which two lines left each other. They are followed
// in turns, and only while every commit has one parent: what they share is then
// the end of both, and whoever comes to it second meets its first commit.
func fork(common, a, b string) (string, error) {
	next := [2]string{a, b}
	var seen [2]map[string]bool
	seen[0], seen[1] = map[string]bool{}, map[string]bool{}
	for i := range 2 * maxLine {
		me := i % 2
		id := next[me]
		if id == "" {
			continue // where it came from is not told
		}
		if seen[1-me][id] {
			return id, nil
		}
		seen[me][id] = true
		c, err := readCommit(common, id)
		if next[me] = ""; err == nil && len(c.parents) == 1 {
			next[me] = c.parents[0]
		}
	}
	return "", errOdd
}

// mergeTrees merges two trees that come from a third; an id is empty where
// there was none.
func mergeTrees(common, base, ours, theirs string) (string, error) {
	if base == ours && ours == theirs {
		return base, nil
	}
	var side [3][]entry
	var err error
	for i, id := range []string{base, ours, theirs} {
		if side[i], err = readTree(common, id); err != nil {
			return "", err
		}
		if !ordered(side[i]) {
			return "", errOdd
		}
	}
	all, err := mergeLists(common, treeChanges(side[0], side[1]), treeChanges(side[0], side[2]), side[1])
	if err != nil {
		return "", err
	}
	return writeObject(common, "tree", treeData(all))
}

// mergeLists returns the entries of a tree after a merge: our list, with what they
// changed.
func mergeLists(common string, we, they map[string][2]entry, ours []entry) ([]entry, error) {
	for name, p := range we {
		if _, both := they[name]; !both {
			they[name] = [2]entry{p[0], p[0]}
		}
	}
	var all []entry
	for _, e := range ours {
		if _, changed := they[e.name]; changed {
			continue
		}
		if !mergeable(e.mode) {
			return nil, errOdd
		}
		all = append(all, e)
	}
	for name, p := range they {
		mine := p[0]
		if q, both := we[name]; both {
			mine = q[1]
		}
		e, err := mergeEntry(common, p[0], mine, p[1])
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// mergeable reports whether git writes a merged entry with the same mode.
func mergeable(mode string) bool {
	switch mode {
	case modeTree, "100644", "100755", modeLink, modeModule:
		return true
	}
	return false
}

// mergeEntry merges one entry; the zero entry is none.
func mergeEntry(common string, base, ours, theirs entry) (entry, error) {
	none, trees, some := entry{}, 0, 0
	for _, e := range []entry{base, ours, theirs} {
		switch {
		case e == none:
			continue
		case !mergeable(e.mode):
			return none, errOdd
		case e.mode == modeTree:
			trees++
		}
		some++
	}
	switch {
	case base != none && (ours == none || theirs == none), trees != 0 && trees != some:
		return none, errOdd
	case base == none && theirs == none, base == none && ours == theirs:
		return ours, nil
	case base == none && ours == none:
		return theirs, nil
	case trees != 0:
		id, err := mergeTrees(common, base.tree(), ours.tree(), theirs.tree())
		if err != nil {
			return none, err
		}
		hash, err := hex.DecodeString(id)
		return entry{ours.name, modeTree, string(hash)}, err
	case ours == theirs, theirs == base:
		return ours, nil
	case ours == base:
		return theirs, nil
	}
	return none, errOdd
}
