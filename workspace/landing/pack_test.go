package landing

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coppice/internal/atomicfile"
	"coppice/test/testfile"
	"coppice/workspace/git"
	"coppice/workspace/repo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// setup creates a repository with one commit on main. The tests of package
// workspace cover the rest of this package, because they have work to land.
func setup(t *testing.T) (ls *Landings, root string) {
	t.Helper()
	dir := testfile.Dir(t)
	g, err := git.New(git.Config{Env: append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "HOME="+dir)})
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(dir, "repo")
	run(t, dir, "git", "init", "-q", "-b", "main", root)
	commit(t, root, "first", "first")
	return &Landings{Repos: &repo.Repos{Dir: filepath.Join(dir, "state"), Git: g, Now: time.Now, Log: slog.New(slog.DiscardHandler)}}, root
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v in %s: %v\n%s", args, dir, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit commits a file with a text and returns the commit.
func commit(t *testing.T, dir, name, text string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "git", "add", "-A")
	run(t, dir, "git", "-c", "user.name=Bot", "-c", "user.email=bot@example.org", "commit", "-q", "-m", text)
	return run(t, dir, "git", "rev-parse", "HEAD")
}

// TestLandedIsPacked lands often: what landed is in few packs, and nothing is
// lost.
func TestLandedIsPacked(t *testing.T) {
	t.Parallel()
	ls, root := setup(t)
	r, err := ls.Use(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	pack := func(run landedRun) []landedRun {
		t.Helper()
		runs, err := ls.packRuns(t.Context(), r, append(readRuns(r), run))
		if err != nil {
			t.Fatal(err)
		}
		return runs
	}
	from := run(t, root, "git", "rev-parse", "main")
	for i := range 7 { // as seven times PackAfter landings
		to := commit(t, root, fmt.Sprintf("f%d.txt", i), fmt.Sprint(i))
		if err := atomicfile.WriteJSON(runsFile(r), pack(landedRun{Branch: "main", From: from, To: to, Count: PackAfter})); err != nil {
			t.Fatal(err)
		}
		from = to
	}
	packs, _ := filepath.Glob(filepath.Join(root, ".git/objects/pack/*.pack"))
	if runs := readRuns(r); len(packs) != 3 || len(runs) != 3 || runs[0].Count != 4*PackAfter || runs[2].Count != PackAfter {
		t.Errorf("%d packs: %+v", len(packs), runs)
	}
	if loose := run(t, root, "git", "count-objects"); !strings.HasPrefix(loose, "3 objects") { // of the first commit, which is the person's
		t.Error(loose)
	}
	run(t, root, "git", "fsck", "--strict", "--full")
	// The person's git packs everything itself: the packs are gone, and that is fine.
	run(t, root, "git", "gc", "-q", "--prune=now")
	to := commit(t, root, "last.txt", "last")
	if runs := pack(landedRun{Branch: "main", From: from, To: to, Count: 4 * PackAfter}); len(runs) != 1 {
		t.Errorf("%+v", runs)
	}
	run(t, root, "git", "fsck", "--strict", "--full")
}
