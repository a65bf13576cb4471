// Package workspace keeps the directories that agents work in, and does
// everything else that needs git: merging on trees, judging trees and moving
// the base branch.
//
// A workspace is a git worktree outside the repository, on a branch of its own.
// The person's checkout, index, stash and branches are never touched, with one
// exception: when the base branch is checked out there, clean, and moves, the
// checkout moves with it.
//
// Every method is idempotent: called again with the same spec, after a crash
// at any point or at the same time from two places, it completes what was begun
// and returns the same result. Errors that tell what should follow are a
// *coppice.Failure.
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

// Config says where workspaces are kept. Dir, Trash and Git are required.
type Config struct {
	Dir    string           // worktrees, their metadata and locks
	Trash  string           // archives of ignored files of removed workspaces
	Git    *git.Runner      // runs git
	Now    func() time.Time // the clock; time.Now when nil
	Logger *slog.Logger     // nothing is logged when nil
	Ports  PortRange        // 20000 to 29999 when empty
	Idle   int              // idle worktrees kept for each repository; 8 when 0
	Env    []string         // where checks and setup commands get PATH and the like from; the process's own when nil
}

// PortRange is the ports that workspaces get, both ends included.
type PortRange = ports.Range

// Workspaces keeps workspaces. It is safe for concurrent use, and several
// processes may share its directories.
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
	step       func(name string) error // tests make it fail to play a crash
	purged     atomic.Int64            // trash that was forgotten since the start

	mu    sync.Mutex
	repos map[string]repo      // by the path asked for
	noted map[string]repo      // by the directory of its workspaces
	read  map[string]knownSlot // by the slot's file
}

// New makes the directories, private to the user, and returns Workspaces.
func New(c Config) (*Workspaces, error) {
	if c.Dir == "" || c.Trash == "" || c.Git == nil {
		return nil, errors.New("workspace: Dir, Trash and Git are required")
	}
	w := &Workspaces{
		git: c.Git, now: c.Now, log: c.Logger, ports: ports.Ledger{Range: c.Ports}, idle: c.Idle, env: c.Env,
		repos: map[string]repo{}, noted: map[string]repo{}, read: map[string]knownSlot{}, trees: &trees{of: map[string]string{}},
		step: func(string) error { return nil },
	}
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
			return nil, coppice.Errorf(coppice.EUnavailable, "cannot make the directory %s: %w", abs, err).
				WithFix("make it writable or choose another state directory")
		}
		// Git reports real paths, so ours must be real to be compared with them.
		if abs, err = filepath.EvalSymlinks(abs); err != nil {
			return nil, err
		}
		*d.to = abs
	}
	w.ports.Dir = w.dir
	w.git.Trust(w.trust)
	return w, nil
}

// told turns a failure of git or the file system into what should follow, when
// that is known.
func told(err error) error {
	if err == nil {
		return nil
	}
	var f *coppice.Failure
	if errors.As(err, &f) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if noRoom(err) {
		return coppice.Failf(coppice.ClassDisk, "the disk is full or read-only: "+err.Error(), "free some space, then retry")
	}
	return err
}

// noRoom tells whether the disk is to blame. Git reports that in words only;
// its language is fixed by the runner.
func noRoom(err error) bool {
	if isNoSpace(err) {
		return true
	}
	var ge *git.Error
	return errors.As(err, &ge) && (strings.Contains(ge.Stderr, "No space left on device") || strings.Contains(ge.Stderr, "Read-only file system") ||
		strings.Contains(ge.Stderr, "Disk quota exceeded"))
}
