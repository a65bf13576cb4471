package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"coppice"
	"coppice/internal/atomicfile"
)

// revision identifies a content. A missing file has the revision of an empty
// one.
func revision(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}

// Apply makes one change to the coppice.yaml at the root of a repository and
// returns the resulting policy. A revision other than "" must be that of the
// current file. accept checks the new policy before it is written, and use gets
// it afterwards; either can be nil. The file is replaced atomically. On any
// error it keeps its content.
func Apply(dir string, c Change, rev string, accept, use func(coppice.Policy) error) (coppice.Policy, error) {
	before, after, p, err := prepare(dir, c, rev, accept)
	if err != nil || bytes.Equal(before, after) {
		return p, err
	}
	if err := swap(dir, File, before, after, func() error {
		if use == nil {
			return nil
		}
		return use(p)
	}); err != nil {
		return coppice.Policy{}, err
	}
	return p, nil
}

// swap replaces a file of a repository atomically: nil stands for a missing file.
// It is refused if the file is not as it was before. use is called afterwards, and
// if it fails, the file gets its content back.
func swap(dir, name string, before, after []byte, use func() error) error {
	path, mode, err := place(dir, name)
	if err != nil {
		return err
	}
	now, err := readFile(dir, name, MaxSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := unchanged(name, before, now); err != nil {
		return err
	}
	if err := putFile(path, after, mode); err != nil {
		return err
	}
	if err := use(); err != nil {
		return errors.Join(err, putFile(path, before, mode))
	}
	return nil
}

// unchanged refuses to replace a file that is not as it was before.
func unchanged(name string, before, now []byte) error {
	if bytes.Equal(before, now) && (before == nil) == (now == nil) {
		return nil
	}
	return coppice.Errorf(coppice.EConflict, "%s is being changed by another process", name).WithFix("try again")
}

// sameRevision refuses a change of a text that is not the one that was read.
func sameRevision(name, rev string, text []byte) error {
	if rev == "" || rev == revision(text) {
		return nil
	}
	return coppice.Errorf(coppice.EConflict, "%s was changed in the meantime", name).WithFix("read it again, then change it").WithField("revision")
}

// Preview returns what Apply would change in the file, as a unified diff, ""
// for nothing. It fails where Apply would, and writes nothing.
func Preview(dir string, c Change, rev string, accept func(coppice.Policy) error) (string, error) {
	before, after, _, err := prepare(dir, c, rev, accept)
	if err != nil || bytes.Equal(before, after) {
		return "", err
	}
	return diffOf(File, before, after), nil
}

func diffOf(name string, before, after []byte) string {
	return fmt.Sprintf("--- %s\n+++ %s\n%s", name, name, unified(lines(string(before)), lines(string(after))))
}

// prepare returns the file before and after a change, and the resulting policy.
func prepare(dir string, c Change, rev string, accept func(coppice.Policy) error) (before, after []byte, p coppice.Policy, err error) {
	if before, err = Read(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, p, err
	}
	if err = sameRevision(File, rev, before); err != nil {
		return nil, nil, p, err
	}
	if after, err = Edit(File, before, c); err != nil {
		return nil, nil, p, err
	}
	d := newDecoder(File, after)
	if p, err = d.policy(); err == nil {
		err = d.checkLinks(dir, p)
	}
	if err == nil {
		err = withKey(loadTrackers(dir, d, &p), after)
	}
	if err == nil && accept != nil {
		err = accept(p)
	}
	return before, after, p, err
}

// Value returns a policy's value for a key, as JSON. It is null if the key has
// none.
func Value(p coppice.Policy, key string) (json.RawMessage, error) { return valueOf(project, p, key) }

func valueOf(f form, v any, key string) (json.RawMessage, error) {
	path, err := parseKey(f, key)
	if err != nil {
		return nil, err
	}
	return coppice.Raw(lookup(keysOf(v), path)), nil
}

// place returns the path of a file of a repository. It follows a link within the
// repository, and refuses one that leaves it.
func place(dir, name string) (path string, mode fs.FileMode, err error) {
	root, rel, err := locate(dir, name)
	path = filepath.Join(root, rel)
	if errors.Is(err, fs.ErrNotExist) {
		return path, 0o644, nil
	}
	if err != nil {
		return "", 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", 0, unreadable(path, err)
	}
	return path, info.Mode().Perm(), nil
}

// write replaces the content of a file atomically.
func write(path string, b []byte, mode fs.FileMode) error {
	return unwritable(path, atomicfile.Write(path, b, mode))
}

// putFile writes a file of a repository, with its directory, or removes it if its
// content is nil.
func putFile(path string, b []byte, mode fs.FileMode) error {
	if b == nil {
		return unwritable(path, os.Remove(path))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return unwritable(path, err)
	}
	return write(path, b, mode)
}

func unwritable(path string, err error) error {
	if err == nil {
		return nil
	}
	return coppice.Errorf(coppice.EUnavailable, "%s cannot be written: %w", path, err).
		WithFix("make its directory writable for the user who runs coppice, and check that the disk is not full")
}
