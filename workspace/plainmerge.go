package workspace

import (
	"crypto/sha1"
	"encoding/hex"
	"maps"
	"path/filepath"
	"slices"
	"strings"
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
	var side [3]map[string]entry
	var err error
	for i, id := range []string{base, ours, theirs} {
		if side[i], err = readTree(common, id); err != nil {
			return "", err
		}
	}
	all := map[string]entry{}
	maps.Copy(all, side[1])
	maps.Copy(all, side[2])
	for name := range side[0] {
		all[name] = entry{} // it is found again below, or is gone
	}
	for name := range all {
		if all[name], err = mergeEntry(common, side[0][name], side[1][name], side[2][name]); err != nil {
			return "", err
		}
	}
	return writeTree(common, all)
}

// mergeEntry merges one entry; the zero entry is none.
func mergeEntry(common string, base, ours, theirs entry) (entry, error) {
	none, trees, some := entry{}, 0, 0
	for _, e := range []entry{base, ours, theirs} {
		switch e.mode {
		case "":
			continue
		case modeTree:
			trees++
		case "100644", "100755", modeLink, modeModule:
		default:
			return none, errOdd // git would write another mode
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
		id, err := mergeTrees(common, base.id, ours.id, theirs.id)
		return entry{modeTree, id}, err
	case ours == theirs, theirs == base:
		return ours, nil
	case ours == base:
		return theirs, nil
	}
	return none, errOdd
}

// writeTree writes a tree with these entries.
func writeTree(common string, entries map[string]entry) (string, error) {
	data, err := treeData(entries)
	if err != nil {
		return "", err
	}
	return writeObject(common, "tree", data)
}

// treeData is the content of a tree with these entries.
func treeData(entries map[string]entry) ([]byte, error) {
	// Git sorts a directory as if its name ended in a slash.
	key := func(name string) string {
		if entries[name].mode == modeTree {
			return name + "/"
		}
		return name
	}
	names := slices.SortedFunc(maps.Keys(entries), func(a, b string) int { return strings.Compare(key(a), key(b)) })
	var data []byte
	for _, name := range names {
		e := entries[name]
		id, err := hex.DecodeString(e.id)
		if err != nil || len(id) != sha1.Size {
			return nil, errOdd
		}
		data = append(data, e.mode+" "+name+"\x00"...)
		data = append(data, id...)
	}
	return data, nil
}
