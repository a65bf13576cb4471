package gitfiles

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// indexEntry is one entry of an index.
type indexEntry struct {
	path string
	entry
	stat   [40]byte // of its file when it was staged: times, inode, size
	marked bool     // git does not look at its file, or the file may be missing
}

// index is the content of an index: its entries, sorted by path.
type index struct {
	files []indexEntry
	trees []byte // the extension with the ids of directories, or nil
	more  bool   // it has other extensions
}

// readIndex reads an index. It refuses an index with conflicts, with entries in
// other files, or with entries that are only intended to be added.
func readIndex(file string) (index, error) {
	b, err := ReadRegular(file, maxIndex)
	if err != nil {
		return index{}, err
	}
	x := index{files: make([]indexEntry, 0, len(b)/leastEntry)}
	err = eachEntry(b, func(e []byte, path, hash string) error {
		const stages, extended, assumeValid = 0x3000, 0x4000, 0x8000
		const intentToAdd, skipWorktree = 0x2000, 0x4000
		mode, flags := binary.BigEndian.Uint32(e[24:]), binary.BigEndian.Uint16(e[60:])
		more := uint16(0)
		if flags&extended != 0 {
			more = binary.BigEndian.Uint16(e[62:])
		}
		if flags&stages != 0 || more&intentToAdd != 0 {
			return ErrUseGit
		}
		f := indexEntry{path: path, entry: entry{mode: modeText(mode), hash: hash}}
		copy(f.stat[:], e)
		f.marked = flags&assumeValid != 0 || more&skipWorktree != 0
		if !isMergeable(f.mode) || f.mode == modeTree {
			return ErrUseGit
		}
		x.files = append(x.files, f)
		return nil
	}, func(name string, data []byte) {
		if name == "TREE" {
			x.trees = data
		} else {
			x.more = true
		}
	})
	return x, err
}

// leastEntry is the size of an entry with a short path.
const leastEntry = 72

// modeText returns a mode as trees have it.
func modeText(mode uint32) string {
	switch mode {
	case 0o100644:
		return "100644"
	case 0o100755:
		return "100755"
	}
	return strconv.FormatUint(uint64(mode), 8)
}

// eachEntry calls f with each entry of an index, its path and its hash, and extension
// with each extension.
func eachEntry(b []byte, f func(e []byte, path, hash string) error, extension func(name string, data []byte)) error {
	if len(b) < 12+sha1.Size || string(b[:4]) != "DIRC" {
		return ErrUseGit
	}
	body, sum := b[:len(b)-sha1.Size], b[len(b)-sha1.Size:]
	if got := sha1.Sum(body); !bytes.Equal(got[:], sum) {
		return ErrUseGit
	}
	version, n := binary.BigEndian.Uint32(body[4:]), binary.BigEndian.Uint32(body[8:])
	if version != 2 && version != 3 {
		return ErrUseGit
	}
	rest, text := body[12:], string(body) // paths and hashes share one string
	for range n {
		const fixed = 62
		if len(rest) < fixed {
			return ErrUseGit
		}
		head := fixed
		if binary.BigEndian.Uint16(rest[60:])&0x4000 != 0 {
			if head += 2; len(rest) < head {
				return ErrUseGit
			}
		}
		end := bytes.IndexByte(rest[head:], 0)
		size := (head + end + 8) &^ 7
		if end <= 0 || size > len(rest) {
			return ErrUseGit
		}
		at := len(body) - len(rest)
		if err := f(rest, text[at+head:at+head+end], text[at+40:at+60]); err != nil {
			return err
		}
		rest = rest[size:]
	}
	for len(rest) > 0 {
		// A reader must understand an extension whose name starts with a small letter.
		if len(rest) < 8 || rest[0] < 'A' || rest[0] > 'Z' {
			return ErrUseGit
		}
		size := 8 + uint64(binary.BigEndian.Uint32(rest[4:]))
		if size > uint64(len(rest)) {
			return ErrUseGit
		}
		extension(string(rest[:4]), rest[8:size])
		rest = rest[size:]
	}
	return nil
}

// writeIndexTree writes the tree of the entries of an index. It does not write the
// old tree, or trees in it, again.
func (r *Repo) writeIndexTree(files []indexEntry, old string) (string, error) {
	read := func(id string) []entry {
		was, _ := r.tree(id) // if it is packed, more is written than necessary
		return was
	}
	return indexTree(files, 0, old, read, func(data []byte) (string, error) { return r.writeObject("tree", data) })
}

// hashTree returns the id of a tree with this content.
func hashTree(data []byte) (string, error) { return hashOf(withHeader("tree", data)), nil }

// indexTree creates the tree of files in one directory, whose path has above bytes.
// It does not write the old tree, or trees in it.
func indexTree(files []indexEntry, above int, old string, read func(id string) []entry, write func(data []byte) (string, error)) (string, error) {
	var was []entry
	if old != "" {
		was = read(old)
	}
	var all []entry
	seen := map[string]bool{}
	for len(files) > 0 {
		name, _, deeper := strings.Cut(files[0].path[above:], "/")
		if seen[name] || name == "" || name == "." || name == ".." || strings.EqualFold(name, ".git") {
			return "", ErrUseGit
		}
		seen[name] = true
		e, n := entry{name, files[0].mode, files[0].hash}, 1
		if deeper {
			dir := files[0].path[:above+len(name)+1]
			for n < len(files) && strings.HasPrefix(files[n].path, dir) {
				n++
			}
			e.mode = modeTree
			before := ""
			if i, found := slices.BinarySearchFunc(was, e, compareEntries); found {
				before = was[i].id()
			}
			id, err := indexTree(files[:n], len(dir), before, read, write)
			if err != nil {
				return "", err
			}
			hash, err := hex.DecodeString(id)
			if err != nil {
				return "", err
			}
			e.hash = string(hash)
		}
		all = append(all, e)
		files = files[n:]
	}
	data := treeData(all)
	if id, _ := hashTree(data); id == old {
		return old, nil
	}
	return write(data)
}
