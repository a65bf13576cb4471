package gitfiles

import (
	"encoding/hex"
)

// maxLine is how many commits of each side are read to find where two lines of
// commits separated.
const maxLine = 64

// Merge returns the tree of two merged commits, and writes it. It only chooses
// between whole entries of trees. Everything else is left to git: a file that both
// sides changed, a file that one side removed and may have renamed, a directory
// where a file was, and a history with merges.
func (r *Repo) Merge(ours, theirs string) (string, error) {
	if !r.usesSHA1() || exists(r.path("info/grafts")) {
		return "", ErrUseGit
	}
	base, err := r.fork(ours, theirs)
	if err != nil {
		return "", err
	}
	for _, side := range []string{ours, theirs} {
		if err := r.loosen(base, side); err != nil {
			return "", err
		}
	}
	var trees [3]string
	for i, id := range []string{base, ours, theirs} {
		c, err := r.Commit(id)
		if err != nil {
			return "", err
		}
		trees[i] = c.Tree
	}
	return r.mergeTrees(trees[0], trees[1], trees[2])
}

// fork returns the commit at which two lines separated. It follows both in turns,
// and only commits with one parent. So the commits that both have are the end of
// both lines, and the side that gets there second meets the first of them.
func (r *Repo) fork(a, b string) (string, error) {
	next := [2]string{a, b}
	seen := [2]map[string]bool{{}, {}}
	for i := range 2 * maxLine {
		side := i % 2
		id := next[side]
		if id == "" {
			continue // its parent is unknown
		}
		if seen[1-side][id] {
			return id, nil
		}
		seen[side][id] = true
		c, err := r.Commit(id)
		if next[side] = ""; err == nil && len(c.Parents) == 1 {
			next[side] = c.Parents[0]
		}
	}
	return "", ErrUseGit
}

// Since returns the commits of a line that another does not have, the newest first.
func (r *Repo) Since(base, head string) ([]Commit, error) {
	if exists(r.path("info/grafts")) {
		return nil, ErrUseGit
	}
	end, err := r.fork(base, head)
	if err != nil {
		return nil, err
	}
	var list []Commit
	for id := head; id != end; id = list[len(list)-1].Parents[0] {
		c, err := r.Commit(id)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// mergeTrees merges two trees with a common base. An id is empty if there is no
// tree.
func (r *Repo) mergeTrees(base, ours, theirs string) (string, error) {
	if base == ours && ours == theirs {
		return base, nil
	}
	var side [3][]entry
	var err error
	for i, id := range []string{base, ours, theirs} {
		if side[i], err = r.tree(id); err != nil {
			return "", err
		}
		if !isOrdered(side[i]) {
			return "", ErrUseGit
		}
	}
	all, err := r.mergeLists(pairChanges(side[0], side[1]), pairChanges(side[0], side[2]), side[1])
	if err != nil {
		return "", err
	}
	return r.writeObject("tree", treeData(all))
}

// mergeLists returns the entries of a merged tree: our list, with their changes.
func (r *Repo) mergeLists(we, they map[string][2]entry, ours []entry) ([]entry, error) {
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
		if !isMergeable(e.mode) {
			return nil, ErrUseGit
		}
		all = append(all, e)
	}
	for name, p := range they {
		mine := p[0]
		if q, both := we[name]; both {
			mine = q[1]
		}
		e, err := r.mergeEntry(p[0], mine, p[1])
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// isMergeable reports whether git writes a merged entry with the same mode.
func isMergeable(mode string) bool {
	switch mode {
	case modeTree, modeFile, modeExec, ModeLink, ModeModule:
		return true
	}
	return false
}

// mergeEntry merges one entry. The zero entry means that a side has none.
func (r *Repo) mergeEntry(base, ours, theirs entry) (entry, error) {
	none, trees, some := entry{}, 0, 0
	for _, e := range []entry{base, ours, theirs} {
		switch {
		case e == none:
			continue
		case !isMergeable(e.mode):
			return none, ErrUseGit
		case e.mode == modeTree:
			trees++
		}
		some++
	}
	switch {
	case base != none && (ours == none || theirs == none), trees != 0 && trees != some:
		return none, ErrUseGit
	case base == none && theirs == none, base == none && ours == theirs:
		return ours, nil
	case base == none && ours == none:
		return theirs, nil
	case trees != 0:
		id, err := r.mergeTrees(base.tree(), ours.tree(), theirs.tree())
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
	return none, ErrUseGit
}
