package workspace

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// What an agent left is staged by git, which knows about filters and the like,
// and committed here: an index that is plain says all that a commit holds.

// maxIndex bounds an index that is read here; git is faster with larger ones.
const maxIndex = 1 << 20

// stagedFile is one entry of an index.
type stagedFile struct {
	path string
	entry
	seen [40]byte // how its file was when it was staged: times, inode, size
	odd  bool     // its file is not to be looked at, or need not be there
}

// readIndex reads the entries of an index, which are sorted by path. It is odd
// where they are not all there is to know: conflicts, parts kept elsewhere, files
// that are only meant to be added.
func readIndex(file string) ([]stagedFile, error) {
	b, err := readRegular(file, maxIndex)
	if err != nil {
		return nil, err
	}
	var list []stagedFile
	err = eachEntry(b, func(e []byte, path string) error {
		mode, flags := binary.BigEndian.Uint32(e[24:]), binary.BigEndian.Uint16(e[60:])
		more := uint16(0)
		if flags&0x4000 != 0 {
			if more = binary.BigEndian.Uint16(e[62:]); more&0x2000 != 0 { // it is only meant to be added
				return errOdd
			}
		}
		if flags&0x3000 != 0 {
			return errOdd
		}
		f := stagedFile{path: path, entry: entry{mode: strconv.FormatUint(uint64(mode), 8), hash: string(e[40:60])}}
		copy(f.seen[:], e)
		f.odd = flags&0x8000 != 0 || more&0x4000 != 0
		switch f.mode {
		case "100644", "100755", modeLink, modeModule:
		default:
			return errOdd
		}
		list = append(list, f)
		return nil
	})
	return list, err
}

// eachEntry calls f with each entry of an index and its path. It is odd where git
// must read the index.
func eachEntry(b []byte, f func(e []byte, path string) error) error {
	if len(b) < 12+sha1.Size || string(b[:4]) != "DIRC" {
		return errOdd
	}
	body, sum := b[:len(b)-sha1.Size], b[len(b)-sha1.Size:]
	if got := sha1.Sum(body); !bytes.Equal(got[:], sum) {
		return errOdd
	}
	version, n := binary.BigEndian.Uint32(body[4:]), binary.BigEndian.Uint32(body[8:])
	if version != 2 && version != 3 {
		return errOdd
	}
	rest := body[12:]
	for range n {
		const fixed = 62
		if len(rest) < fixed {
			return errOdd
		}
		head := fixed
		if binary.BigEndian.Uint16(rest[60:])&0x4000 != 0 {
			if head += 2; len(rest) < head {
				return errOdd
			}
		}
		end := bytes.IndexByte(rest[head:], 0)
		whole := (head + end + 8) &^ 7
		if end <= 0 || whole > len(rest) {
			return errOdd
		}
		if err := f(rest, string(rest[head:head+end])); err != nil {
			return err
		}
		rest = rest[whole:]
	}
	for len(rest) > 0 {
		// An extension whose name begins with a small letter must be understood.
		if len(rest) < 8 || rest[0] < 'A' || rest[0] > 'Z' {
			return errOdd
		}
		size := 8 + uint64(binary.BigEndian.Uint32(rest[4:]))
		if size > uint64(len(rest)) {
			return errOdd
		}
		rest = rest[size:]
	}
	return nil
}

// writeStaged writes the tree of an index's files. What the old tree has is not
// written again.
func writeStaged(common string, files []stagedFile, old string) (string, error) {
	read := func(id string) []entry {
		was, _ := readTree(common, id) // packed: then more is written than needs be
		return was
	}
	return stagedTree(files, 0, old, read, func(data []byte) (string, error) { return writeObject(common, "tree", data) })
}

// hashTree returns the id of a tree with this content.
func hashTree(data []byte) (string, error) { return hashOf(whole("tree", data)), nil }

