// Package atomicfile writes files that appear whole or not at all, also when the
// machine crashes.
package atomicfile

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// TempPrefix is the start of the names of temporary files. A crash can leave one.
const TempPrefix = ".new-"

// Options say how a file is written.
type Options struct {
	Mode   fs.FileMode // its permissions, before it has any content; 0600 if zero
	NoSync bool        // it does not have to survive a crash of the machine
	New    bool        // if there is a file of that name, it stays, and the error is fs.ErrExist
	Temp   string      // the pattern of its temporary name, for os.CreateTemp
}

// Replace creates or replaces the file at path with what write writes. If write
// fails, the old file stays.
func Replace(path string, o Options, write func(f *os.File) error) (err error) {
	if o.Temp == "" {
		o.Temp = TempPrefix + filepath.Base(path) + ".*"
	}
	f, err := os.CreateTemp(filepath.Dir(path), o.Temp) // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if o.Mode != 0 {
		err = f.Chmod(o.Mode)
	}
	if err == nil {
		err = write(f)
	}
	if err == nil && !o.NoSync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if o.New {
		return linkNew(f.Name(), path)
	}
	return os.Rename(f.Name(), path)
}

// linkNew renames a file to a name that must be free.
func linkNew(from, to string) error {
	err := os.Link(from, to)
	if err == nil {
		return os.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL, 0o600) // a file system without links
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Rename(from, to))
}

// Write creates or replaces the file at path.
func Write(path string, data []byte, mode fs.FileMode) error {
	return Replace(path, Options{Mode: mode}, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// WriteJSON creates or replaces the file at path, which only the user can read.
func WriteJSON(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return Write(path, b, 0o600)
}
