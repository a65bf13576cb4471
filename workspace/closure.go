package workspace

import (
	"bufio"
	"bytes"
	"context"
	"path/filepath"
	"strings"

	"coppice/workspace/git"
)

// Whether a history is complete, and whether what lands is legal, is found out
// here where objects have files of their own and nothing is unusual. In all other
// cases git does it.

// isComplete tells whether Coppice's own repository has everything that head has
// and base has not, so that nothing of it can be pruned in the person's. False
// says nothing.
func isComplete(r repo, head, base string) bool {
	if !plainObjects(r.git) {
		return false
	}
	old, err := readCommit(r.git, base)
	if err != nil {
		return false
	}
	seen := map[string]bool{base: true}
	for next := []string{head}; len(next) > 0; {
		id := next[0]
		if next = next[1:]; seen[id] {
			continue
		}
		seen[id] = true
		c, err := readCommit(r.git, id)
		if err != nil || !ownObject(r, id) || !hasTree(r, old.tree, c.tree, seen) {
			return false
		}
		next = append(next, c.parents...)
	}
	return true
}

// hasTree tells whether what a tree has, and another one has not, is there.
func hasTree(r repo, old, id string, seen map[string]bool) bool {
	if id == old || seen[id] {
		return true
	}
	seen[id] = true
	pairs, err := readChanges(r.git, old, id)
	if err != nil || !ownObject(r, id) {
		return false
	}
	for _, p := range pairs {
		switch was, now := p[0], p[1]; {
		case now.hash == was.hash || now.mode == "" || now.mode == modeModule:
		case now.mode == modeTree:
			if !hasTree(r, was.tree(), now.id(), seen) {
				return false
			}
		case !ownObject(r, now.id()):
			return false
		}
	}
	return true
}

// mostLoosened bounds how many trees are unpacked for one comparison.
const mostLoosened = 1000

// loosen gives two commits, and those of their trees that differ, files in
// Coppice's own repository, where they can be read without git from then on. What
// is out of the ordinary is left as it is.
func (w *Workspaces) loosen(ctx context.Context, r repo, a, b string) error {
	if !plainObjects(r.git) {
		return nil
	}
	if err := w.unpack(ctx, r, "commit", a, b); err != nil {
		return err
	}
	x, err := readCommit(r.git, a)
	if err != nil {
		return nil
	}
	y, err := readCommit(r.git, b)
	if err != nil {
		return nil
	}
	type pair struct{ from, to string }
	seen := map[pair]bool{}
	for level := []pair{{x.tree, y.tree}}; len(level) > 0 && len(seen) < mostLoosened; {
		var ids []string
		for _, p := range level {
			ids = append(ids, p.from, p.to)
		}
		if err := w.unpack(ctx, r, "tree", ids...); err != nil {
			return err
		}
		var next []pair
		for _, p := range level {
			pairs, err := readChanges(r.git, p.from, p.to)
			if err != nil {
				return nil
			}
			for _, e := range pairs {
				q := pair{e[0].tree(), e[1].tree()}
				if e[1].mode != "" && q.from != q.to && !seen[q] {
					seen[q] = true
					next = append(next, q)
				}
			}
		}
		level = next
	}
	return nil
}

// unpack gives objects files of their own that have none.
func (w *Workspaces) unpack(ctx context.Context, r repo, kind string, ids ...string) error {
	var want strings.Builder
	n := 0
	for _, id := range ids {
		if id == "" {
			continue
		}
		if _, err := youngObject(r.git, kind, id); err != nil {
			want.WriteString(id + "\n")
			n++
		}
	}
	if n == 0 {
		return nil
	}
	out, err := w.git.Do(ctx, git.Call{Dir: r.git, Args: []string{"cat-file", "--batch"}, Stdin: []byte(want.String())})
	if err != nil {
		return err
	}
	in := bufio.NewReader(strings.NewReader(out))
	for range n {
		data, err := readObject(in)
		if err != nil {
			return nil // one of them is missing: whoever needs it finds that out
		}
		if _, err := writeObject(r.git, kind, data); err != nil {
			return err
		}
	}
	return nil
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
	now, err := readTree(r.git, to)
	if err != nil || !ownObject(r, to) || !ordered(now) {
		return false
	}
	was, err := readTree(r.git, from)
	if err != nil {
		return false
	}
	for name, p := range treeChanges(was, now) {
		old, e := p[0], p[1]
		if e == old || e.mode == "" {
			continue
		}
		if !plainEntryName(name) {
			return false
		}
		switch e.mode {
		case modeTree:
			if !plainTree(r, old.tree(), e.id(), ids) {
				return false
			}
		case "100644", "100755", modeLink:
			if e.hash == old.hash {
				continue // only its mode changed
			}
			if !ownObject(r, e.id()) {
				return false
			}
			*ids = append(*ids, e.id())
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
