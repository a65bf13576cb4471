package gitfiles

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Limits of what is written to a checkout. Git is faster with more.
const (
	maxPlaced      = 1000
	maxPlacedBytes = 32 << 20
)

// Reset brings the files and the index of a checkout to a commit, as git reset
// --hard does. It writes the files that differ from the index, and removes those
// that the commit does not have. The caller makes sure that no setting changes the
// content of files. After an error some files may be written, and git has to do the
// whole step.
func (c *Checkout) Reset(commit string) error {
	x, info, err := c.readOwn()
	if err != nil {
		return err
	}
	to, err := c.repo.Commit(commit)
	if err != nil {
		return err
	}
	changes, err := c.repo.changesTo(x.files, to.Tree)
	if err != nil {
		return err
	}
	changed := map[string]bool{}
	for _, ch := range changes {
		changed[ch.Path] = true
	}
	real := realDirs{c.dir: true}
	for i := range x.files {
		f := &x.files[i]
		if !changed[f.path] && !c.isReset(f, info, real) {
			changes = append(changes, Change{Path: f.path, OldMode: f.mode, Old: f.id(), NewMode: f.mode, New: f.id()})
		}
	}
	return c.apply(x, changes, time.Now().Add(-resetAge))
}

// resetAge is how much older than the index the files look that Reset writes. The
// clock of a file system advances every few milliseconds. Files that have the time
// of the index would be read again by each caller that looks for changes. A change
// sets another time, so it is found even in the same moment.
const resetAge = 50 * time.Millisecond

// readOwn reads an index that can be written again. A missing index is empty.
func (c *Checkout) readOwn() (index, os.FileInfo, error) {
	if c.repo.Off || runtime.GOOS != "linux" || !c.repo.usesSHA1() {
		return index{}, nil, ErrUseGit // elsewhere the file system may ignore the case of names
	}
	info, err := os.Lstat(c.index)
	if errors.Is(err, fs.ErrNotExist) {
		return index{}, nil, nil
	}
	if err != nil {
		return index{}, nil, err
	}
	x, err := readIndex(c.index)
	if err == nil && x.more {
		err = ErrUseGit
	}
	return x, info, err
}

// changesTo lists what differs between the entries of an index and a tree.
func (r *Repo) changesTo(files []indexEntry, tree string) ([]Change, error) {
	from := ""
	if len(files) > 0 {
		var err error
		if from, err = indexTree(files, 0, "", nil, hashTree); err != nil || from == tree {
			return nil, err
		}
	}
	return r.Diff(from, tree)
}

// isReset reports whether a file is as the last checkout wrote it. Unlike an
// unchanged file, it also has the same permissions.
func (c *Checkout) isReset(f *indexEntry, index os.FileInfo, real realDirs) bool {
	file := filepath.Join(c.dir, filepath.FromSlash(f.path))
	if !real.has(filepath.Dir(file)) {
		return false
	}
	info, err := os.Lstat(file)
	if err != nil || fileMode(info) != f.mode || !f.hasStat(info) {
		return false
	}
	if info.ModTime().Before(index.ModTime()) {
		return true
	}
	same, err := f.hasContent(file)
	return err == nil && same
}

// realDirs remembers which paths are directories, and are not reached through a link.
type realDirs map[string]bool

func (d realDirs) has(dir string) bool {
	is, known := d[dir]
	if !known {
		info, err := os.Lstat(dir)
		is = err == nil && info.IsDir() && d.has(filepath.Dir(dir))
		d[dir] = is
	}
	return is
}

// Stage writes the files that changes create to the directory of the checkout, which
// is empty, and changes the index, as git read-tree -m -u does. The index must have
// the old side of the changes. The caller makes sure that no setting changes the
// content of files. After an error some files may be written.
func (c *Checkout) Stage(changes []Change) error {
	x, info, err := c.readOwn()
	if err != nil || info == nil {
		return errors.Join(err, ErrUseGit)
	}
	for _, ch := range changes {
		i, found := x.find(ch.Path)
		if found != (ch.OldMode != "") || found && (x.files[i].mode != ch.OldMode || x.files[i].id() != ch.Old) {
			return ErrUseGit
		}
	}
	for i := range x.files {
		// After the index is written, its time no longer shows that the file may have
		// changed in the same second, which is what git compares. Git reads a file
		// whose entry has no size.
		if f := &x.files[i]; f.modified() >= info.ModTime().Unix() {
			clear(f.stat[statSize:])
		}
	}
	return c.apply(x, changes, time.Time{})
}

// find returns the position of a path in the index.
func (x index) find(path string) (int, bool) {
	return slices.BinarySearchFunc(x.files, path, func(f indexEntry, path string) int { return strings.Compare(f.path, path) })
}

// apply writes the new side of changes to the files, and then to the index. The files
// get the time at which they were modified, or that of the clock if it is zero.
func (c *Checkout) apply(x index, changes []Change, modified time.Time) error {
	if err := c.isPlain(x, changes); err != nil {
		return err
	}
	blobs, err := c.repo.newBlobs(changes)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	files := map[string]indexEntry{}
	for _, f := range x.files {
		files[f.path] = f
	}
	for _, ch := range changes {
		if ch.NewMode != "" {
			continue // its path is replaced
		}
		if err := removeFile(root, ch); err != nil {
			return err
		}
		delete(files, ch.Path)
	}
	at := openDir{root: root}
	defer at.close()
	for i, ch := range changes {
		if ch.NewMode == "" {
			continue
		}
		dir, err := at.open(path.Dir(ch.Path))
		if err != nil {
			return err
		}
		if files[ch.Path], err = placeFile(dir, ch, blobs[i], modified); err != nil {
			return err
		}
	}
	x.files = x.files[:0:0]
	for _, f := range files {
		x.files = append(x.files, f)
	}
	slices.SortFunc(x.files, func(a, b indexEntry) int { return strings.Compare(a.path, b.path) })
	return x.write(c.index, changes)
}

