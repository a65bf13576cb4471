package workspace

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"coppice/workspace/git"
)

// Young objects have a file each, and most of what a task asks git about is
// young: they are read, and commits and refs of ours are written, without a
// process of git. What is packed, damaged, of another hash or otherwise odd is
// left to git, and every object's hash is checked: an agent can write files
// there.

// maxObject bounds an object that is read here.
const maxObject = 8 << 20

// plainObjects tells whether the repository names its objects by SHA-1.
func plainObjects(common string) bool {
	conf, err := readRegular(filepath.Join(common, "config"), 1<<20)
	return err == nil && !bytes.Contains(bytes.ToLower(conf), []byte("objectformat"))
}

// youngObject returns an object of that kind which has a file of its own, in the
// repository or in one that it borrows from.
func youngObject(common, kind, id string) ([]byte, error) {
	if len(id) != 2*sha1.Size || !plainID(id) {
		return nil, errOdd
	}
	packed, err := readYoung(filepath.Join(common, "objects"), id, 0)
	if err != nil {
		return nil, errOdd
	}
	all, err := inflate(packed)
	if err != nil || len(all) > maxObject {
		return nil, errOdd
	}
	if sum := sha1.Sum(all); hex.EncodeToString(sum[:]) != id {
		return nil, errOdd
	}
	head, data, ok := bytes.Cut(all, []byte{0})
	if !ok || string(head) != fmt.Sprintf("%s %d", kind, len(data)) {
		return nil, errOdd
	}
	return data, nil
}

// mostBorrowing is how far alternates are followed, as git does.
const mostBorrowing = 5

func readYoung(objects, id string, depth int) ([]byte, error) {
	packed, err := readRegular(filepath.Join(objects, id[:2], id[2:]), maxObject)
	if err == nil || depth == mostBorrowing {
		return packed, err
	}
	borrows, rerr := readRegular(filepath.Join(objects, "info", "alternates"), maxLoose)
	if rerr != nil {
		return nil, err
	}
	for line := range strings.Lines(string(borrows)) {
		dir := strings.TrimSuffix(line, "\n")
		if !filepath.IsAbs(dir) {
			continue // git resolves these
		}
		if packed, err = readYoung(dir, id, depth+1); err == nil {
			return packed, nil
		}
	}
	return nil, err
}

// whole is an object as it is hashed.
func whole(kind string, data []byte) []byte {
	return append(fmt.Appendf(nil, "%s %d\x00", kind, len(data)), data...)
}

func hashOf(object []byte) string {
	sum := sha1.Sum(object)
	return hex.EncodeToString(sum[:])
}

// writeObject writes an object, unless it is there, and returns its id.
func writeObject(common, kind string, data []byte) (string, error) {
	all := whole(kind, data)
	id := hashOf(all)
	dir := filepath.Join(common, "objects", id[:2])
	if _, err := youngObject(common, kind, id); err == nil {
		return id, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	// What is made in a workspace is copied and synced when it is published.
	return id, writeWhole(dir, filepath.Join(dir, id[2:]), stored(all), 0o444, filepath.Base(common) == ownName)
}

// inflaters hold large tables, which are used again.
var inflaters sync.Pool // of io.ReadCloser

// stored puts data into the form of zlib without making it smaller: what is
// written here is small, and the tables of a compressor are not.
func stored(data []byte) []byte {
	const most = 1<<16 - 1
	out := []byte{0x78, 0x01}
	for rest := data; ; {
		n := min(len(rest), most)
		last := byte(0)
		if n == len(rest) {
			last = 1
		}
		out = append(out, last, byte(n), byte(n>>8), byte(^n), byte(^n>>8))
		out = append(out, rest[:n]...)
		if rest = rest[n:]; last == 1 {
			return binary.BigEndian.AppendUint32(out, adler32.Checksum(data))
		}
	}
}

// inflate returns at most one byte more than an object may have.
func inflate(packed []byte) ([]byte, error) {
	z, _ := inflaters.Get().(io.ReadCloser)
	var err error
	if z == nil {
		z, err = zlib.NewReader(bytes.NewReader(packed))
	} else {
		err = z.(zlib.Resetter).Reset(bytes.NewReader(packed), nil)
	}
	if err != nil {
		return nil, err
	}
	defer inflaters.Put(z)
	return io.ReadAll(io.LimitReader(z, maxObject+1))
}

// writeWhole writes a file under another name, syncs it where that is wanted, and
// renames it.
func writeWhole(dir, name string, data []byte, mode fs.FileMode, durable bool) error {
	f, err := os.CreateTemp(dir, "tmp_obj_*") // the name that git clears away
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if durable && err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// object is a commit as it is written.
type object struct {
	tree    string
	parents []string
	author  string // name, address and date
}

// readCommit reads a young commit.
func readCommit(common, id string) (object, error) {
	data, err := youngObject(common, "commit", id)
	if err != nil {
		return object{}, err
	}
	var c object
	head, _, _ := strings.Cut(string(data), "\n\n")
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tree":
			c.tree = value
		case "parent":
			c.parents = append(c.parents, value)
		case "author":
			c.author = value
		case "encoding":
			return object{}, errOdd
		}
	}
	if !plainID(c.tree) || slices.ContainsFunc(c.parents, func(p string) bool { return !plainID(p) }) || !utf8.ValidString(c.author) {
		return object{}, errOdd
	}
	return c, nil
}

