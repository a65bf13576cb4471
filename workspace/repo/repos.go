// Package repo finds the repositories of people and keeps Coppice's own repository
// for each of them. It reads and writes refs, commits and indexes, with gitfiles
// where that is enough and with git otherwise, and copies objects between
// repositories. Packages workspace and landing are built on it.
//
// The files by topic:
//
//	repo       the person's repository
//	own        Coppice's own repository; import takes over refs of earlier versions
//	refs       refs and HEAD
//	publish    objects that move from a workspace into Coppice's own repository
//	confirm    settings of git that the person confirmed
//	worktrees  the person's checkouts
//	origin     where files of a checkout come from
//	stale      locks that a killed git left
//	commit, files, errors  smaller parts
package repo

import (
	"log/slog"
	"sync"
	"time"

	"coppice/internal/filelock"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
)

// Repos finds and keeps repositories. All fields are required. It is safe for
// concurrent use, and several processes can share its directory.
type Repos struct {
	Dir        string           // for each repository, a directory with Coppice's own repository and the workspaces
	Git        *git.Runner      // runs git
	Now        func() time.Time // the clock
	Log        *slog.Logger
	NoGitFiles bool                    // git does every step, also those for which its files are enough
	Step       func(name string) error // tests let it fail to simulate a crash
	Locks      filelock.Locks
	Objects    gitfiles.Cache // which many workspaces check out

	// BranchAt reports whether a task's workspace is at a path, and returns its
	// branch; a detached one has none.
	BranchAt func(path string) (branch string, used bool)

	mu    sync.Mutex
	found map[string]Repo // by the path that a caller gave
	noted map[string]Repo // by the directory of its workspaces
}
