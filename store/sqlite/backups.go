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
	autoPrefix   = "auto-"
	manualPrefix = "manual-"
	backupSuffix = ".db"
	packedSuffix = ".gz"                        // follows backupSuffix
	stamp        = "20060102T150405.000000000Z" // sorts as text
)

// Backups keeps the newest automatic backups of a store in a folder, compressed, and
// all that a person made. It does not touch files with other names in the folder.
type Backups struct {
	Store  *Store
	Folder string // created if it does not exist
	Keep   int    // the number of backups; at least 1
	// Most returns the maximum size of all backups together, in bytes; 0 means no
	// limit, and so does a nil Most. The newest backup is always kept.
	Most func() (int64, error)

	making sync.Mutex // held while a backup is written
}

// Make writes an automatic backup with the current time in its name and removes the
// oldest automatic ones beyond the limits. It returns the path of the new backup,
// even if removing old ones failed.
func (b *Backups) Make(ctx context.Context, now time.Time) (string, error) {
	return b.write(ctx, autoPrefix, now)
}

// MakeManual writes a backup for a person. It stays until the person removes it.
func (b *Backups) MakeManual(ctx context.Context, now time.Time) (string, error) {
	return b.write(ctx, manualPrefix, now)
}

func (b *Backups) write(ctx context.Context, prefix string, now time.Time) (string, error) {
	b.making.Lock()
	defer b.making.Unlock()
	if err := os.MkdirAll(b.Folder, 0o700); err != nil {
		return "", unwritable(b.Folder, err)
	}
	if err := b.sweep(); err != nil {
		return "", err
	}
	path := filepath.Join(b.Folder, prefix+now.UTC().Format(stamp)+backupSuffix+packedSuffix)
	temp, err := tempBeside(path)
	if err != nil {
		return "", err
	}
	defer os.Remove(temp)
	if err := os.Remove(temp); err != nil { // Backup creates it
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

// sweep removes incomplete backups of a killed process.
func (b *Backups) sweep() error {
	entries, err := os.ReadDir(b.Folder)
	for _, e := range entries {
		ours := strings.HasPrefix(e.Name(), "."+autoPrefix) || strings.HasPrefix(e.Name(), "."+manualPrefix)
		if ours && strings.HasSuffix(e.Name(), ".tmp") {
			err = errors.Join(err, os.Remove(filepath.Join(b.Folder, e.Name())))
		}
	}
	return err
}

// compress writes a compressed copy of a file to a path that must not exist, with
// the lowest priority that the system has.
func compress(ctx context.Context, from, to string) error {
	temp, err := tempBeside(to)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	done := make(chan error, 1)
	go func() { // its thread ends with it
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
	if _, err := io.Copy(zip, contextReader{ctx, src}); err != nil {
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

// contextReader reads until its context ends.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

// List returns the paths of the backups, newest first. Backups of earlier versions
// are not compressed.
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
		if backupTime(e.Name()) != "" && e.Type().IsRegular() {
			paths = append(paths, filepath.Join(b.Folder, e.Name()))
		}
	}
	slices.SortStableFunc(paths, func(a, b string) int {
		return strings.Compare(backupTime(filepath.Base(b)), backupTime(filepath.Base(a)))
	})
	return paths, nil
}

// backupTime returns the time in the name of a backup, which sorts as text. It
// returns "" for another file.
func backupTime(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, packedSuffix), backupSuffix)
	for _, prefix := range []string{autoPrefix, manualPrefix} {
		when, ours := strings.CutPrefix(name, prefix)
		if _, err := time.Parse(stamp, when); ours && err == nil {
			return when
		}
	}
	return ""
}

func (b *Backups) prune() error {
	paths, err := b.List()
	if err != nil {
		return err
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return !strings.HasPrefix(filepath.Base(p), autoPrefix) })
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
