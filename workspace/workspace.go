// Package workspace keeps the directories that agents work in, and does
// everything else that needs git: merging on trees, checking trees and moving
// the base branch.
//
// A workspace is a git repository outside of the person's, with its own branch.
// Coppice changes nothing in the person's checkout, index, stash and branches,
// with one exception: if the base branch is checked out and moves, the checkout
// moves with it.
//
// Every method is idempotent. After a crash at any point, or if it is called from
// two places at the same time, a call with the same spec completes the work and
// returns the same result. An error whose consequence is known is a
// *coppice.Failure.
//
// The files by topic:
//
//	repositories  repo, own, refs, worktrees, confirm, publish, pack, legacy
//	workspaces    slot, prepare, populate, renew, provide, docker, shell, save,
//	              snapshot, damage, stale, detached, diff, stat, origin
//	checks        check
//	landings      merge, conflict, ours, move, checkout, record, push, basemove, bring
//	removal       remove, restore, forget, usage, sweep
//
// Parts without knowledge of workspaces are packages below: git runs git, gitfiles
// reads git's files without it, gitconfig decides which settings count, archive
// packs ignored files, and ports gives ports away.
package workspace

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"coppice"
	"coppice/internal/environ"
	"coppice/internal/filelock"
	"coppice/workspace/git"
	"coppice/workspace/ports"
)

// Config says where workspaces are. Dir, Trash and Git are required.
type Config struct {
	Dir    string           // worktrees, their metadata and locks
	Trash  string           // archives of ignored files of removed workspaces
	Git    *git.Runner      // runs git
	Now    func() time.Time // the clock; time.Now if nil
	Logger *slog.Logger     // nothing is logged if nil
	Ports  PortRange        // 20000 to 29999 if empty
	Idle   int              // idle workspaces that are kept for each repository; 8 if 0
	Env    []string         // of which checks and setup commands get a part; that of the process if nil
}

// PortRange is the ports that workspaces get, both ends included.
type PortRange = ports.Range

// Workspaces keeps workspaces. It is safe for concurrent use, and several
// processes can share its directories.
type Workspaces struct {
	dir, trash string
	git        *git.Runner
	now        func() time.Time
	log        *slog.Logger
	ports      ports.Ledger
	idle       int
	env        []string
	noGitFiles bool // git does every step, also those for which its files are enough
	trees      *trees
	locks      filelock.Locks
	step       func(name string) error // tests let it fail to simulate a crash
	branchAt   func(path string) string
	branchesOf func(repo) ([]taskBranch, error)
	readMu     sync.Mutex
	purged     atomic.Int64 // how much trash was purged since the start

	mu    sync.Mutex
	repos map[string]repo      // by the path that a caller gave
	noted map[string]repo      // by the directory of its workspaces
	read  map[string]knownSlot // by the slot's file
}

// New creates the directories, which only the user can read.
func New(c Config) (*Workspaces, error) {
	if c.Dir == "" || c.Trash == "" || c.Git == nil {
		return nil, errors.New("workspace: Dir, Trash and Git are required")
	}
	w := &Workspaces{
		git: c.Git, now: c.Now, log: c.Logger, ports: ports.Ledger{Range: c.Ports}, idle: c.Idle, env: c.Env,
		repos: map[string]repo{}, noted: map[string]repo{}, read: map[string]knownSlot{}, trees: &trees{of: map[string]string{}},
		step: func(string) error { return nil }, branchAt: branchAt,
	}
	w.branchesOf = w.taskBranches
	if w.now == nil {
		w.now = time.Now
	}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	if w.ports.Range == (PortRange{}) {
		w.ports.Range = PortRange{First: 20000, Last: 29999}
	}
	if w.idle == 0 {
		w.idle = 8
	}
	if w.env == nil {
		w.env = os.Environ()
	}
	w.noGitFiles = environ.Get(w.env, "COPPICE_GIT_FILES") == "off"
	for _, d := range []struct {
		path string
		to   *string
	}{{c.Dir, &w.dir}, {c.Trash, &w.trash}} {
		abs, err := filepath.Abs(d.path)
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(abs, 0o700); err != nil {
			return nil, coppice.Errorf(coppice.EUnavailable, "cannot create the directory %s: %w", abs, err).
				WithFix("make it writable or choose another state directory")
		}
		// Git reports paths without symbolic links.
		if abs, err = filepath.EvalSymlinks(abs); err != nil {
			return nil, err
		}
		*d.to = abs
	}
	w.ports.Dir = w.dir
	w.git.Trust(w.trust)
	return w, nil
}

// classify turns an error of git or the file system into a failure, if it is known
// what follows from it.
func classify(err error) error {
	if err == nil {
		return nil
	}
	var f *coppice.Failure
	if errors.As(err, &f) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if diskFull(err) {
		return coppice.Failf(coppice.ClassDisk, "the disk is full or read-only: "+err.Error(), "free some space, then retry")
	}
	return err
}

// diskFull reports whether the disk is the cause. Git says that only in its
// message, whose language the runner sets.
func diskFull(err error) bool {
	if isDiskError(err) {
		return true
	}
	var ge *git.Error
	return errors.As(err, &ge) && (strings.Contains(ge.Stderr, "No space left on device") || strings.Contains(ge.Stderr, "Read-only file system") ||
		strings.Contains(ge.Stderr, "Disk quota exceeded"))
}
