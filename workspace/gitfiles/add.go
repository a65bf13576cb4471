package gitfiles

import (
	"encoding/hex"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of files that are staged. Git compresses them, and this package does not.
const (
	maxAdded      = 100
	maxAddedBytes = 64 << 10
)

// AddAll stages all files of a checkout that are not ignored, as git add --all does.
// The rules are those of core.excludesFile. The caller makes sure that no setting
// changes the content of files.
func (c *Checkout) AddAll(rules string) error {
	if err := Lock(c.index+".lock", c.git); err != nil {
		return ErrUseGit
	}
	defer os.Remove(c.index + ".lock")
	x, info, err := c.readOwn()
	if err != nil || info == nil || c.isPlain(x, nil) != nil {
		return ErrUseGit
	}
	user, err := parseRules(".", rules)
	if err != nil {
		return err
	}
	sets, err := readRules([]ruleSet{user}, ".", c.repo.path("info/exclude"))
	if err != nil {
		return err
	}
	a := &adding{c: c, tracked: make(map[string]*indexEntry, len(x.files)), real: realDirs{c.dir: true}}
	for i := range x.files {
		a.tracked[x.files[i].path] = &x.files[i]
	}
	if err := a.walk(".", sets); err != nil {
		return err
	}
	for i := range x.files {
		if err := a.update(&x.files[i], info); err != nil {
			return err
		}
	}
	if len(a.changes) == 0 {
		return nil
	}
	return a.write(x)
}

// adding is what AddAll has found.
type adding struct {
	c       *Checkout
	tracked map[string]*indexEntry
	real    realDirs
	changes []Change // paths whose entries change
	added   []indexEntry
}

// walk finds new files in a directory.
func (a *adding) walk(dir string, sets []ruleSet) error {
	entries, err := os.ReadDir(filepath.Join(a.c.dir, dir))
	if err != nil {
		return err
	}
	if sets, err = readRules(sets, dir, a.c.ignoreFile(dir)); err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case name == ".git":
		case strings.EqualFold(e.Name(), ".git") || e.Name() == ".gitattributes":
			return ErrUseGit
		case a.tracked[name] != nil && !e.IsDir():
		case isIgnored(sets, name, e.IsDir()):
		case e.IsDir():
			err = a.walk(name, sets)
		default:
			err = a.stage(indexEntry{path: name})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// update stages a tracked file again if it changed, and removes it from the index if
// it is gone.
func (a *adding) update(f *indexEntry, index os.FileInfo) error {
	file := filepath.Join(a.c.dir, filepath.FromSlash(f.path))
	info, err := os.Lstat(file)
	if err != nil && !Absent(err) {
		return err
	}
	if err != nil || info.IsDir() || !a.real.has(filepath.Dir(file)) {
		a.changes = append(a.changes, Change{Path: f.path})
		return nil
	}
	if fileMode(info) == f.mode && f.hasStat(info) && info.ModTime().Before(index.ModTime()) {
		return nil
	}
	return a.stage(*f)
}

// stage writes the blob of a file and its entry.
func (a *adding) stage(f indexEntry) error {
	file := filepath.Join(a.c.dir, filepath.FromSlash(f.path))
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(f.path, "/") {
		if !isUsualName(name) {
			return ErrUseGit
		}
	}
	mode := fileMode(info)
	var data []byte
	switch mode {
	case "":
		return ErrUseGit
	case ModeLink:
		to, err := os.Readlink(file)
		if err != nil {
			return err
		}
		data = []byte(to)
	default:
		if data, err = ReadRegular(file, maxAddedBytes); err != nil {
			return err
		}
	}
	id, err := a.c.repo.writeObject("blob", data)
	if err != nil {
		return err
	}
	hash, err := hex.DecodeString(id)
	if err != nil {
		return err
	}
	staged := indexEntry{path: f.path, entry: entry{mode: mode, hash: string(hash)}}
	if a.changes = append(a.changes, Change{Path: f.path}); len(a.changes) > maxAdded {
		return ErrUseGit
	}
	err = staged.setStat(info)
	a.added = append(a.added, staged)
	return err
}

// write writes the index with the changed entries.
func (a *adding) write(x index) error {
	changed := map[string]bool{}
	for _, ch := range a.changes {
		changed[ch.Path] = true
	}
	x.files = append(slices.DeleteFunc(x.files, func(f indexEntry) bool { return changed[f.path] }), a.added...)
	slices.SortFunc(x.files, func(a, b indexEntry) int { return strings.Compare(a.path, b.path) })
	return x.write(a.c.index, a.changes)
}
