package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/internal/atomicfile"
	"coppice/workspace/repo"
)

func TestInspect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	head := run(t, b.root, "git", "rev-parse", "HEAD")
	run(t, b.root, "git", "branch", "ai-develop")
	write(t, b.root, "file", "x")
	bare := filepath.Join(filepath.Dir(b.root), "bare.git")
	run(t, b.root, "git", "clone", "-q", "--bare", b.root, bare)
	empty := filepath.Join(filepath.Dir(b.root), "empty")
	run(t, b.root, "git", "init", "-q", empty)
	detached := filepath.Join(filepath.Dir(b.root), "detached")
	run(t, b.root, "git", "clone", "-q", b.root, detached)
	run(t, detached, "git", "checkout", "-q", "--detach")
	ws := b.prepare("app-1").Path
	before := print(t, filepath.Dir(b.root))

	got := must[repo.Info](t)(b.Inspect(b.ctx, filepath.Join(b.root, "dir"), ""))
	want := repo.Info{Root: b.root, GitDir: filepath.Join(b.root, ".git"), Base: "main", BaseCommit: head, DefaultBranch: "main"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, c := range []struct{ dir, base, says, fix string }{
		{t.TempDir(), "", "not in a git repository", "git init"},
		{bare, "", "bare repository", "git clone"},
		{empty, "", "no commit yet", "git commit"},
		{detached, "", "not on a branch", "--base"},
		{b.root, "ai-devlop", `no branch "ai-devlop"; near it are ai-develop`, "git branch ai-devlop"},
		{b.root, "-rf", "not a valid branch name", ""},
		{b.root, "$(touch x)", "not a valid branch name", ""},
		{filepath.Join(b.root, "nothing"), "", "no directory", ""},
		{filepath.Join(b.root, "file"), "", "is not a directory", ""},
		{filepath.Join(b.root, ".git"), "", "inside a git directory", ""},
		{ws, "", "a workspace of Coppice", "own checkout"},
	} {
		_, err := b.Inspect(b.ctx, c.dir, c.base)
		var e *coppice.Error
		if !errors.As(err, &e) || !strings.Contains(e.Cause, c.says) || !strings.Contains(e.Fix, c.fix) {
			t.Errorf("Inspect(%s, %s): %v", c.dir, c.base, err)
		}
	}
	if d := cmp.Diff(before, print(t, filepath.Dir(b.root))); d != "" {
		t.Errorf("inspecting changed something: %s", d)
	}
}

func TestPrepare(t *testing.T) {
	t.Parallel()
	b := setup(t)
	base := run(t, b.root, "git", "rev-parse", "HEAD")
	first := b.prepare("app-1")
	if first.BaseCommit != base || first.Head != base {
		t.Fatalf("%+v", first)
	}
	if on := run(t, first.Path, "git", "symbolic-ref", "HEAD"); on != "refs/heads/coppice/app-1" {
		t.Fatal(on)
	}
	if s := run(t, first.Path, "git", "status", "--porcelain"); s != "" {
		t.Fatal(s)
	}
	// Again, after work was done and the base moved: the same directory, with the work.
	write(t, first.Path, "new.txt", "new")
	head := commit(t, first.Path, "work")
	write(t, b.root, "c.txt", "c")
	commit(t, b.root, "second")
	want := first
	want.Head = head
	if d := cmp.Diff(want, b.prepare("app-1")); d != "" {
		t.Error(d)
	}
	// The directory is lost, what was saved of the branch is not.
	b.saved(first.Path)
	if err := os.RemoveAll(first.Path); err != nil {
		t.Fatal(err)
	}
	s := must[slot](t)(readSlot(first.Path + ".json"))
	s.State = slotMaking
	if err := atomicfile.WriteJSON(first.Path+".json", s); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, b.prepare("app-1")); d != "" {
		t.Error(d)
	}
	if read(t, first.Path, "new.txt") != "new" {
		t.Error("the work is lost")
	}
}

func TestPrepareRefusesHostileNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := print(t, filepath.Dir(b.root))
	for _, bad := range []string{"", "$(touch x)", "../../x", "-rf", "a b", "\U0001F600", "HEAD", "x..y", "--upload-pack=x", strings.Repeat("a", 10000)} {
		for _, s := range []coppice.PrepareSpec{
			{Key: bad, Repo: b.root, Branch: "coppice/app-1", Base: "main"},
			{Key: "app-1", Repo: b.root, Branch: bad, Base: "main"},
			{Key: "app-1", Repo: b.root, Branch: "coppice/app-1", Base: bad},
		} {
			if _, err := b.Prepare(b.ctx, s); coppice.ErrorCode(err) != coppice.EInvalid {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
	for _, bad := range []string{"../x", "/etc/passwd", ".git/config", "a/../../x", ".", "", "x/.GIT/y"} {
		for _, p := range []coppice.WorkspacePolicy{{Copy: []string{bad}}, {Link: []string{bad}}} {
			s := b.spec("app-1")
			s.Policy = p
			if _, err := b.Prepare(b.ctx, s); coppice.ErrorCode(err) != coppice.EInvalid {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
	if d := cmp.Diff(before, print(t, filepath.Dir(b.root))); d != "" {
		t.Error(d)
	}
}

// TestThousandAtOnce prepares 1,000 workspaces of one repository, 32 at once,
// which is where git races with itself: up to three in four fail when it is left
// alone.
func TestThousandAtOnce(t *testing.T) {
	t.Parallel()
	const all, atOnce = 1000, 32
	b := setup(t)
	var wg sync.WaitGroup
	var next, failed atomic.Int64
	for range atOnce {
		wg.Go(func() {
			for n := next.Add(1); n <= all; n = next.Add(1) {
				spec := b.spec(fmt.Sprintf("app-%d", n))
				spec.Policy.Ports = 1
				if _, err := b.Prepare(b.ctx, spec); err != nil {
					failed.Add(1)
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if failed.Load() > 0 {
		t.Fatalf("%d of %d failed", failed.Load(), all)
	}
	slots := must[[]slot](t)(b.slots(must[repo.Repo](t)(b.Find(b.ctx, b.root))))
	if len(slots) != all {
		t.Errorf("%d slots", len(slots))
	}
	ports := map[int]bool{}
	for _, s := range slots {
		for _, p := range s.Ports {
			if ports[p] {
				t.Errorf("port %d was given twice", p)
			}
			ports[p] = true
		}
	}
	if len(ports) != all {
		t.Errorf("%d ports were given", len(ports))
	}
}

// TestSameKeyAtOnce asks for one workspace from two processes, many times.
func TestSameKeyAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := open(t, filepath.Dir(b.root))
	results := make([]coppice.PrepareResult, 8)
	var wg sync.WaitGroup
	for i := range results {
		w := []*Workspaces{b.Workspaces, other}[i%2]
		wg.Go(func() { results[i] = must[coppice.PrepareResult](t)(w.Prepare(b.ctx, b.spec("app-1"))) })
	}
	wg.Wait()
	for _, r := range results {
		if d := cmp.Diff(results[0], r); d != "" {
			t.Error(d)
		}
	}
}

func TestRecycle(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one := b.prepare("app-1")
	write(t, one.Path, "left.txt", "x")
	write(t, one.Path, "debug.log", "x")
	admin := must[string](t)(repo.GitDir(one.Path))
	write(t, admin, "MERGE_HEAD", one.Head+"\n")
	write(t, admin, "index.lock", "")
	must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-1")))
	two := b.prepare("app-2")
	if two.Path != one.Path {
		t.Errorf("%s was not used again", one.Path)
	}
	if s := run(t, two.Path, "git", "status", "--porcelain", "--ignored"); s != "" {
		t.Error(s)
	}
}

func TestProvide(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write(t, b.root, ".env", "SECRET=1")
	write(t, b.root, "node_modules/x/index.js", "x")
	write(t, b.root, "conf/local.log", "ignored and included")
	write(t, b.root, "other.log", "ignored only")
	write(t, b.root, includeFile, "conf/*.log\na.txt\nuntracked.txt\n")
	write(t, b.root, "untracked.txt", "included but not ignored")
	if err := os.Symlink("/etc/passwd", filepath.Join(b.root, "out.log")); err != nil {
		t.Fatal(err)
	}
	spec := b.spec("app-1")
	spec.Policy = coppice.WorkspacePolicy{Copy: []string{".env", "missing", "a.txt", "out.log"}, Link: []string{"node_modules", "dir"}, Ports: 2,
		Setup: []string{`echo "$COPPICE_TASK $COPPICE_BRANCH $COPPICE_PORT" > setup.log; echo x >> runs.log`}}
	res := must[coppice.PrepareResult](t)(b.Prepare(b.ctx, spec))
	must[coppice.PrepareResult](t)(b.Prepare(b.ctx, spec))
	for name, want := range map[string]string{".env": "SECRET=1", "conf/local.log": "ignored and included", "node_modules/x/index.js": "x", "runs.log": "x\n",
		"setup.log": fmt.Sprintf("app-1 coppice/app-1 %d\n", res.Ports[0])} {
		if got := read(t, res.Path, name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, name := range []string{"other.log", "untracked.txt", "missing"} {
		if repo.Exists(filepath.Join(res.Path, name)) {
			t.Errorf("%s was copied", name)
		}
	}
	if st, err := os.Lstat(filepath.Join(res.Path, "dir")); err != nil || !st.IsDir() {
		t.Error("a tracked directory became a link")
	}
	// The link is not ignored by node_modules/, and yet Save does not commit it.
	write(t, res.Path, "work.txt", "w")
	head, changed, err := b.Save(b.ctx, res.Path, "work", coppice.Identity{}, nil)
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	if got := run(t, b.own(), "git", "show", "--name-only", "--format=", head); got != "work.txt" {
		t.Errorf("committed: %s", got)
	}
	// A project that fails to set up says so.
	spec = b.spec("app-2")
	spec.Policy.Setup = []string{"echo no compiler; exit 3"}
	_, err = b.Prepare(b.ctx, spec)
	var f *coppice.Failure
	if !errors.As(err, &f) || f.Class != coppice.ClassEnvironment || !strings.Contains(f.Text, "no compiler") || !strings.Contains(f.Text, "exit 3") {
		t.Errorf("%v", err)
	}
}

func TestSubmodule(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sub := filepath.Join(filepath.Dir(b.root), "sub")
	newRepo(t, sub)
	run(t, b.root, "git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../sub", "lib")
	run(t, b.root, "git", "config", "--remove-section", "submodule.lib")
	commit(t, b.root, "with a submodule")
	conf := read(t, b.root, ".git/config")
	res := b.prepare("app-1")
	if read(t, res.Path, "lib/a.txt") != "one\ntwo\nthree\n" {
		t.Error("the submodule is not there")
	}
	write(t, res.Path, "lib/a.txt", "changed inside")
	gone := must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-1")))
	two := b.prepare("app-2")
	if read(t, two.Path, "lib/a.txt") != "one\ntwo\nthree\n" {
		t.Error("a change within the submodule leaked into the next workspace")
	}
	// A submodule whose directory was deleted leaves nothing to keep.
	if err := os.RemoveAll(filepath.Join(two.Path, "lib")); err != nil {
		t.Fatal(err)
	}
	must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-2")))
	back := must[coppice.PrepareResult](t)(b.Restore(b.ctx, b.restoreSpec("app-1", gone)))
	if read(t, back.Path, "lib/a.txt") != "changed inside" {
		t.Error("the change within the submodule is lost")
	}
	if read(t, b.root, ".git/config") != conf {
		t.Error("the person's configuration changed")
	}
	// An address that cannot be reached is the environment's fault.
	run(t, b.root, "git", "config", "--file", ".gitmodules", "submodule.lib.url", filepath.Join(sub, "nowhere"))
	commit(t, b.root, "broken")
	_, err := b.Prepare(b.ctx, b.spec("app-3"))
	var f *coppice.Failure
	if !errors.As(err, &f) || f.Class != coppice.ClassEnvironment {
		t.Errorf("%v", err)
	}
}

func TestSparse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	write(t, b.root, "big/c.txt", "c")
	commit(t, b.root, "big")
	run(t, b.root, "git", "sparse-checkout", "set", "--cone", "dir")
	res := b.prepare("app-1")
	if !repo.Exists(filepath.Join(res.Path, "dir/b.txt")) || repo.Exists(filepath.Join(res.Path, "big")) {
		t.Error("the sparse patterns do not hold")
	}
	if s := run(t, res.Path, "git", "status", "--porcelain"); s != "" {
		t.Error(s)
	}
	write(t, res.Path, "dir/b.txt", "changed")
	gone := must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-1")))
	back := must[coppice.PrepareResult](t)(b.Restore(b.ctx, b.restoreSpec("app-1", gone)))
	if s := run(t, back.Path, "git", "status", "--porcelain"); s != "M dir/b.txt" || repo.Exists(filepath.Join(back.Path, "big")) {
		t.Error(s)
	}
}

// A workspace can begin from another task's branch, or from a commit.
func TestPrepareFrom(t *testing.T) {
	t.Parallel()
	b := setup(t)
	base := run(t, b.root, "git", "rev-parse", "HEAD")
	source := b.prepare("app-1")
	write(t, source.Path, "new.txt", "new")
	commit(t, source.Path, "work")
	head := b.saved(source.Path)
	write(t, b.root, "c.txt", "c")
	commit(t, b.root, "the base moves")
	for key, from := range map[string]string{"app-2": "coppice/app-1", "app-3": head} {
		spec := coppice.PrepareSpec{Key: key, Repo: b.root, Branch: "coppice/" + key, Base: "main", From: from}
		for range 2 { // the second time finds it
			got := must[coppice.PrepareResult](t)(b.Prepare(b.ctx, spec))
			if got.Head != head || got.BaseCommit != base {
				t.Errorf("from %s: head %s, base %s; want %s and %s", from, got.Head, got.BaseCommit, head, base)
			}
			if text := read(t, got.Path, "new.txt"); text != "new" {
				t.Errorf("from %s: new.txt has %q", from, text)
			}
		}
	}
	for _, from := range []string{"coppice/app-9", strings.Repeat("0", 40), "-x", "main..", "HEAD"} {
		_, err := b.Prepare(b.ctx, coppice.PrepareSpec{Key: "app-4", Repo: b.root, Branch: "coppice/app-4", Base: "main", From: from})
		if err == nil {
			t.Errorf("from %s: no error", from)
		}
	}
}

// A used slot has nothing of the branch that was in it before, though that one was
// all committed.
func TestRecycleAfterCommits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.candidate("app-1", "added.txt", "dir/c.txt")
	must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-1")))
	two := b.prepare("app-2")
	if s := run(t, two.Path, "git", "status", "--porcelain", "--ignored"); s != "" || repo.Exists(filepath.Join(two.Path, "added.txt")) {
		t.Errorf("inherited: %s", s)
	}
}
