package checkout

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"coppice"
	"coppice/engine"
	"coppice/internal/clock"
	"coppice/store"
)

const (
	// mostFolders limits the folders that are watched for one landing. A
	// landing that waits for files in more folders is retried when git's index
	// changes.
	mostFolders = 64
	// retryGap limits how often changes retry one landing.
	retryGap = time.Second
)

// gitFiles are the files of a checkout's git folder that change when a person
// commits, stashes, switches branches, or ends a merge or the like.
var gitFiles = []string{"index", "HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply"}

// waits watches the files in checkouts that landings wait for, and retries a
// landing when they change. One goroutine uses it.
type waits struct {
	intake  *engine.Intake
	clock   clock.Clock
	log     *slog.Logger
	watcher *fsnotify.Watcher
	held    map[int64]*blockedProject                      // by project
	moved   func(ctx context.Context, project int64) error // reads where the base of a project is
}

// blockedProject is a project whose first landing waits, or with tasks that wait because
// the base fails a check.
type blockedProject struct {
	project coppice.Project
	red     bool            // the base fails a check
	paths   []string        // the files that it waits for
	folders map[string]bool // the watched folders
	due     time.Time       // when it is retried; zero if it is not
	last    time.Time       // when it was last retried
}

func newWaits(intake *engine.Intake, c clock.Clock, log *slog.Logger) (*waits, error) {
	w, err := fsnotify.NewWatcher()
	return &waits{intake: intake, clock: c, log: log, watcher: w, held: map[int64]*blockedProject{}}, err
}

// waiting says what a project waits for that a person can do in the checkout.
type waiting struct {
	why string // why the first landing of its queue waits; "" if it does not
	red bool   // tasks wait because the base fails a check
}

// waitsFor returns what a project waits for.
func waitsFor(r store.Reader, project int64) (waiting, error) {
	first, err := r.Landings.Queued(project, 1)
	if err != nil {
		return waiting{}, err
	}
	blocked, err := r.Landings.Blocked(project, 1)
	found := waiting{red: len(blocked) > 0}
	if len(first) > 0 {
		found.why = first[0].Waits
	}
	return found, err
}

// follow takes what a project waits for.
func (w *waits) follow(p coppice.Project, of waiting) {
	h := w.held[p.ID]
	if of == (waiting{}) {
		if h != nil {
			delete(w.held, p.ID)
			w.unwatch(h.folders)
		}
		return
	}
	if h == nil {
		h = &blockedProject{}
		w.held[p.ID] = h
	}
	h.project, h.red = p, of.red
	if w.watch(h) {
		w.soon(h) // it might have changed before it was watched
	}
}

// watch watches the folders of the files that a landing waits for. It reports
// whether it watches new ones.
func (w *waits) watch(h *blockedProject) (more bool) {
	root := filepath.Clean(h.project.Path)
	var paths []string
	folders := map[string]bool{}
	if n := h.project.Need(coppice.NeedCheckout); n != nil {
		for _, name := range n.Paths {
			if !filepath.IsAbs(name) {
				name = filepath.Join(root, filepath.FromSlash(name))
			}
			paths = append(paths, name)
			folders[folderOf(name, root)] = true
			if st, err := os.Lstat(name); err == nil && st.IsDir() {
				folders[name] = true
			}
			if len(folders) > mostFolders {
				break
			}
		}
	}
	if len(folders) > mostFolders {
		paths, folders = nil, map[string]bool{}
	}
	if dir := gitFolder(root); dir != "" {
		folders[dir] = true
		for _, name := range gitFiles {
			paths = append(paths, filepath.Join(dir, name))
		}
		if h.red {
			common := commonFolder(dir)
			ref := filepath.Join(common, "refs", "heads", filepath.FromSlash(h.project.Policy.Base))
			paths = append(paths, ref, filepath.Join(common, "packed-refs"))
			folders[common], folders[folderOf(ref, common)] = true, true
		}
	}
	old := h.folders
	h.paths, h.folders = paths, map[string]bool{}
	for dir := range folders {
		if err := w.watcher.Add(dir); err != nil {
			w.log.Warn("a folder that a landing waits for cannot be watched", "project", h.project.Prefix, "folder", dir, "error", err)
			continue // the landing is retried after a pause
		}
		h.folders[dir] = true
		more = more || !old[dir]
	}
	maps.DeleteFunc(old, func(dir string, _ bool) bool { return h.folders[dir] })
	w.unwatch(old)
	return more
}

