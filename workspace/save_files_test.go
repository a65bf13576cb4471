package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/workspace/repo"
)

// TestCommitsLikeGit saves the same files once without git's commit and once
// with it: what is committed, said and logged is the same.
func TestCommitsLikeGit(t *testing.T) {
	t.Parallel()
	var seen []string
	for _, native := range []bool{true, false} {
		b := setup(t)
		b.NoGitFiles = !native
		path := b.prepare("app-1").Path
		admin := must[string](t)(repo.GitDir(path))
		write(t, path, "new/file.txt", "new\n")
		write(t, path, "a.txt", "changed\n")
		if err := os.Remove(filepath.Join(path, "dir", "b.txt")); err != nil {
			t.Fatal(err)
		}
		head, changed, err := b.Save(b.ctx, path, "  Done,  and\nsaid\n\nTrailer: x\n", coppice.Identity{}, nil)
		if err != nil || !changed || head != run(t, b.own(), "git", "rev-parse", "coppice/app-1") {
			t.Fatalf("%s %v %v", head, changed, err)
		}
		if left := run(t, path, "git", "status", "--porcelain"); left != "" {
			t.Errorf("left: %s", left)
		}
		if made := repo.Exists(filepath.Join(admin, "COMMIT_EDITMSG")); made == native {
			t.Errorf("committed by git: %v", made)
		}
		seen = append(seen, strings.Join([]string{
			run(t, path, "git", "log", "-1", "--format=%T %P %an %ae %cn %ce%n%B"),
			run(t, path, "git", "log", "-1", "--walk-reflogs", "--format=%gs %gn %ge", "coppice/app-1"),
			run(t, path, "git", "symbolic-ref", "HEAD"),
		}, "\n"))
		if on := run(t, path, "git", "log", "-1", "--walk-reflogs", "--format=%gn %ge", "HEAD"); on != "Ann ann@example.org" {
			t.Errorf("HEAD's log: %s", on)
		}
		run(t, b.own(), "git", "fsck", "--strict", "--no-dangling")
	}
	if seen[0] != seen[1] {
		t.Errorf("got\n%s\ngit\n%s", seen[0], seen[1])
	}
}
