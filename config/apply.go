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
	path, mode, err := place(dir)
	if err != nil {
		return coppice.Policy{}, err
	}
	before, after, p, err := prepare(dir, c, rev, accept)
	if err != nil || bytes.Equal(before, after) {
		return p, err
	}
	now, err := Read(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return coppice.Policy{}, err
	}
	if !bytes.Equal(before, now) {
		return coppice.Policy{}, coppice.Errorf(coppice.EConflict, "%s is being changed by another process", File).WithFix("try again")
	}
	if err := write(path, after, mode); err != nil || use == nil {
		return p, err
	}
	if err := use(p); err != nil {
		if now == nil {
			return coppice.Policy{}, errors.Join(err, os.Remove(path))
		}
		return coppice.Policy{}, errors.Join(err, write(path, before, mode))
	}
	return p, nil
}

// Preview returns what Apply would change in the file, as a unified diff, ""
// for nothing. It fails where Apply would, and writes nothing.
func Preview(dir string, c Change, rev string, accept func(coppice.Policy) error) (string, error) {
	before, after, _, err := prepare(dir, c, rev, accept)
	if err != nil || bytes.Equal(before, after) {
		return "", err
	}
	return fmt.Sprintf("--- %s\n+++ %s\n%s", File, File, unified(lines(string(before)), lines(string(after)))), nil
}

// prepare returns the file before and after a change, and the resulting policy.
func prepare(dir string, c Change, rev string, accept func(coppice.Policy) error) (before, after []byte, p coppice.Policy, err error) {
	if before, err = Read(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, p, err
	}
	if rev != "" && rev != revision(before) {
		return nil, nil, p, coppice.Errorf(coppice.EConflict, "%s was changed in the meantime", File).
			WithFix("read it again, then change it").WithField("revision")
	}
	if after, err = Edit(File, before, c); err != nil {
		return nil, nil, p, err
	}
	d := newDecoder(File, after)
	if p, err = d.policy(); err == nil {
		err = d.checkLinks(dir, p)
	}
	if err == nil && accept != nil {
		err = accept(p)
	}
	return before, after, p, err
}

// Value returns a policy's value for a key, as JSON. It is null if the key has
// none.
func Value(p coppice.Policy, key string) (json.RawMessage, error) {
	path, err := parseKey(project, key)
	if err != nil {
		return nil, err
	}
	return coppice.Raw(lookup(treeOf(p), path)), nil
}

// place returns the file's path. It follows a link within the repository, and
// refuses one that leaves it.
func place(dir string) (path string, mode fs.FileMode, err error) {
	root, rel, err := locate(dir, File)
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
	if err := atomicfile.Write(path, b, mode); err != nil {
		return coppice.Errorf(coppice.EUnavailable, "%s cannot be written: %w", path, err).
			WithFix("make its directory writable for the user who runs coppice, and check that the disk is not full")
	}
	return nil
}
