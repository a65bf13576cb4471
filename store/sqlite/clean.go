package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"coppice"
)

// checkOnOpen is the maximum size of a database that Open checks if it was not
// closed cleanly. A larger database is checked while the server already answers.
const checkOnOpen = 4 << 20

// markPath returns the path of the mark of a clean close, beside the database. The
// mark describes the closed file. Open removes it and Close writes it again. It no
// longer matches if a killed process, another program or a bad copy has changed
// the file since. If a loss of power brings an old mark back, it matches only an
// unchanged file.
func markPath(path string) string { return path + ".clean" }

// atRest describes a database that no process has open. It fails if a write-ahead
// log shows that the database was not closed.
func atRest(path string) (string, error) {
	if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() > 0 {
		return "", errors.New("its write-ahead log is not empty")
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	node := uint64(0)
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		node = uint64(st.Ino)
	}
	return fmt.Sprintf("%d %d %d\n", info.Size(), info.ModTime().UnixNano(), node), nil
}

// Unclean reports whether the database at a path was not closed cleanly, or was
// changed since then. It must not be open in a store.
func Unclean(path string) bool {
	now, err := atRest(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	mark, readErr := os.ReadFile(markPath(path))
	return err != nil || readErr != nil || string(mark) != now
}

// removeMark removes the mark and reports whether the database must be checked.
func removeMark(path string) (unclean bool, err error) {
	unclean = Unclean(path)
	err = os.Remove(markPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return unclean, err
}

// writeMark marks a database as cleanly closed.
func writeMark(path string) error {
	now, err := atRest(path)
	if err != nil {
		return err
	}
	return os.WriteFile(markPath(path), []byte(now), 0o600)
}

// check reads the whole database and returns an error if it is damaged.
func (c *conn) check(ctx context.Context) error {
	var verdict string
	err := c.raw.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return damaged(c.path, err)
	case verdict != "ok":
		return damaged(c.path, errors.New(verdict))
	}
	return nil
}

// Check reads the whole database if it was not closed cleanly, with the lowest
// priority that the system has. If it finds damage, it returns an error, and so do
// Intact and every Update from then on.
func (s *Store) Check(ctx context.Context) error {
	if !s.unchecked.Load() {
		return nil
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.running.Done()
	s.cfg.Logger.Info("the database was not closed cleanly; it is checked in the background", "path", s.cfg.Path)
	done := make(chan error, 1)
	go func() { // its thread ends with it
		lowestPriority()
		done <- s.readAll(ctx)
	}()
	err := <-done
	var damage *coppice.Error
	switch {
	case errors.As(err, &damage):
		s.damage.Store(damage)
		s.cfg.Logger.Error("the database is damaged; no more changes are written", "error", err, "cause", damage.Err)
	case err == nil:
		s.unchecked.Store(false)
		s.cfg.Logger.Info("the database has no damage", "path", s.cfg.Path)
	}
	return err
}

func (s *Store) readAll(ctx context.Context) error {
	c, err := dial(ctx, s.cfg.Path, dsn(s.cfg.Path, "query_only(1)"))
	if err != nil {
		return err
	}
	defer c.close()
	return c.check(ctx)
}
