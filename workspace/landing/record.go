package landing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/internal/atomicfile"
	"coppice/workspace/gitfiles"
	"coppice/workspace/repo"
)

// moveRecord is written and synced before a move writes anything to the person's
// repository, and removed at the end. After a crash it says what the move was going
// to write: locks, stages, and files with their old and new state.
type moveRecord struct {
	Base    string            `json:"base"`  // branch
	Old     string            `json:"old"`   // empty if the branch is created
	New     string            `json:"new"`   // empty if the branch is removed
	Refs    []string          `json:"refs"`  // that the move locks
	Trees   []following       `json:"trees"` // checkouts that follow
	Changes []gitfiles.Change `json:"changes"`
	Staged  bool              `json:"staged,omitempty"` // all files are staged; until then no checkout is touched
}

func recordFile(r repo.Repo) string { return filepath.Join(r.Dir, "move.json") }

// writeRecord writes the record of a move to the disk.
func (ls *Landings) writeRecord(r repo.Repo, m *moveRecord) error {
	if err := atomicfile.WriteJSON(recordFile(r), m); err != nil {
		return fmt.Errorf("writing the record of a landing: %w", err)
	}
	return errors.Join(repo.SyncDir(r.Dir), ls.Step("recorded"))
}

func readRecord(r repo.Repo) (*moveRecord, error) {
	b, err := os.ReadFile(recordFile(r))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var m moveRecord
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("reading the record of a landing, %s: %w", recordFile(r), err)
	}
	return &m, nil
}

// lockIndex acquires the lock of a checkout's index, as git does. If another process
// holds it, lockIndex returns which.
func (ls *Landings) lockIndex(f following) (held string, err error) {
	if err := os.MkdirAll(f.Stage, 0o700); err != nil {
		return "", err
	}
	switch err := gitfiles.Lock(f.lock(), f.Stage); {
	case err == nil:
		return "", ls.Step("locked")
	case !errors.Is(err, fs.ErrExist):
		return "", err
	case gitfiles.HoldsLock(f.lock()):
		return "", nil // an earlier try of this process
	}
	return lockHolder(f.lock(), f.Path), nil
}

