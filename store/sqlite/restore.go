package sqlite

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"coppice"
)

// Restore replaces a database that no store has open by a backup. It checks the
// backup first. It keeps the replaced database and its write-ahead log as
// <name>.before-restore-<time>.
func Restore(ctx context.Context, from, to string) error {
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	l, err := acquire(ctx, to)
	if err != nil {
		return err
	}
	defer l.release()

	temp, err := tempBeside(to)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	if err := copyFile(from, temp); err != nil {
		return err
	}
	if err := checkBackup(ctx, from, temp); err != nil {
		return err
	}
	if err := setAside(to, to+".before-restore-"+time.Now().UTC().Format(stamp)); err != nil {
		return unwritable(filepath.Dir(to), err)
	}
	if err := removeIndex(filepath.Join(filepath.Dir(to), IndexFile)); err != nil { // it belongs to the replaced database
		return err
	}
	if err := os.Rename(temp, to); err != nil {
		return unwritable(filepath.Dir(to), err)
	}
	return syncFile(filepath.Dir(to))
}

// checkBackup checks a copy of the backup, because opening a file might change it.
func checkBackup(ctx context.Context, from, temp string) error {
	fresh, err := makeFile(temp)
	if err == nil && fresh {
		err = errors.New("it is empty")
	}
	if err == nil {
		err = inspectCopy(ctx, from, temp)
	}
	var e *coppice.Error
	if errors.As(err, &e) && (e.Code == coppice.EInvalid || e.Code == coppice.EConflict) {
		c := *e // the backup belongs to another program or a newer Coppice
		c.Fix = "choose another backup"
		return &c
	}
	if err != nil {
		return unavailable(err, "the backup %s is damaged; nothing was changed", from).WithFix("choose another backup")
	}
	return nil
}

func inspectCopy(ctx context.Context, from, temp string) error {
	c, err := dial(ctx, from, dsn(temp))
	if err != nil {
		return err
	}
	defer c.close()
	version, err := inspect(c)
	if err == nil {
		err = c.check(ctx)
	}
	if err == nil && version == 0 {
		err = errors.New("it has no schema")
	}
	return err
}

func copyFile(from, to string) error {
	src, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return coppice.Errorf(coppice.ENotFound, "there is no backup %s", from).WithFix("choose one from the folder %s of the state directory", BackupsFolder)
	}
	if err != nil {
		return unavailable(err, "the backup %s cannot be read", from).WithFix("make it readable for this user")
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return unwritable(filepath.Dir(to), err)
	}
	defer dst.Close()
	content, err := unpacked(src)
	if err == nil {
		_, err = io.Copy(dst, content)
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return unwritable(filepath.Dir(to), err)
	} else if err != nil {
		return unavailable(err, "the backup %s is damaged; nothing was changed", from).WithFix("choose another backup")
	}
	if err := dst.Sync(); err != nil {
		return unwritable(filepath.Dir(to), err)
	}
	return nil
}

// unpacked returns the content of a file that might be compressed.
func unpacked(f *os.File) (io.Reader, error) {
	head := make([]byte, 2)
	n, err := f.ReadAt(head, 0)
	if n < len(head) || head[0] != 0x1f || head[1] != 0x8b {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return f, err
	}
	return gzip.NewReader(f)
}

// setAside gives the old database a second name. It keeps the first name until the
// new database replaces it, so a crash in between loses nothing. The write-ahead
// log is renamed first: otherwise SQLite would apply it to the new database.
func setAside(path, aside string) error {
	err := os.Link(path, aside)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // there is no old database
	} else if err != nil {
		err = copyAside(path, aside) // a file system without links
	}
	if err != nil {
		return err
	}
	if err := os.Rename(path+"-wal", aside+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Remove(path + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func copyAside(path, aside string) error {
	f, err := os.OpenFile(aside, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return copyFile(path, aside)
}
