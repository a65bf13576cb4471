package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"coppice"
)

// savedInfix is in the names of copies that were saved from a database that was
// removed or replaced while it was open: coppice.db.saved-<time>.
const savedInfix = ".saved-"

// watch compares the files that a store has open with the files at its path. A
// removed file exists until the process closes it, and everything that is written
// to it is then lost.
type watch struct {
	path string
	own  map[string]fs.FileInfo // the open files by name

	mu    sync.Mutex
	lost  bool   // whether a file was missing or replaced at the last check
	saved string // the copy that was saved then
}

// newWatch records which files are open: the database, and its write-ahead log if
// it has one.
func newWatch(path string) (*watch, error) {
	w := &watch{path: path, own: map[string]fs.FileInfo{}}
	for _, name := range []string{path, path + "-wal"} {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) && name != path {
			continue
		}
		if err != nil {
			return nil, unwritable(filepath.Dir(path), err)
		}
		w.own[name] = info
	}
	return w, nil
}

// missing returns the name of an open file that was removed or replaced.
func (w *watch) missing() string {
	for name, own := range w.own {
		if info, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, own) {
			return name
		}
	}
	return ""
}

// Intact fails with code unavailable if the file of the database was removed or
// replaced, or if Check found damage. The store writes nothing while it fails.
func (s *Store) Intact() error {
	if s.watch == nil {
		return nil
	}
	if damage := s.damage.Load(); damage != nil {
		return damage
	}
	name := s.watch.missing()
	if name == "" {
		return nil
	}
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	err := coppice.Errorf(coppice.EUnavailable, "%s was removed or replaced while the server was running; coppice changes nothing until this is fixed", name)
	if s.watch.saved == "" {
		return err.WithFix("put the file back, or stop `coppice serve` and restore a backup with `coppice restore`")
	}
	return err.WithFix("stop `coppice serve`, run `coppice restore %s`, and start it again", s.watch.saved)
}

// guard is called before each transaction. If the database was lost, it fails, and
// the first time it saves a copy of everything that was committed. When the files
// are back, it succeeds again.
func (s *Store) guard() error {
	w := s.watch
	if w == nil {
		return nil
	}
	name := w.missing()
	w.mu.Lock()
	was := w.lost
	w.lost = name != ""
	w.mu.Unlock()
	switch {
	case name == "" && was:
		s.cfg.Logger.Warn("the database is back", "path", w.path)
	case name != "" && !was:
		saved, err := s.save()
		w.mu.Lock()
		w.saved = saved
		w.mu.Unlock()
		s.cfg.Logger.Error("the database was removed or replaced; nothing is changed until this is fixed", "file", name, "saved", saved, "error", err)
	}
	return s.Intact()
}

// save writes the database, as the writer's connection still sees it, to a new
// file beside it. The caller leads a batch, so nothing else uses the connection.
func (s *Store) save() (string, error) {
	path := s.cfg.Path + savedInfix + time.Now().UTC().Format(stamp)
	temp, err := tempBeside(path)
	if err != nil {
		return "", err
	}
	defer os.Remove(temp)
	if _, err := s.writer.raw.ExecContext(s.writer.ctx, "VACUUM INTO ?", temp); err != nil {
		return "", explain(path, err)
	}
	if err := errors.Join(syncFile(temp), publish(temp, path)); err != nil {
		return "", err
	}
	return path, nil
}

// saved lists the saved copies of a lost database, newest first.
func saved(path string) []string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil // the error that needs this list is more useful
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+savedInfix) && e.Type().IsRegular() {
			names = append(names, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	slices.Reverse(names) // ReadDir sorts by name, which is by time
	return names
}

// restoreFix says how to restore a database from the newest existing copy.
func restoreFix(path string) string {
	folder := filepath.Join(filepath.Dir(path), BackupsFolder)
	backups, _ := (&Backups{Folder: folder}).List() // an error is the same as no backup
	all := append(saved(path), backups...)
	if len(all) == 0 {
		return fmt.Sprintf("there is no backup in %s yet; move the file away to start with an empty database, or try to recover it with sqlite3's .recover", folder)
	}
	newest := slices.MaxFunc(all, func(a, b string) int { return strings.Compare(stampOf(a), stampOf(b)) })
	return "restore the newest copy with: coppice restore " + newest
}

// stampOf returns the time in the name of a copy, which sorts as text.
func stampOf(path string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), packedSuffix), backupSuffix)
	return name[strings.LastIndexByte(name, '-')+1:]
}
