package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

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
		defer s.readers.give(c)
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
