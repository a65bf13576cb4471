//go:build linux

package workspace_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/test/testfile"
	"coppice/workspace"
	"coppice/workspace/git"
)

// stage is the directory that an operation is cut in: the user's repository, and
// the state of Coppice beside it. Everything about it is below one root.
type stage struct {
	t      *testing.T
	root   string
	repo   string   // the user's checkout
	trees  []string // the checkouts that have the base checked out
	remote string   // where the operation pushes to, or empty

	kind string // of operation
	spec any

	made   string            // the workspace of the task, if there is one
	inside map[string]string // the files that it has after the operation
	status []string          // and what git status shows there
	before map[string]view   // the user's checkouts before the operation
	landed map[string]string // the files of the commit that lands, by path
	old    string            // the base's commit before
	new    string            // and after, if it moves

	flowTip string // the commit of a flow's branch, before it is removed or after it is created
}

// saveSpec holds the arguments of Save.
type saveSpec struct {
	Path, Message string
}

// openAt returns Workspaces on a stage, as a server that has just started.
func openAt(root string) (*workspace.Workspaces, error) {
	env := append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "HOME="+filepath.Join(root, "home"), "TMPDIR="+filepath.Join(root, "tmp"))
	g, err := git.New(git.Config{Env: env})
	if err != nil {
		return nil, err
	}
	state := filepath.Join(root, "state")
	return workspace.New(workspace.Config{Dir: filepath.Join(state, "workspaces"), Trash: filepath.Join(state, "trash"), Git: g, Env: env,
		Ports: workspace.PortRange{First: 21000, Last: 29000}})
}

// perform does one operation of a kind, as the worker does it.
func perform(ctx context.Context, w *workspace.Workspaces, kind string, spec json.RawMessage) (any, error) {
	switch kind {
	case "prepare":
		return do(ctx, spec, w.Prepare)
	case "merge":
		return do(ctx, spec, w.Merge)
	case "push":
		return do(ctx, spec, w.Push)
	case "move":
		return do(ctx, spec, w.Move)
	case "remove":
		return do(ctx, spec, w.Remove)
	case "restore":
		return do(ctx, spec, w.Restore)
	case "strays":
		return do(ctx, spec, w.DropStrays)
	case "flow":
		return do(ctx, spec, w.FlowBranch)
	case "save":
		return do(ctx, spec, func(ctx context.Context, s saveSpec) (string, error) {
			head, _, err := w.Save(ctx, s.Path, s.Message, coppice.Identity{}, nil)
			return head, err
		})
	}
	return nil, fmt.Errorf("there is no operation %q", kind)
}

func do[S, R any](ctx context.Context, spec json.RawMessage, f func(context.Context, S) (R, error)) (any, error) {
	var s S
	if err := json.Unmarshal(spec, &s); err != nil {
		return nil, err
	}
	return f(ctx, s)
}

// errSlow is the cause when an operation does not end.
var errSlow = errors.New("the operation does not end")

// again does the operation of the stage as after a restart.
func (s *stage) again() (any, error) {
	spec, err := json.Marshal(s.spec)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(s.t.Context(), time.Minute, errSlow)
	defer cancel()
	w, err := openAt(s.root)
	if err != nil {
		return nil, err
	}
	if err := w.Sweep(ctx); err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	return perform(ctx, w, s.kind, spec)
}

// newStage makes the user's repository. It is kept in memory where that is
// possible: nothing here needs a disk, and syncing one takes most of the time.
func newStage(t *testing.T) *stage {
	t.Helper()
	parent := "/dev/shm"
	if st, err := os.Stat(parent); err != nil || !st.IsDir() {
		parent = ""
	}
	dir, err := os.MkdirTemp(parent, "coppice-cut-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if *keep && t.Failed() {
			t.Logf("the directory is kept: %s", dir)
			return
		}
		_ = os.RemoveAll(dir)
	})
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, root: filepath.Join(dir, "w")}
	s.repo = filepath.Join(s.root, "repo")
	s.trees = []string{s.repo}
	for _, d := range []string{"home", "tmp", "repo"} {
		if err := os.MkdirAll(filepath.Join(s.root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.git(s.repo, "init", "-q", "--template=", "-b", "main")
	s.git(s.repo, "config", "user.name", "Ann")
	s.git(s.repo, "config", "user.email", "ann@example.org")
	s.write(s.repo, map[string]string{".gitignore": "*.log\n.env\n", "a.txt": "one\n", "own/staged.txt": "s\n", "own/changed.txt": "c\n", "own/gone.txt": "g\n"})
	return s
}

func (s *stage) workspaces() *workspace.Workspaces {
	s.t.Helper()
	w, err := openAt(s.root)
	if err != nil {
		s.t.Fatal(err)
	}
	return w
}

// tryGit runs git in a directory without touching anything by the way.
func tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_DATE=1700000000 +0000", "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s in %s: %w: %s", strings.Join(args, " "), dir, err, out)
	}
	return strings.TrimRight(string(out), "\n"), nil
}

