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

// savedInfix stands in the names of copies that were saved from a database
// that was lost while it was open: coppice.db.saved-<time>.
const savedInfix = ".saved-"

// watch compares the files that a store has open with those that its path
// names. A removed file lives on as long as it is open, and everything that is
// written to it is gone with the process.
type watch struct {
	path string
	own  map[string]fs.FileInfo // the open files by name

	mu    sync.Mutex
	lost  bool   // the files were not ours when we last looked
	saved string // the copy that was made then
}

// newWatch remembers which files are open: the database, and its write-ahead
// log where there is one.
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

// missing returns the name of a file that is no longer the one that is open.
func (w *watch) missing() string {
	for name, own := range w.own {
		if info, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, own) {
			return name
		}
	}
	return ""
}

// Intact fails with code unavailable while the database is not the file that
// its path names, since somebody removed or replaced it, or when Check found it
// damaged. Nothing is written then.
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
	err := coppice.Errorf(coppice.EUnavailable, "%s was removed or replaced while the server runs, so nothing is changed any more", name)
	if s.watch.saved == "" {
		return err.WithFix("put the file back, or stop `coppice serve` and restore a backup with `coppice restore`")
	}
	return err.WithFix("stop `coppice serve`, run `coppice restore %s`, and start it again", s.watch.saved)
}

// guard is asked before each transaction. When the database was lost, it saves
// a copy of everything that was committed, once, and refuses. When the files
// are back, all goes on.
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
		s.cfg.Logger.Error("the database was removed or replaced; nothing is changed until that is put right", "file", name, "saved", saved, "error", err)
	}
	return s.Intact()
}

// save writes what the writer's connection still sees to a new file beside the
// database. The caller leads a batch, so the connection is its own.
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

// saved lists the copies that were saved of a lost database, newest first.
func saved(path string) []string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil // what cannot be listed is of no help
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+savedInfix) && e.Type().IsRegular() {
			names = append(names, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	slices.Reverse(names) // ReadDir sorts by name, and names sort by moment
	return names
}

// wayBack tells how to get a database back, by what there is.
func wayBack(path string) string {
	folder := filepath.Join(filepath.Dir(path), BackupsFolder)
	backups, _ := (&Backups{Folder: folder}).List() // likewise
	all := append(saved(path), backups...)
	if len(all) == 0 {
		return fmt.Sprintf("there is no backup in %s yet; move the file away to begin with an empty database, or try to rescue it with sqlite3's .recover", folder)
	}
	newest := slices.MaxFunc(all, func(a, b string) int { return strings.Compare(stampOf(a), stampOf(b)) })
	return "bring back the newest copy with: coppice restore " + newest
}

// stampOf is the time in the name of a copy, which sorts as text.
func stampOf(path string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), packedSuffix), backupSuffix)
	return name[strings.LastIndexByte(name, '-')+1:]
}
