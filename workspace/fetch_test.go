package workspace

import (
	"path/filepath"
	"strings"
	"testing"

	"coppice"
)

// TestPrepareFetches starts a branch at a commit that only a remote has. A commit that the
// remote's branch does not have is refused.
func TestPrepareFetches(t *testing.T) {
	t.Parallel()
	b := setup(t)
	remote, clone := filepath.Join(filepath.Dir(b.root), "remote.git"), filepath.Join(filepath.Dir(b.root), "clone")
	run(t, b.root, "git", "clone", "-q", "--bare", b.root, remote)
	run(t, b.root, "git", "remote", "add", "origin", remote)
	run(t, b.root, "git", "clone", "-q", remote, clone)
	write(t, clone, "theirs.txt", "t")
	head := commit(t, clone, "theirs")
	write(t, clone, "later.txt", "t")
	commit(t, clone, "later")
	run(t, clone, "git", "push", "-q", "origin", "HEAD:refs/heads/feature")
	spec := b.spec("app-1")
	spec.From, spec.Fetch, spec.Remote = head, "feature", "origin"
	for range 2 {
		res := must[coppice.PrepareResult](t)(b.Prepare(b.ctx, spec))
		if res.Head != head || read(t, res.Path, "theirs.txt") != "t" {
			t.Errorf("%+v", res)
		}
	}
	spec = b.spec("app-2")
	spec.From, spec.Fetch, spec.Remote = strings.Repeat("1", len(head)), "feature", "origin"
	if _, err := b.Prepare(b.ctx, spec); err == nil || !strings.Contains(err.Error(), "does not contain 111111111111") {
		t.Errorf("a commit that does not exist: %v", err)
	}
	if refs := run(t, b.root, "git", "for-each-ref", "refs/remotes", "refs/heads/feature"); refs != "" {
		t.Errorf("the person's repository has new refs:\n%s", refs)
	}
}