func (s *stage) git(dir string, args ...string) string {
	s.t.Helper()
	out, err := tryGit(dir, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s *stage) write(dir string, files map[string]string) {
	s.t.Helper()
	testfile.WriteAll(s.t, dir, files)
}

func (s *stage) commit(message string) {
	s.t.Helper()
	s.git(s.repo, "add", "-A")
	s.git(s.repo, "commit", "-q", "--allow-empty", "-m", message)
}

// prepare makes the workspace of task app-1.
func (s *stage) prepare() {
	s.t.Helper()
	res, err := s.workspaces().Prepare(s.t.Context(), s.prepareSpec("app-1"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.made = res.Path
}

func (s *stage) prepareSpec(key string) coppice.PrepareSpec {
	return coppice.PrepareSpec{Key: key, Repo: s.repo, Branch: coppice.TaskBranch(key), Base: "main"}
}

// save commits what is in the workspace of task app-1.
func (s *stage) save() string {
	s.t.Helper()
	head, _, err := s.workspaces().Save(s.t.Context(), s.made, "Work\n", coppice.Identity{}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return head
}

const landingRef = "refs/coppice/landing/app-1/1"

func (s *stage) mergeSpec(head, strategy string) coppice.MergeSpec {
	return coppice.MergeSpec{Repo: s.repo, Base: "main", Head: head, Strategy: strategy, Message: "Do it\n\nTask: app-1\n",
		At: time.Unix(1700001000, 0), Ref: landingRef}
}

// merge makes the commit that lands from what is in the workspace.
func (s *stage) merge() coppice.MoveSpec {
	s.t.Helper()
	res, err := s.workspaces().Merge(s.t.Context(), s.mergeSpec(s.save(), coppice.StrategySquash))
	if err != nil || res.Commit == "" {
		s.t.Fatal(res, err)
	}
	s.landed, s.new = contents(s.t, s.made), res.Commit
	return coppice.MoveSpec{Repo: s.repo, Base: "main", Old: res.Base, New: res.Commit, Ref: landingRef}
}

// settle makes the stage look as if nobody had touched it for an hour: then git
// believes the times in its indexes.
func (s *stage) settle() {
	s.t.Helper()
	then := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(s.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == "index" {
			return err
		}
		return os.Chtimes(path, then, then)
	})
	if err != nil {
		s.t.Fatal(err)
	}
	dirs := s.trees
	if s.made != "" {
		dirs = append(dirs, s.made)
	}
	for _, dir := range append(dirs, s.repo) {
		_, _ = tryGit(dir, "update-index", "-q", "--refresh") // it fails where something is changed
	}
	s.old = s.git(s.repo, "rev-parse", "refs/heads/main")
	s.before = map[string]view{}
	for _, dir := range append(s.trees, s.repo) {
		v, err := lookAt(dir)
		if err != nil {
			s.t.Fatal(err)
		}
		s.before[dir] = v
	}
}

// contents describes each file below a directory: its bytes, its kind and
// whether it can be run. What git keeps there is left out.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	m, err := readContents(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func readContents(dir string) (map[string]string, error) {
	m := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		m[rel], err = describe(path)
		return err
	})
	return m, err
}

func describe(path string) (string, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if st.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		return "-> " + target, err
	}
	b, err := os.ReadFile(path)
	if len(b) > 40 {
		sum := sha256.Sum256(b)
		return fmt.Sprintf("%v %x", st.Mode()&0o100 != 0, sum[:8]), err
	}
	return fmt.Sprintf("%v %q", st.Mode()&0o100 != 0, b), err
}