// stagedTree makes the tree of files that are all below the same directory, and
// whose paths have so many letters above it. It does not write the old tree, if
// there is one, nor those in it.
func stagedTree(files []stagedFile, above int, old string, read func(id string) []entry, write func(data []byte) (string, error)) (string, error) {
	var was []entry
	if old != "" {
		was = read(old)
	}
	var all []entry
	seen := map[string]bool{}
	for len(files) > 0 {
		name, _, deeper := strings.Cut(files[0].path[above:], "/")
		if seen[name] || name == "" || name == "." || name == ".." || strings.EqualFold(name, ".git") {
			return "", errOdd
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
			id, err := stagedTree(files[:n], len(dir), before, read, write)
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

// savePlainly stages and commits everything in a workspace with one call of git,
// where nothing unusual is in the way. On any error git has to do it step by step,
// which finds the same and can say more about it.
func (w *Workspaces) savePlainly(ctx context.Context, r repo, s slot, message string, config, exclude []string) (head string, changed bool, err error) {
	dir := r.inside(s).git
	if inProgress(dir) {
		return "", false, errOdd
	}
	if _, err := readIndex(filepath.Join(dir, "index")); err != nil {
		return "", false, err // it may have conflicts, which must not be staged
	}
	if _, err := w.git.Do(ctx, stageAll(r.path(s), config)); err != nil {
		return "", false, err
	}
	return w.commitPlainly(ctx, r, s, message, exclude)
}

// commitPlainly commits what is staged onto the branch of a workspace, as git
// commit does, and returns the branch's head. It is odd where git must do it, and
// where something of what is excluded is staged.
func (w *Workspaces) commitPlainly(ctx context.Context, r repo, s slot, message string, exclude []string) (head string, changed bool, err error) {
	dir := r.inside(s).git
	if inProgress(dir) {
		return "", false, errOdd
	}
	own := "refs/heads/" + s.Branch
	on, head, err := resolve(dir, dir, "HEAD")
	if err != nil || on != own || !ownRef(own) || !plainRefs(dir) || !plainObjects(dir) {
		return "", false, errors.Join(err, errOdd)
	}
	files, err := readIndex(filepath.Join(dir, "index"))
	if err != nil {
		return "", false, err
	}
	for _, f := range files {
		if within(f.path, exclude) || f.mode == modeModule {
			return "", false, errOdd
		}
	}
	parent, err := readCommit(dir, head)
	if err != nil {
		return "", false, err
	}
	tree, err := writeStaged(dir, files, parent.tree)
	if err != nil || tree == parent.tree {
		return head, false, err
	}
	who, err := w.git.Identity(ctx, r.root)
	if err != nil {
		return "", false, err
	}
	now := w.now()
	date := fmt.Sprintf("%d %s", now.Unix(), now.Format("-0700"))
	env := append(identity("AUTHOR", who, date), identity("COMMITTER", who, date)...)
	id, err := writeCommit(dir, env, message, tree, []string{head})
	if err != nil {
		return "", false, err
	}
	by, err := person(env, "COMMITTER")
	if err != nil {
		return "", false, err
	}
	subject, _, _ := strings.Cut(strings.TrimLeft(message, "\n"), "\n")
	line := fmt.Sprintf("%s %s %s\tcommit: %s\n", head, id, by, strings.Join(strings.Fields(subject), " "))
	return id, true, moveOwnRef(dir, own, head, id, line)
}

// moveOwnRef moves the branch that a workspace is on from one commit to another,
// and adds to both logs.
func moveOwnRef(common, name, from, to, line string) error {
	file := filepath.Join(common, filepath.FromSlash(name))
	whole, err := tempFile(common, to+"\n", true)
	if err != nil {
		return err
	}
	defer os.Remove(whole)
	unlock, err := lockRef(common, file)
	if err != nil {
		return err
	}
	b, err := readRegular(file, maxLoose)
	if err == nil && string(b) != from+"\n" {
		err = errOdd
	}
	for _, log := range []string{filepath.Join(common, "logs", filepath.FromSlash(name)), filepath.Join(common, "logs", "HEAD")} {
		if err == nil {
			err = appendLine(log, line)
		}
	}
	if err == nil {
		err = os.Rename(whole, file)
	}
	return errors.Join(err, unlock())
}

// appendLine adds a line to a log that is there; git begins logs.
func appendLine(file, line string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}
