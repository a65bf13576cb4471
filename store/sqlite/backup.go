package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"coppice"
)

// Backup implements store.Store. The copy is whole or not there: it is written
// under another name, brought to disk, and then given its own.
func (s *Store) Backup(ctx context.Context, path string) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.running.Done()
	if err := s.Intact(); err != nil {
		return err // the path may name another database
	}
	if _, err := os.Lstat(path); err == nil {
		return exists(path)
	}
	temp, err := tempBeside(path)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	if err := s.copyTo(ctx, temp); err != nil {
		return explain(path, err)
	}
	if err := syncFile(temp); err != nil {
		return err
	}
	return publish(temp, path)
}

// copyTo writes a compact copy into an empty file. On disk it reads through a
// connection of its own, so that readers keep theirs.
func (s *Store) copyTo(ctx context.Context, path string) error {
	var c *conn
	var err error
	if s.cfg.Path == Memory {
		if c, err = s.takeReader(ctx); err != nil {
			return err
		}
		defer func() { s.readers <- c }()
	} else {
		if c, err = dial(ctx, s.cfg.Path, dsn(s.cfg.Path)); err != nil {
			return err
		}
		defer c.close()
	}
	_, err = c.raw.ExecContext(ctx, "VACUUM INTO ?", path)
	return err
}

func exists(path string) error {
	return coppice.Errorf(coppice.EConflict, "%s is there already", path).WithFix("choose another name for the backup")
}

// tempBeside makes an empty file for its owner only, in the same directory.
func tempBeside(path string) (string, error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp") // with mode 0600
	if err != nil {
		return "", unwritable(dir, err)
	}
	return f.Name(), f.Close()
}

// publish gives a file its name, and never takes one that is in use.
func publish(temp, path string) error {
	err := os.Link(temp, path)
	if errors.Is(err, fs.ErrExist) {
		return exists(path)
	}
	if err != nil {
		err = os.Rename(temp, path) // a file system without links
	}
	if err != nil {
		return unwritable(filepath.Dir(path), err)
	}
	return syncFile(filepath.Dir(path))
}

// syncFile brings a file, or a directory's names, to disk.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return unavailable(err, "%s could not be brought to disk", path).WithFix("look at the system's log for disk errors")
	}
	return nil
}

const (
	backupPrefix = "auto-"
	backupSuffix = ".db"
	stamp        = "20060102T150405.000000000Z" // sorts as text
)

// Backups keeps the newest automatic backups of a store in a folder. Files of
// other names in the folder are left alone.
type Backups struct {
	Store  *Store
	Folder string // made when missing
	Keep   int    // at least 1
}

// Make writes a backup named for the moment and removes the oldest ones beyond
// Keep. It returns the new one's path, also when removing failed.
func (b *Backups) Make(ctx context.Context, now time.Time) (string, error) {
	if err := os.MkdirAll(b.Folder, 0o700); err != nil {
		return "", unwritable(b.Folder, err)
	}
	path := filepath.Join(b.Folder, backupPrefix+now.UTC().Format(stamp)+backupSuffix)
	if err := b.Store.Backup(ctx, path); err != nil {
		return "", err
	}
	return path, b.prune()
}

// List returns the paths of the automatic backups, newest first.
func (b *Backups) List() ([]string, error) {
	entries, err := os.ReadDir(b.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing backups: %w", err)
	}
	var paths []string
	for _, e := range entries {
		when, isAuto := strings.CutPrefix(strings.TrimSuffix(e.Name(), backupSuffix), backupPrefix)
		if _, err := time.Parse(stamp, when); isAuto && err == nil && e.Type().IsRegular() {
			paths = append(paths, filepath.Join(b.Folder, e.Name()))
		}
	}
	slices.Reverse(paths) // ReadDir sorts by name, and names sort by moment
	return paths, nil
}

func (b *Backups) prune() error {
	paths, err := b.List()
	if err != nil {
		return err
	}
	keep := min(max(b.Keep, 1), len(paths))
	var errs []error
	for _, p := range paths[keep:] {
		errs = append(errs, os.Remove(p))
	}
	return errors.Join(errs...)
}