// unwatch stops watching folders that no landing waits for.
func (w *waits) unwatch(folders map[string]bool) {
	for dir := range folders {
		used := false
		for _, h := range w.held {
			used = used || h.folders[dir]
		}
		if !used {
			_ = w.watcher.Remove(dir) // a removed folder is no longer watched
		}
	}
}

// folderOf returns the nearest existing folder around a path, within root.
func folderOf(path, root string) string {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if st, err := os.Stat(dir); err == nil && st.IsDir() || dir == root || dir == filepath.Dir(dir) {
			return dir
		}
	}
}

// gitFolder returns the git folder of a checkout, "" if it cannot be found.
func gitFolder(root string) string {
	name := filepath.Join(root, ".git")
	st, err := os.Stat(name)
	if err != nil {
		return ""
	}
	if st.IsDir() {
		return name
	}
	text, err := readShort(name) // a linked worktree names it in a file
	dir, ok := strings.CutPrefix(text, "gitdir: ")
	if err != nil || !ok {
		return ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	return filepath.Clean(dir)
}

// commonFolder returns the git folder that has the branches: of a linked worktree, that
// of the repository.
func commonFolder(dir string) string {
	text, err := readShort(filepath.Join(dir, "commondir"))
	switch {
	case err != nil || text == "":
		return dir
	case filepath.IsAbs(text):
		return filepath.Clean(text)
	}
	return filepath.Join(dir, text)
}

// readShort reads a small text file without its last line break.
func readShort(name string) (string, error) {
	st, err := os.Stat(name)
	if err == nil && st.Size() > 64<<10 {
		err = fs.ErrInvalid
	}
	if err != nil {
		return "", err
	}
	b, err := os.ReadFile(name)
	return strings.TrimRight(string(b), "\r\n"), err
}

// touched handles an event in a watched folder: about a file that a landing
// waits for, something in it, or a folder around it.
func (w *waits) touched(name string) {
	const sep = string(filepath.Separator)
	for _, h := range w.held {
		if slices.ContainsFunc(h.paths, func(p string) bool { return strings.HasPrefix(p+sep, name+sep) || strings.HasPrefix(name, p+sep) }) {
			w.soon(h)
		}
	}
}

// all retries every landing that waits.
func (w *waits) all() {
	for _, h := range w.held {
		w.soon(h)
	}
}

// soon schedules a retry of a landing: editors and git write files in several
// steps.
func (w *waits) soon(h *blockedProject) {
	if !h.due.IsZero() {
		return
	}
	h.due = w.clock.Now().Add(quiet)
	if after := h.last.Add(retryGap); h.due.Before(after) {
		h.due = after
	}
}

// next returns when the next retry is due, or latest if none is due before.
func (w *waits) next(latest time.Time) time.Time {
	for _, h := range w.held {
		latest = earlier(latest, h.due)
	}
	return latest
}

// retry retries the landings whose files changed, and reads where a base is that fails
// checks.
func (w *waits) retry(ctx context.Context) {
	for _, id := range slices.Sorted(maps.Keys(w.held)) {
		h := w.held[id]
		if !due(w.clock, h.due) {
			continue
		}
		h.due, h.last = time.Time{}, w.clock.Now()
		w.watch(h) // a folder might have been replaced
		err := w.intake.RetryLanding(ctx, id, "the checkout changed")
		if h.red && w.moved != nil {
			err = errors.Join(err, w.moved(ctx, id))
		}
		if err != nil && ctx.Err() == nil {
			w.log.Error("a landing could not be retried", "project", h.project.Prefix, "error", err)
			w.soon(h)
		}
	}
}
