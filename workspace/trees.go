package workspace

import "sync"

// maxTrees bounds how many commits are remembered.
const maxTrees = 1024

// trees remembers which tree the commits have that were made here, so that git
// need not be asked when they are checked. A commit never changes.
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
	t.of[commit] = tree
}

func (t *trees) get(commit string) (tree string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	tree, ok = t.of[commit]
	return tree, ok
}
