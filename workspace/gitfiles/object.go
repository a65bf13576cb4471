package gitfiles

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
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"coppice/internal/atomicfile"
)

// object returns the content of a loose object of a kind, in the repository or in
// one that it borrows from.
func (r *Repo) object(kind, id string) ([]byte, error) {
	if r.Off || len(id) != 2*sha1.Size || !isID(id) {
		return nil, ErrUseGit
	}
	packed, err := readLoose(r.path("objects"), id, 0)
	if err != nil {
		return nil, ErrUseGit
	}
	all, err := inflate(packed)
	if err != nil || len(all) > maxObject || hashOf(all) != id {
		return nil, ErrUseGit
	}
	head, data, ok := bytes.Cut(all, []byte{0})
	if !ok || string(head) != fmt.Sprintf("%s %d", kind, len(data)) {
		return nil, ErrUseGit
	}
	return data, nil
}

// read returns the content of an object that has been read before, or else is as
// object has it. Callers must not change it.
func (r *Repo) read(kind, id string) ([]byte, error) {
	k := r.key(kind, id)
	if data, ok := r.Cache.get(k); ok && !r.Off {
		return data, nil
	}
	data, err := r.object(kind, id)
	if err == nil {
		r.Cache.put(k, data)
	}
	return data, err
}

// maxAlternates is how many alternates are followed in a row, as git does.
const maxAlternates = 5

func readLoose(objects, id string, depth int) ([]byte, error) {
	packed, err := ReadRegular(filepath.Join(objects, id[:2], id[2:]), maxObject)
	if err == nil || depth == maxAlternates {
		return packed, err
	}
	alternates, aerr := ReadRegular(filepath.Join(objects, "info", "alternates"), maxRef)
	if aerr != nil {
		return nil, err
	}
	for line := range strings.Lines(string(alternates)) {
		dir := strings.TrimSuffix(line, "\n")
		if !filepath.IsAbs(dir) {
			continue // git resolves these
		}
		if packed, err = readLoose(dir, id, depth+1); err == nil {
			return packed, nil
		}
	}
	return nil, err
}

// withHeader returns an object as git hashes it.
func withHeader(kind string, data []byte) []byte {
	return append(fmt.Appendf(nil, "%s %d\x00", kind, len(data)), data...)
}

func hashOf(object []byte) string {
	sum := sha1.Sum(object)
	return hex.EncodeToString(sum[:])
}

// writeObject writes an object that is missing, and returns its id.
func (r *Repo) writeObject(kind string, data []byte) (string, error) {
	all := withHeader(kind, data)
	id := hashOf(all)
	if _, err := r.object(kind, id); err == nil {
		return id, nil
	}
	dir := filepath.Join(r.path("objects"), id[:2])
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	err := atomicfile.Replace(filepath.Join(dir, id[2:]), atomicfile.Options{Mode: 0o444, NoSync: !r.Sync, Temp: ObjectTemp}, func(f *os.File) error {
		_, err := f.Write(store(all))
		return err
	})
	if err == nil {
		r.Cache.put(r.key(kind, id), data)
	}
	return id, err
}

// ObjectTemp is the pattern for names of temporary files in an object directory.
// Git removes old files with such names.
const ObjectTemp = "tmp_obj_*"

// inflaters are kept because they contain large tables.
var inflaters sync.Pool // of io.ReadCloser

// store returns data in the zlib format without compressing it: these objects are
// small, and the tables of a compressor are not.
func store(data []byte) []byte {
	const maxBlock = 1<<16 - 1
	out := []byte{0x78, 0x01}
	for rest := data; ; {
		n := min(len(rest), maxBlock)
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

// inflate returns at most maxObject+1 bytes.
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
	// The header has the size of what follows.
	var head [32]byte
	n, err := io.ReadFull(z, head[:])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	size := 0
	if before, _, ok := bytes.Cut(head[:n], []byte{0}); ok {
		_, digits, _ := bytes.Cut(before, []byte{' '})
		size, _ = strconv.Atoi(string(digits))
	}
	out := bytes.NewBuffer(make([]byte, 0, len(head)+max(0, min(size, maxObject))+bytes.MinRead))
	out.Write(head[:n])
	_, err = out.ReadFrom(io.LimitReader(z, maxObject+1-int64(n)))
	return out.Bytes(), err
}

// maxAncestors is how many commits are read to find an ancestor.
const maxAncestors = 128

// IsAncestor reports whether a commit is among the nearest ancestors of another.
// False means nothing: git must find out. It does not look behind commits that are
// older than the ancestor, because their ancestors usually are older too.
func (r *Repo) IsAncestor(ancestor, of string) bool {
	first, err := r.Commit(ancestor)
	if err != nil {
		return false
	}
	next, seen := []string{of}, map[string]bool{}
	for len(next) > 0 && len(seen) < maxAncestors {
		id := next[0]
		if next = next[1:]; seen[id] {
			continue
		}
		seen[id] = true
		c, err := r.Commit(id)
		if err != nil {
			return false
		}
		if slices.Contains(c.Parents, ancestor) {
			return true
		}
		if c.Committer.seconds() >= first.Committer.seconds() {
			next = append(next, c.Parents...)
		}
	}
	return false
}
