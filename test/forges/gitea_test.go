//go:build linux

package forges_test

import (
	"os"
	"testing"

	"coppice/test/forges"
)

func TestMain(m *testing.M) { os.Exit(forges.Run(m)) }

func TestGitea(t *testing.T) {
	t.Parallel()
	r := forges.Gitea(t).Repo(t)
	commit := r.Commit(t, "topic", "new.txt", "text\n")
	b, _, err := r.Server.API(t, forges.Stranger).GetRepoBranch(forges.Owner, r.Name, "topic")
	if err != nil || b.Commit.ID != commit {
		t.Errorf("the branch is at %+v, %v; want %s", b, err, commit)
	}
}
