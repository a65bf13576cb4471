package checkout

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/internal/clock"
	"coppice/store"
	"coppice/test/testfile"
)

func openWaits(t *testing.T) *waits {
	t.Helper()
	w, err := newWaits(nil, clock.Real(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.watcher.Close() })
	return w
}

// checkout creates a folder that looks like a checkout, with folders in it.
func checkout(t *testing.T, folders ...string) string {
	t.Helper()
	root := testfile.Dir(t)
	for _, f := range append(folders, ".git") {
		if err := os.MkdirAll(filepath.Join(root, f), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func inTheWay(id int64, root string, paths ...string) coppice.Project {
	return coppice.Project{ID: id, Path: root, Needs: []coppice.Need{{Kind: coppice.NeedCheckout, Paths: paths}}}
}

func (w *waits) watched(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	for _, f := range w.watcher.WatchList() {
		rel, err := filepath.Rel(root, f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rel)
	}
	slices.Sort(out)
	return out
}

// The watched folders follow what the first landing waits for, up to a limit.
func TestWhatALandingWaitsForIsWatched(t *testing.T) {
	t.Parallel()
	w := openWaits(t)
	root := checkout(t, "a/b", "c", "d")
	see := func(want ...string) {
		t.Helper()
		if d := cmp.Diff(want, w.watched(t, root)); d != "" {
			t.Errorf("watched folders (-want +got):\n%s", d)
		}
	}
	p := inTheWay(1, root, "a/b/x", "c/y", "c/z", "a/gone/deep/x", "d")
	w.follow(p, waiting{why: "files are in the way"})
	see(".", ".git", "a", "a/b", "c", "d")
	if w.held[1].due.IsZero() {
		t.Error("what changed before it was watched is not noticed")
	}
	w.held[1].due = w.held[1].last
	w.follow(p, waiting{why: "files are in the way"})
	if !w.held[1].due.IsZero() {
		t.Error("the landing is retried though nothing changed")
	}
	w.follow(inTheWay(1, root, "c/y"), waiting{why: "files are in the way"})
	see(".git", "c")
	w.follow(coppice.Project{ID: 1, Path: root}, waiting{why: "another git command runs"})
	see(".git")
	var many []string
	for n := range mostFolders + 1 {
		dir := fmt.Sprintf("many%d", n)
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		many = append(many, dir+"/x")
	}
	w.follow(inTheWay(1, root, many...), waiting{why: "files are in the way"})
	see(".git")
	w.follow(inTheWay(1, root, many[1:]...), waiting{why: "files are in the way"})
	if n := len(w.watcher.WatchList()); n != mostFolders+1 {
		t.Errorf("%d folders are watched", n)
	}
	w.follow(inTheWay(1, root, many[1:]...), waiting{})
	see()
	if len(w.held) != 0 {
		t.Error("a landing that does not wait is held on to")
	}
}

// Two projects can share a folder; it is watched while one of them waits.
func TestSharedFolders(t *testing.T) {
	t.Parallel()
	w := openWaits(t)
	root := checkout(t, "a")
	w.follow(inTheWay(1, root, "a/x"), waiting{why: "why"})
	w.follow(inTheWay(2, root, "a/y"), waiting{why: "why"})
	w.follow(inTheWay(1, root), waiting{})
	if d := cmp.Diff([]string{".git", "a"}, w.watched(t, root)); d != "" {
		t.Error(d)
	}
}

func TestWhatRetriesALanding(t *testing.T) {
	t.Parallel()
	w := openWaits(t)
	root := checkout(t, "a/b", "d")
	w.follow(inTheWay(1, root, "a/b/x", "d"), waiting{why: "why"})
	for name, want := range map[string]bool{
		"a/b/x": true, "a/b": true, "a": true, "d/inside": true, "d": true,
		"a/b/y": false, "a/b/x2": false, "a/c": false, "e": false,
		".git/index": true, ".git/HEAD": true, ".git/MERGE_HEAD": true, ".git/index.lock": false, ".git/FETCH_HEAD": false,
	} {
		h := w.held[1]
		h.due = h.last
		w.touched(filepath.Join(root, name))
		if got := !h.due.IsZero(); got != want {
			t.Errorf("a change of %s retries the landing: %t", name, got)
		}
	}
}

func TestGitFolder(t *testing.T) {
	t.Parallel()
	dir := testfile.Dir(t)
	repo, tree := filepath.Join(dir, "repo"), filepath.Join(dir, "tree")
	for _, args := range [][]string{
		{"init", "-q", repo},
		{"-C", repo, "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x"},
		{"-C", repo, "worktree", "add", "-q", tree},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	want := map[string]string{repo: filepath.Join(repo, ".git"), tree: filepath.Join(repo, ".git", "worktrees", "tree"), dir: ""}
	for dir := range want {
		if got := gitFolder(dir); got != want[dir] {
			t.Errorf("the git folder of %s is %q, want %q", dir, got, want[dir])
		}
	}
}

// A landing is retried after a moment without changes, and not more often than
// retryGap, however often they change.
func TestWhenALandingIsRetried(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w, err := newWaits(b.intake, b.clock, slog.New(slog.DiscardHandler))
	b.must(err)
	t.Cleanup(func() { w.watcher.Close() })
	root := checkout(t, "a")
	b.listed("[]")
	w.follow(inTheWay(1, root, "a/x"), waiting{why: "why"})
	wait := func(what string, want time.Duration) {
		t.Helper()
		now := b.clock.Now()
		if got := w.next(now.Add(longest)).Sub(now); got != want {
			t.Errorf("%s: retried in %s, want %s", what, got, want)
		}
	}
	wait("what changed before it was watched", quiet)
	b.clock.Advance(quiet)
	w.retry(b.ctx)
	wait("nothing changed since", longest)
	w.touched(filepath.Join(root, "a/x"))
	wait("a change right after a retry", retryGap)
	b.clock.Advance(retryGap / 2)
	w.touched(filepath.Join(root, "a/x"))
	wait("further changes", retryGap/2)
	w.retry(b.ctx)
	wait("too early", retryGap/2)
	b.clock.Advance(retryGap / 2)
	w.retry(b.ctx)
	b.clock.Advance(retryGap)
	w.touched(filepath.Join(root, "a/x"))
	wait("a change later", quiet)
}

// A person's commit to a base that fails checks continues the tasks that wait for it,
// whether the base is checked out or not. Without such a task, nobody looks.
func TestACommitToARedBase(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"checked out", "in a worktree"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			root := filepath.Dir(b.listed(`[{"id": 1, "name": "one", "description": "d"}]`))
			if name != "checked out" {
				b.git(root, "checkout", "-q", "-b", "other")
				tree := filepath.Join(b.dir, "tree")
				b.git(root, "worktree", "add", "-q", tree, "main")
				root = tree
			}
			b.start()
			b.flow()
			b.made(1)
			before := b.project().BaseCommit
			b.move("1", coppice.EventTaskStage, func(k *coppice.Task) {
				k.Stage, k.Failure = coppice.StageWaiting, coppice.Failf(coppice.ClassBase, "the base fails this check as well", "")
				k.Wait = &coppice.Wait{On: coppice.WaitPerson, Text: "the base fails this check as well"}
			})
			b.settled()
			if b.project().BaseCommit != before || len(b.events(coppice.EventBaseMoved)) > 0 {
				t.Fatal("a base that has not moved was taken for one that has")
			}
			b.git(root, "commit", "-q", "--allow-empty", "-m", "fix")
			b.until("the task is asked to land again", func() bool { return len(b.events(coppice.EventBaseMoved)) == 1 })
			if b.project().BaseCommit == before {
				t.Error("the base is where it was")
			}
			id := b.tasks()["1"].ID
			b.must(b.store.View(b.ctx, func(r store.Reader) error {
				asks, err := r.Asks.Open(coppice.TaskSubject(id))
				if coppice.Asked(asks, coppice.VerbMoved) == nil {
					t.Errorf("open requests: %+v", asks)
				}
				return err
			}))
		})
	}
}
