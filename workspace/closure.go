package workspace

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// Whether a history is complete, and whether what lands is legal, is found out
// here where objects have files of their own and nothing is unusual. In all other
// cases git does it.

// isComplete tells whether everything between base and head is there: in files of
// Coppice's own repository, or in the person's. False says nothing.
func isComplete(r repo, head, base string) bool {
	if !plainObjects(r.git) || exists(filepath.Join(r.user, "objects", "info", "alternates")) {
		return false
	}
	users := openPacks(filepath.Join(r.user, "objects"))
	defer users.close()
	own := filepath.Join(r.git, "objects")
	seen := map[string]bool{base: true}
	var complete func(kind, id string) bool
	complete = func(kind, id string) bool {
		if seen[id] {
			return true
		}
		seen[id] = true
		if !exists(filepath.Join(own, id[:2], id[2:])) {
			return users.has(id)
		}
		switch kind {
		case "tree":
			entries, err := readTree(r.git, id)
			if err != nil {
				return false
			}
			for _, e := range entries {
				if e.mode == modeModule {
					continue
				}
				kind := "blob"
				if e.mode == modeTree {
					kind = "tree"
				}
				if !complete(kind, e.id) {
					return false
				}
			}
		case "commit":
			c, err := readCommit(r.git, id)
			if err != nil || !complete("tree", c.tree) {
				return false
			}
			for _, p := range c.parents {
				if !complete("commit", p) {
					return false
				}
			}
		}
		return true
	}
	return complete("commit", head)
}

// packs finds objects by the indexes of packs.
type packs struct {
	dir   string
	files []*os.File
	open  bool
}

func openPacks(objects string) *packs { return &packs{dir: objects} }

func (p *packs) close() {
	for _, f := range p.files {
		f.Close()
	}
}

// has tells whether an object is there, in a file of its own or in a pack.
func (p *packs) has(id string) bool {
	if exists(filepath.Join(p.dir, id[:2], id[2:])) {
		return true
	}
	if !p.open {
		p.open = true
		names, _ := filepath.Glob(filepath.Join(p.dir, "pack", "*.idx"))
		for _, n := range names {
			if f, err := os.Open(n); err == nil {
				p.files = append(p.files, f)
			}
		}
	}
	want, err := hex.DecodeString(id)
	if err != nil {
		return false
	}
	for _, f := range p.files {
		if inPack(f, want) {
			return true
		}
	}
	return false
}

// inPack looks an object up in the index of a pack, of version 2 and SHA-1: a
// table of how many objects come before those with another first byte, and their
// names in order.
func inPack(f *os.File, id []byte) bool {
	const names = 8 + 256*4
	var head [8]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || !bytes.Equal(head[:], []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}) {
		return false
	}
	count := func(i int) int64 {
		var b [4]byte
		if i < 0 {
			return 0
		}
		if _, err := f.ReadAt(b[:], 8+4*int64(i)); err != nil {
			return 0
		}
		return int64(binary.BigEndian.Uint32(b[:]))
	}
	low, high := count(int(id[0])-1), count(int(id[0]))
	for low < high {
		middle := (low + high) / 2
		var b [20]byte
		if _, err := f.ReadAt(b[:], names+20*middle); err != nil {
			return false
		}
		switch bytes.Compare(b[:], id) {
		case 0:
			return true
		case -1:
			low = middle + 1
		default:
			high = middle
		}
	}
	return false
}

// plainLanding lists the objects that a commit adds to its only parent, when all
// of them are in files of Coppice's own repository and plainly legal: nothing in
// them could be refused by a git that checks what it receives.
func plainLanding(r repo, base, commit string) ([]string, bool) {
	if !plainObjects(r.git) {
		return nil, false
	}
	c, err := readCommit(r.git, commit)
	if err != nil || len(c.parents) != 1 || c.parents[0] != base || !plainCommit(r.git, commit) {
		return nil, false
	}
	old, err := readCommit(r.git, base)
	if err != nil {
		return nil, false
	}
	ids := []string{}
	if !plainTree(r, old.tree, c.tree, &ids) {
		return nil, false
	}
	return append(ids, commit), ownObject(r, commit)
}

func ownObject(r repo, id string) bool {
	return exists(filepath.Join(r.git, "objects", id[:2], id[2:]))
}

// plainCommit tells whether a commit is written as writeCommit writes it, with
// dates that every git takes.
func plainCommit(common, id string) bool {
	data, err := youngObject(common, "commit", id)
	if err != nil {
		return false
	}
	head, _, ok := strings.Cut(string(data), "\n\n")
	lines := strings.Split(head, "\n")
	if !ok || len(lines) != 4 || bytes.IndexByte(data, 0) >= 0 {
		return false
	}
	for i, key := range []string{"tree ", "parent ", "author ", "committer "} {
		value, ok := strings.CutPrefix(lines[i], key)
		if !ok {
			return false
		}
		if i < 2 {
			if len(value) != 40 || !plainID(value) {
				return false
			}
			continue
		}
		name, rest, ok := strings.Cut(value, " <")
		email, date, ok2 := strings.Cut(rest, "> ")
		seconds, zone, ok3 := strings.Cut(date, " ")
		if !ok || !ok2 || !ok3 || name == "" || strings.ContainsAny(name+email, "<>") || seconds == "" || len(seconds) > 10 || seconds[0] == '0' && seconds != "0" ||
			strings.Trim(seconds, "0123456789") != "" || len(zone) != 5 || zone[0] != '+' && zone[0] != '-' || strings.Trim(zone[1:], "0123456789") != "" {
			return false
		}
	}
	return true
}

// plainTree adds what a tree has that another one has not to a list.
func plainTree(r repo, from, to string, ids *[]string) bool {
	if from == to {
		return true
	}
	data, err := youngObject(r.git, "tree", to)
	if err != nil || !ownObject(r, to) {
		return false
	}
	now, err := readTree(r.git, to)
	if err != nil {
		return false
	}
	was, err := readTree(r.git, from)
	if err != nil {
		return false
	}
	// The same names in git's order, each once, make the same bytes.
	if again, err := treeData(now); err != nil || !bytes.Equal(again, data) {
		return false
	}
	for name, e := range now {
		old := was[name]
		if e == old {
			continue
		}
		if !plainEntryName(name) {
			return false
		}
		switch e.mode {
		case modeTree:
			if old.mode != modeTree {
				old.id = ""
			}
			if !plainTree(r, old.id, e.id, ids) {
				return false
			}
		case "100644", "100755", modeLink:
			if e.id == old.id {
				continue // only its mode changed
			}
			if !ownObject(r, e.id) {
				return false
			}
			*ids = append(*ids, e.id)
		default:
			return false
		}
	}
	*ids = append(*ids, to)
	return true
}

// plainEntryName tells whether a name in a tree is one that no file system takes
// for another, and that git has no rules about.
func plainEntryName(name string) bool {
	if name == "" || name == "." || name == ".." {
		return false
	}
	for _, c := range []byte(name) {
		if c < ' ' || c > '~' || c == '/' || c == '\\' || c == ':' {
			return false
		}
	}
	lower := strings.ToLower(name)
	switch lower {
	case ".gitignore", ".github", ".gitkeep":
		return name == lower
	}
	// ".git" has short names on Windows such as GIT~1, and GI7EBA~1 for others.
	return !strings.HasPrefix(lower, ".git") && !(strings.HasPrefix(lower, "gi") && strings.Contains(lower, "~"))
}
