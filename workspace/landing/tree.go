package landing

import (
	"sync"
)

// maxTrees is how many commits are remembered.
const maxTrees = 1024

// trees remembers the trees of commits that Merge created, so that Check does not
// need git to find them. A commit never changes.
type trees struct {
	mu sync.Mutex
	of map[string]string // by commit
}

func (t *trees) put(commit, tree string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.of) >= maxTrees {
		clear(t.of)
	}
	if t.of == nil {
		t.of = map[string]string{}
	}
	t.of[commit] = tree
}

func (t *trees) get(commit string) (tree string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	tree, ok = t.of[commit]
	return tree, ok
}

// MergedTree returns the tree of a commit, if Merge created the commit.
func (ls *Landings) MergedTree(commit string) (tree string, ok bool) { return ls.trees.get(commit) }