// lockHolder describes who holds a lock of git, as far as it can find out.
func lockHolder(lock, dir string) string {
	who := repo.GitsIn(dir)
	switch {
	case len(who) > 0:
		return fmt.Sprintf("%s is held by %s", lock, strings.Join(who, ", "))
	case gitfiles.IsMarked(lock):
		return lock + " is held by another process of Coppice"
	}
	age := ""
	if st, err := os.Lstat(lock); err == nil {
		age = fmt.Sprintf(", since %s", st.ModTime().UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("%s is there%s, and no git process runs in %s: a git that was killed may have left it. Remove it if that is so", lock, age, dir)
}

// lockMoves waits for the lock of the repository's moves, and completes or undoes
// one that was interrupted.
func (ls *Landings) lockMoves(ctx context.Context, r repo.Repo) (unlock func(), err error) {
	if unlock, err = ls.Locks.Wait(ctx, moveLock(r)); err != nil {
		return nil, err
	}
	if err := ls.recoverMove(context.WithoutCancel(ctx), r); err != nil {
		unlock()
		return nil, repo.Classify(err)
	}
	return unlock, nil
}

// recoverMove completes a move that a crash interrupted if the base has moved, and
// undoes it otherwise. Files that the person changed since stay as they are. The
// caller holds the lock of moves.
func (ls *Landings) recoverMove(ctx context.Context, r repo.Repo) error {
	m, err := readRecord(r)
	if err != nil || m == nil {
		return err
	}
	ls.Log.WarnContext(ctx, "a landing was interrupted; completing or undoing it", "repository", r.Root, "from", m.Old, "to", m.New)
	if err := ls.unlockRefs(ctx, r, m); err != nil {
		return err
	}
	now, err := ls.Branch(ctx, r, m.Base)
	if err != nil && coppice.ErrorCode(err) != coppice.ENotFound {
		return err
	}
	done, err := ls.moved(ctx, r, m, now)
	if err != nil {
		return err
	}
	var stuck []string
	for _, f := range m.Trees {
		left, err := ls.recoverTree(ctx, f, m, done)
		if err != nil {
			return err
		}
		stuck = append(stuck, left...)
	}
	if len(stuck) > 0 {
		return &errStuck{base: m.Base, yours: stuck}
	}
	ls.Log.InfoContext(ctx, "the interrupted landing is settled", "repository", r.Root, "landed", done)
	return ls.closeRecord(r, m)
}

// moved reports whether a branch that is at the commit now has made the move of a
// record. If the move goes back, the commits below it are in the history of both
// ends, so the old end must be gone.
func (ls *Landings) moved(ctx context.Context, r repo.Repo, m *moveRecord, now string) (bool, error) {
	if now == m.New || now == "" || now == m.Old || m.New == "" || m.Old == "" {
		return now == m.New, nil
	}
	has, err := ls.IsAncestor(ctx, r, m.New, now)
	if err != nil || !has {
		return false, err
	}
	back, err := ls.IsAncestor(ctx, r, m.New, m.Old)
	if err != nil || !back {
		return err == nil, err
	}
	still, err := ls.IsAncestor(ctx, r, m.Old, now)
	return err == nil && !still, err
}

// errStuck says that an interrupted landing cannot be undone, because the person has
// files where others must be restored.
type errStuck struct {
	base  string
	yours []string // the files in the way
}

func (e *errStuck) Error() string {
	return fmt.Sprintf("a landing on %s was interrupted, and your files are where others must be restored: %s", e.base, repo.Listed(e.yours))
}

// closeRecord ends a move. It removes the record before the files that the record
// describes.
func (ls *Landings) closeRecord(r repo.Repo, m *moveRecord) error {
	ls.unlockTrees(m.Trees)
	if err := os.Remove(recordFile(r)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, f := range m.Trees {
		if err := repo.RemoveWhole(f.Stage); err != nil {
			return err
		}
	}
	return dropGathered(r, m.New)
}

// unlockRefs removes the locks that the interrupted git left on refs. It waits for a
// git that still runs.
func (ls *Landings) unlockRefs(ctx context.Context, r repo.Repo, m *moveRecord) error {
	locks := []string{filepath.Join(r.User, "HEAD.lock")}
	for _, ref := range m.Refs {
		locks = append(locks, filepath.Join(r.User, filepath.FromSlash(ref)+".lock"))
	}
	if m.New == "" { // git removes packed refs too, and refuses to if their new file exists
		locks = append(locks, filepath.Join(r.User, "packed-refs.new"), filepath.Join(r.User, "packed-refs.lock"))
	}
	for _, f := range m.Trees {
		locks = append(locks, filepath.Join(f.Git, "HEAD.lock"))
	}
	locks = slices.DeleteFunc(locks, func(l string) bool { return !repo.Exists(l) })
	ctx, cancel := context.WithTimeout(ctx, repo.StaleWait)
	defer cancel()
	for len(locks) > 0 && repo.GitRunsIn(r.Root) {
		t := time.NewTimer(20 * time.Millisecond)
		select {
		case <-ctx.Done():
			t.Stop()
			return fmt.Errorf("a landing was interrupted and cannot be completed yet: %s", lockHolder(locks[0], r.Root))
		case <-t.C:
		}
		locks = slices.DeleteFunc(locks, func(l string) bool { return !repo.Exists(l) })
	}
	for _, l := range locks {
		ls.Log.WarnContext(ctx, "removing a lock that an interrupted landing left", "path", l)
		if err := os.Remove(l); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// recoverTree completes or undoes a move in one checkout. It returns the person's
// files that block it.
func (ls *Landings) recoverTree(ctx context.Context, f following, m *moveRecord, done bool) ([]string, error) {
	if !repo.Exists(f.Path) || !repo.Exists(f.Stage) && !repo.Exists(f.lock()) {
		return nil, nil // nothing was started, or the checkout is gone
	}
	if held, err := ls.lockIndex(f); err != nil {
		return nil, err
	} else if held != "" {
		return nil, fmt.Errorf("a landing was interrupted and cannot be completed yet: %s", held)
	}
	defer os.Remove(f.lock())
	changes := f.present(m.Changes)
	switch {
	case !m.Staged:
		return nil, nil
	case done:
		return nil, ls.finishTree(ctx, f, changes)
	}
	return ls.undoTree(ctx, f, changes)
}

// present returns the changes without paths that a sparse checkout does not have.
func (f following) present(changes []gitfiles.Change) []gitfiles.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c gitfiles.Change) bool { return slices.Contains(f.Absent, c.Path) })
}

// finishTree completes a move in a checkout. A file that is neither in its old nor in
// its new state is the person's.
func (ls *Landings) finishTree(ctx context.Context, f following, changes []gitfiles.Change) error {
	changed, err := ls.changedUnder(ctx, f, f.oldIndex())
	if err != nil {
		return err
	}
	touched := map[string]bool{}
	for _, c := range changes {
		touched[c.Path] = repo.Exists(f.old(c.Path)) || c.NewMode != "" && !repo.Exists(f.new(c.Path))
	}
	mine := func(c gitfiles.Change) bool { // only this move has changed the path
		if touched[c.Path] {
			return true
		}
		if c.OldMode == "" {
			return !repo.Exists(f.file(c.Path))
		}
		return !changed[c.Path]
	}
	for {
		skip := map[string]bool{}
		for _, c := range changes {
			skip[c.Path] = !mine(c)
		}
		err := ls.place(f, changes, func(p string) bool { return skip[p] })
		var blocked errChanged
		if errors.As(err, &blocked) {
			// The person created something there. It stays, and git shows it as changed.
			changes = slices.DeleteFunc(slices.Clone(changes), func(c gitfiles.Change) bool { return c.Path == blocked.path })
			continue
		}
		if err != nil {
			return err
		}
		return ls.putIn(ctx, f, changes)
	}
}

// undoTree undoes a move in a checkout. It returns the person's files that are where
// others must be restored.
func (ls *Landings) undoTree(ctx context.Context, f following, changes []gitfiles.Change) (stuck []string, err error) {
	index := f.newIndex()
	if !repo.Exists(index) {
		index = f.putIndex()
	}
	changed, err := ls.changedUnder(ctx, f, index)
	if err != nil {
		return nil, err
	}
	if err := ls.unplace(f, changes, func(p string) bool { return changed[p] }); err != nil {
		return nil, err
	}
	for _, c := range changes {
		if c.OldMode == "" || !repo.Exists(f.old(c.Path)) {
			continue
		}
		if st, err := os.Lstat(f.file(c.Path)); err != nil || st.IsDir() {
			stuck = append(stuck, f.inPlaceOf(c.Path))
		}
	}
	return stuck, ls.takeOut(f)
}

// inPlaceOf returns the file that blocks a path: it is in place of a directory of the
// path, or below a directory in place of the path.
func (f following) inPlaceOf(p string) string {
	if below := untracked(f.Path, p, nil); below != "" {
		return below
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if st, err := os.Lstat(f.file(dir)); err == nil && !st.IsDir() {
			return dir
		}
	}
	return p
}

// SettleMove completes or undoes a landing that was interrupted. If that is not
// possible now, the next landing tries again.
func (ls *Landings) SettleMove(ctx context.Context, dir string) {
	r, err := ls.Of(dir)
	if err != nil {
		return
	}
	repo.SweepDir(r.User, gitfiles.TempPrefix, ls.Now().Add(-repo.StaleAge))
	if lock := filepath.Join(r.User, filepath.FromSlash(repo.KeepRef)+".lock"); gitfiles.IsAbandoned(lock) {
		_ = os.Remove(lock)
	}
	unlock, err := ls.Locks.Wait(ctx, moveLock(r))
	if err != nil {
		return
	}
	defer unlock()
	if err := ls.recoverMove(ctx, r); err != nil {
		ls.Log.ErrorContext(ctx, "an interrupted landing is not settled yet", "repository", r.Root, "error", err)
		return
	}
	stages, _ := filepath.Glob(filepath.Join(r.User, "worktrees", "*", stageName))
	for _, dir := range append(stages, filepath.Join(r.User, stageName)) {
		_ = repo.RemoveWhole(dir)
	}
}
