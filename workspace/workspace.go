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
//	workspaces  slot, prepare, populate, renew, provide, docker, shell, save,
//	            snapshot, damage, detached, diff, stat, legacy
//	checks      check
//	removal     remove, restore, forget, usage, sweep
//
// The packages below have the rest: repo keeps the repositories, and landing puts
// work on a branch. The others know nothing of workspaces: git runs git, gitfiles
// reads git's files without it, gitconfig decides which settings count, archive
// packs ignored files, and ports gives ports away.
package workspace

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"coppice"
	"coppice/internal/environ"
	"coppice/workspace/git"
	"coppice/workspace/gitconfig"
	"coppice/workspace/landing"
	"coppice/workspace/ports"
	"coppice/workspace/repo"
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
// processes can share its directories. Landings has the methods that land work, and
// those that look at repositories.
type Workspaces struct {
	*landing.Landings
	trash  string
	ports  ports.Ledger
	idle   int
	env    []string
	purged atomic.Int64 // how much trash was purged since the start

	mu   sync.Mutex
	read map[string]knownSlot // by the slot's file
}

// New creates the directories, which only the user can read.
func New(c Config) (*Workspaces, error) {
	if c.Dir == "" || c.Trash == "" || c.Git == nil {
		return nil, errors.New("workspace: Dir, Trash and Git are required")
	}
	repos := &repo.Repos{Git: c.Git, Now: c.Now, Log: c.Logger, Step: func(string) error { return nil }, BranchAt: branchAt}
	w := &Workspaces{
		Landings: &landing.Landings{Repos: repos},
		ports:    ports.Ledger{Range: c.Ports}, idle: c.Idle, env: c.Env, read: map[string]knownSlot{},
	}
	w.BranchesOf = w.taskBranches
	if w.Now == nil {
		w.Now = time.Now
	}
	if w.Log == nil {
		w.Log = slog.New(slog.DiscardHandler)
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
	w.NoGitFiles = environ.Get(w.env, "COPPICE_GIT_FILES") == "off"
	for _, d := range []struct {
		path string
		to   *string
	}{{c.Dir, &w.Dir}, {c.Trash, &w.trash}} {
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
	w.ports.Dir = w.Dir
	w.Git.Trust(w.Trust)
	return w, nil
}

// WithStop returns a context for work that a stop of the server waits for. Parts
// that can safely end early, such as a push, end when stop is closed.
func WithStop(ctx context.Context, stop <-chan struct{}) context.Context {
	return landing.WithStop(ctx, stop)
}

// SettingsDiff lists the settings of git that were removed and added, or returns "".
func SettingsDiff(before, now []coppice.GitSetting) string { return gitconfig.Diff(before, now) }
