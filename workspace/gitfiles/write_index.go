package gitfiles

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"

	"coppice/internal/atomicfile"
)

// The positions of some stat data in an entry of an index.
const (
	statMtime  = 8
	statDevice = 16
	statInode  = 20
	statMode   = 24
	statUser   = 28
	statSize   = 36
)

// putStat writes the stat data of a file into an entry of an index. The entry keeps
// its mode.
func putStat(e []byte, info os.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ErrUseGit
	}
	ctime, mtime := changeTime(st), info.ModTime()
	for i, n := range []uint32{uint32(ctime.Unix()), uint32(ctime.Nanosecond()), uint32(mtime.Unix()), uint32(mtime.Nanosecond()), uint32(st.Dev), uint32(st.Ino)} {
		binary.BigEndian.PutUint32(e[4*i:], n)
	}
	for i, n := range []uint32{st.Uid, st.Gid, uint32(info.Size())} {
		binary.BigEndian.PutUint32(e[statUser+4*i:], n)
	}
	return nil
}

func putMode(e []byte, mode uint32) { binary.BigEndian.PutUint32(e[statMode:], mode) }

// modified returns the second in which the file of an entry was modified.
func (f *indexEntry) modified() int64 { return int64(binary.BigEndian.Uint32(f.stat[statMtime:])) }

// write writes the index to a file, without extensions that are not known. The
// directories of the changed paths have no known tree.
func (x index) write(file string, changed []Change) error {
	b := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x02"), uint32(len(x.files)))
	for _, f := range x.files {
		const maxLength = 0xfff
		start := len(b)
		b = append(append(b, f.stat[:]...), f.hash...)
		b = binary.BigEndian.AppendUint16(b, uint16(min(len(f.path), maxLength)))
		b = append(b, f.path...)
		b = append(b, make([]byte, 8-(len(b)-start)%8)...)
	}
	dirs := map[string]bool{}
	for _, c := range changed {
		for dir := path.Dir(c.Path); !dirs[dir]; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	if trees, rest, ok := forgetTrees(x.trees, "", dirs); ok && len(rest) == 0 {
		b = binary.BigEndian.AppendUint32(append(b, "TREE"...), uint32(len(trees)))
		b = append(b, trees...)
	}
	sum := sha1.Sum(b)
	return atomicfile.Replace(file, atomicfile.Options{Mode: 0o644, NoSync: true}, func(f *os.File) error {
		_, err := f.Write(append(b, sum[:]...))
		return err
	})
}

// forgetTrees copies the part of the extension TREE that describes a directory, and
// marks the trees of some directories as not known. It returns the rest of the
// extension.
func forgetTrees(b []byte, dir string, changed map[string]bool) (out, rest []byte, ok bool) {
	name, b, ok := bytes.Cut(b, []byte{0})
	line, b, ok2 := bytes.Cut(b, []byte("\n"))
	count, below, ok3 := strings.Cut(string(line), " ")
	subtrees, err := strconv.Atoi(below)
	if !ok || !ok2 || !ok3 || err != nil {
		return nil, nil, false
	}
	id := 0
	if count != "-1" {
		id = sha1.Size
	}
	if len(b) < id {
		return nil, nil, false
	}
	at := path.Join(dir, string(name))
	if changed[path.Clean(at)] {
		out = append(append(out, name...), "\x00-1 "+below+"\n"...)
	} else {
		out = append(append(out, name...), "\x00"+count+" "+below+"\n"...)
		out = append(out, b[:id]...)
	}
	b = b[id:]
	for range subtrees {
		var sub []byte
		if sub, b, ok = forgetTrees(b, at, changed); !ok {
			return nil, nil, false
		}
		out = append(out, sub...)
	}
	return out, b, true
}