// side tells what a merge needs to know of the commit.
func (c object) side() (side, error) {
	name, rest, ok := strings.Cut(c.author, " <")
	email, date, ok2 := strings.Cut(rest, "> ")
	if !ok || !ok2 || name == "" || strings.ContainsAny(email, "<>") || len(strings.Fields(date)) != 2 {
		return side{}, errOdd
	}
	return side{tree: c.tree, parents: strings.Join(c.parents, " "), author: identity("AUTHOR", git.Person{Name: name, Email: email}, date)}, nil
}

// youngSides describes young commits; those that are named twice are told once.
func youngSides(common string, ids []string) ([]side, error) {
	var list []side
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			continue
		}
		c, err := readCommit(common, id)
		if err != nil {
			return nil, err
		}
		s, err := c.side()
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// treeOf returns the tree of a tree-ish as callers name them: an id of a tree,
// or of a commit with ^{tree} behind.
func treeOf(common, name string) (string, error) {
	id, ofCommit := strings.CutSuffix(name, "^{tree}")
	if !ofCommit {
		if _, err := youngObject(common, "tree", id); err != nil {
			return "", err // git looks whether there is one
		}
		return id, nil
	}
	c, err := readCommit(common, id)
	return c.tree, err
}

// writeCommit writes a commit as git commit-tree would, with who and when as
// its variables.
func writeCommit(common string, env []string, message, tree string, parents []string) (string, error) {
	if !plainObjects(common) || !utf8.ValidString(message) || strings.ContainsRune(message, 0) {
		return "", errOdd
	}
	tree, err := treeOf(common, tree)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		if _, err := readCommit(common, p); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	for _, role := range []string{"AUTHOR", "COMMITTER"} {
		who, err := person(env, role)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s %s\n", strings.ToLower(role), who)
	}
	b.WriteString("\n" + message)
	return writeObject(common, "commit", []byte(b.String()))
}

// person writes somebody as in a commit. Names that git would tidy up are left
// to git.
func person(env []string, role string) (string, error) {
	var name, email, date string
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		switch k {
		case "GIT_" + role + "_NAME":
			name = v
		case "GIT_" + role + "_EMAIL":
			email = v
		case "GIT_" + role + "_DATE":
			date = strings.TrimPrefix(v, "@")
		}
	}
	odd := func(s string) bool {
		return s == "" || !utf8.ValidString(s) || strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f || c == '<' || c == '>' }) ||
			strings.Trim(s, " .,:;\"\\'") != s
	}
	f := strings.Fields(date)
	if odd(name) || odd(email) || len(f) != 2 || strings.Trim(f[0], "0123456789") != "" || len(f[1]) != 5 {
		return "", errOdd
	}
	return name + " <" + email + "> " + f[0] + " " + f[1], nil
}

// descends tells whether a young commit has another among its nearest
// ancestors; false says nothing.
func descends(common, from, ancestor string) bool {
	at := []string{from}
	for n := 0; n < 32 && len(at) > 0; n++ {
		c, err := readCommit(common, at[0])
		if err != nil {
			return false
		}
		if slices.Contains(c.parents, ancestor) {
			return true
		}
		at = append(at[1:], c.parents...)
	}
	return false
}

// writeRef points a ref of ours at a commit, the way git does: through a lock
// beside it. It is odd where git must do it.
func writeRef(common, name, id string) error {
	if !ownRef(name) || !plainRefs(common) {
		return errOdd
	}
	if _, err := readCommit(common, id); err != nil {
		return err
	}
	file := filepath.Join(common, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return errOdd
	}
	if err := replaceRef(common, file, id+"\n"); err != nil {
		return errOdd // git waits for whoever holds it, or says who does
	}
	return nil
}