// isPlain returns nil if the new files have the bytes of their blobs, and if git
// accepts their names.
func (c *Checkout) isPlain(x index, changes []Change) error {
	if len(changes) > maxPlaced || exists(c.repo.path("info/attributes")) {
		return ErrUseGit
	}
	for _, f := range x.files {
		if f.marked || f.mode == ModeModule || path.Base(f.path) == ".gitattributes" {
			return ErrUseGit
		}
	}
	for _, ch := range changes {
		for name := range strings.SplitSeq(ch.Path, "/") {
			if !isUsualName(name) {
				return ErrUseGit
			}
		}
		if ch.NewMode == ModeModule {
			return ErrUseGit
		}
	}
	return nil
}

// newBlobs reads the content of the new side of each change.
func (r *Repo) newBlobs(changes []Change) ([][]byte, error) {
	all, size := make([][]byte, len(changes)), 0
	for i, ch := range changes {
		if ch.NewMode == "" {
			continue
		}
		data, err := r.read("blob", ch.New)
		if err != nil {
			return nil, err
		}
		if size += len(data); size > maxPlacedBytes || ch.NewMode == ModeLink && (len(data) == 0 || slices.Contains(data, 0)) {
			return nil, ErrUseGit
		}
		all[i] = data
	}
	return all, nil
}

// removeFile removes the old side of a change, and directories that are empty then.
func removeFile(root *os.Root, ch Change) error {
	dir := path.Dir(ch.Path)
	if ch.OldMode == "" || !isRealDir(root, dir) {
		return nil
	}
	if info, err := root.Lstat(ch.Path); err != nil || info.IsDir() {
		return nil // what is in it is not tracked
	}
	if err := root.Remove(ch.Path); err != nil {
		return err
	}
	for ; ch.NewMode == "" && dir != "." && root.Remove(dir) == nil; dir = path.Dir(dir) {
	}
	return nil
}

// isRealDir reports whether a path is a directory and is not reached through a link.
func isRealDir(root *os.Root, dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// openDir keeps the directory of the last change open. Changes come in order, so
// the next one is often in the same directory.
type openDir struct {
	root *os.Root
	dir  string
	last *os.Root // nil if it is the root
}

// open creates a directory if needed and opens it.
func (o *openDir) open(dir string) (*os.Root, error) {
	if dir == "." {
		return o.root, nil
	}
	if o.last != nil && o.dir == dir {
		return o.last, nil
	}
	o.close()
	if err := makeDirs(o.root, dir); err != nil {
		return nil, err
	}
	last, err := o.root.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	o.dir, o.last = dir, last
	return last, nil
}

func (o *openDir) close() {
	if o.last != nil {
		o.last.Close()
		o.last = nil
	}
}

// placeFile writes the new side of a change in place of everything that has its
// name in dir, and returns its entry in the index.
func placeFile(dir *os.Root, ch Change, data []byte, modified time.Time) (indexEntry, error) {
	name := path.Base(ch.Path)
	if err := dir.RemoveAll(name); err != nil {
		return indexEntry{}, err
	}
	var info os.FileInfo
	var err error
	switch ch.NewMode {
	case ModeLink:
		if err = dir.Symlink(string(data), name); err == nil {
			info, err = dir.Lstat(name)
		}
	case modeExec:
		info, err = writeNew(dir, name, data, 0o777, modified)
	default:
		info, err = writeNew(dir, name, data, 0o666, modified)
	}
	if err != nil {
		return indexEntry{}, err
	}
	hash, err := hex.DecodeString(ch.New)
	if err != nil {
		return indexEntry{}, err
	}
	f := indexEntry{path: ch.Path, entry: entry{mode: ch.NewMode, hash: string(hash)}}
	err = f.setStat(info)
	return f, err
}

// setStat sets the mode and the stat data of an entry.
func (f *indexEntry) setStat(info os.FileInfo) error {
	mode, err := strconv.ParseUint(f.mode, 8, 32)
	if err != nil {
		return err
	}
	putMode(f.stat[:], uint32(mode))
	return putStat(f.stat[:], info)
}

// makeDirs creates a directory and its parents, in place of files and links.
func makeDirs(root *os.Root, dir string) error {
	if dir == "." {
		return nil
	}
	if err := makeDirs(root, path.Dir(dir)); err != nil {
		return err
	}
	info, err := root.Lstat(dir)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		err = root.Remove(dir)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	return root.Mkdir(dir, 0o777)
}

// writeNew writes a new file and returns its stat data. O_NONBLOCK means nothing
// for a regular file; with it, os makes four system calls less.
func writeNew(dir *os.Root, name string, data []byte, mode fs.FileMode, modified time.Time) (os.FileInfo, error) {
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NONBLOCK, mode)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(data)
	if err == nil && !modified.IsZero() {
		err = dir.Chtimes(name, modified, modified)
	}
	var info os.FileInfo
	if err == nil {
		info, err = f.Stat()
	}
	return info, errors.Join(err, f.Close())
}
