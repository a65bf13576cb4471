package sqlite

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	backupPrefix = "auto-"
	backupSuffix = ".db"
	packedSuffix = ".gz"                        // besides, since they are compressed
	stamp        = "20060102T150405.000000000Z" // sorts as text
)

// Backups keeps the newest automatic backups of a store in a folder, compressed.
// Files of other names in the folder are left alone.
type Backups struct {
	Store  *Store
	Folder string // made when missing
	Keep   int    // how many; at least 1
	// Most returns how many bytes they may take together, though the newest is
	// always kept; 0 means no limit. Nil means no limit.
	Most func() (int64, error)

	making sync.Mutex // held by who makes one
}

// Make writes a backup named for the moment and removes the oldest ones beyond
// the limits. It returns the new one's path, also when removing failed.
func (b *Backups) Make(ctx context.Context, now time.Time) (string, error) {
	b.making.Lock()
	defer b.making.Unlock()
	if err := os.MkdirAll(b.Folder, 0o700); err != nil {
		return "", unwritable(b.Folder, err)
	}
	if err := b.sweep(); err != nil {
		return "", err
	}
	path := filepath.Join(b.Folder, backupPrefix+now.UTC().Format(stamp)+backupSuffix+packedSuffix)
	temp, err := tempBeside(path)
	if err != nil {
		return "", err
	}
	defer os.Remove(temp)
	if err := os.Remove(temp); err != nil { // Backup makes it
		return "", err
	}
	if err := b.Store.Backup(ctx, temp); err != nil {
		return "", err
	}
	if err := compress(ctx, temp, path); err != nil {
		return "", err
	}
	return path, b.prune()
}

// sweep removes what a killed process left of a backup.
func (b *Backups) sweep() error {
	entries, err := os.ReadDir(b.Folder)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "."+backupPrefix) && strings.HasSuffix(e.Name(), ".tmp") {
			err = errors.Join(err, os.Remove(filepath.Join(b.Folder, e.Name())))
		}
	}
	return err
}

// compress writes a file compressed under another name, which must be free, with
// the lowest priority that the system has.
func compress(ctx context.Context, from, to string) error {
	temp, err := tempBeside(to)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	done := make(chan error, 1)
	go func() { // whose thread ends with it
		lowestPriority()
		done <- gzipFile(ctx, from, temp)
	}()
	if err := <-done; err != nil {
		return err
	}
	return publish(temp, to)
}

func gzipFile(ctx context.Context, from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer dst.Close()
	zip, err := gzip.NewWriterLevel(dst, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := io.Copy(zip, whileRunning{ctx, src}); err != nil {
		return noSpace(to, err)
	}
	return noSpace(to, errors.Join(zip.Close(), dst.Sync()))
}

// noSpace explains why a copy cannot be written.
func noSpace(path string, err error) error {
	if err == nil {
		return nil
	}
	return unavailable(err, "the copy in %s cannot be written: %v", filepath.Dir(path), err).WithFix("free some space there")
}

// whileRunning reads until its context ends.
type whileRunning struct {
	ctx context.Context
	io.Reader
}

func (r whileRunning) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

// List returns the paths of the automatic backups, newest first. Those of earlier
// versions are not compressed.
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
		when, isAuto := strings.CutPrefix(strings.TrimSuffix(strings.TrimSuffix(e.Name(), packedSuffix), backupSuffix), backupPrefix)
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
	var errs []error
	most := int64(0)
	if b.Most != nil {
		most, err = b.Most()
		errs = append(errs, err)
	}
	size := int64(0)
	for i, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if size += info.Size(); i > 0 && (i >= b.Keep || most > 0 && size > most) {
			errs = append(errs, os.Remove(p))
		}
	}
	return errors.Join(errs...)
}
