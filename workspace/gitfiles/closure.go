package gitfiles

import (
	"bytes"
	"strings"
)

// HasAll returns nil if the object directory of the repository itself has all
// that head has and base does not have.
func (r *Repo) HasAll(head, base string) error {
	if !r.usesSHA1() {
		return ErrUseGit
	}
	if err := r.loosen(base, head); err != nil {
		return err
	}
	old, err := r.Commit(base)
	if err != nil {
		return err
	}
	seen := map[string]bool{base: true}
	for next := []string{head}; len(next) > 0; {
		id := next[0]
		if next = next[1:]; seen[id] {
			continue
		}
		seen[id] = true
		c, err := r.Commit(id)
		if err != nil || !r.hasOwn(id) || !r.hasTree(old.Tree, c.Tree, seen) {
			return ErrUseGit
		}
		next = append(next, c.Parents...)
	}
	return nil
}

// hasOwn reports whether the repository itself has a loose object.
func (r *Repo) hasOwn(id string) bool { return exists(r.path("objects/" + id[:2] + "/" + id[2:])) }

// hasTree reports whether the repository itself has all that a tree has and an
// old one does not have.
func (r *Repo) hasTree(old, id string, seen map[string]bool) bool {
	if id == old || seen[id] {
		return true
	}
	seen[id] = true
	pairs, err := r.readChanges(old, id)
	if err != nil || !r.hasOwn(id) {
		return false
	}
	for _, p := range pairs {
		switch was, now := p[0], p[1]; {
		case now.hash == was.hash || now.mode == "" || now.mode == ModeModule:
		case now.mode == modeTree:
			if !r.hasTree(was.tree(), now.id(), seen) {
				return false
			}
		case !r.hasOwn(now.id()):
			return false
		}
	}
	return true
}

// maxLoosened is how many pairs of trees are unpacked for one comparison.
const maxLoosened = 1000

// loosen writes two commits, and those of their trees that differ, to files of the
// repository if they are in packs. From then on they can be read without git.
func (r *Repo) loosen(a, b string) error {
	if r.Read == nil {
		return nil
	}
	if err := r.unpack("commit", a, b); err != nil {
		return err
	}
	x, err := r.Commit(a)
	if err != nil {
		return err
	}
	y, err := r.Commit(b)
	if err != nil {
		return err
	}
	type pair struct{ from, to string }
	seen := map[pair]bool{}
	for level := []pair{{x.Tree, y.Tree}}; len(level) > 0 && len(seen) < maxLoosened; {
		var ids []string
		for _, p := range level {
			ids = append(ids, p.from, p.to)
		}
		if err := r.unpack("tree", ids...); err != nil {
			return err
		}
		var next []pair
		for _, p := range level {
			pairs, err := r.readChanges(p.from, p.to)
			if err != nil {
				return err
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

// unpack writes objects that have no files to files.
func (r *Repo) unpack(kind string, ids ...string) error {
	var missing []string
	for _, id := range ids {
		if id == "" {
			continue
		}
		if _, err := r.object(kind, id); err != nil {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	all, err := r.Read(kind, missing)
	if err != nil {
		return err
	}
	for _, data := range all {
		if _, err := r.writeObject(kind, data); err != nil {
			return err
		}
	}
	return nil
}

// Added lists the objects that a commit adds to its only parent. It succeeds if
// the repository itself has all of them in files, and if no git that checks what
// it receives would refuse one of them.
func (r *Repo) Added(base, commit string) ([]string, error) {
	if !r.usesSHA1() {
		return nil, ErrUseGit
	}
	if err := r.loosen(base, commit); err != nil {
		return nil, err
	}
	c, err := r.Commit(commit)
	if err != nil || len(c.Parents) != 1 || c.Parents[0] != base || !r.hasOwn(commit) || !r.isUsualCommit(commit) {
		return nil, ErrUseGit
	}
	old, err := r.Commit(base)
	if err != nil {
		return nil, err
	}
	ids := []string{}
	if !r.addTree(old.Tree, c.Tree, &ids) {
		return nil, ErrUseGit
	}
	return append(ids, commit), nil
}

// isUsualCommit reports whether a commit is as WriteCommit writes it, with dates
// that every git accepts.
func (r *Repo) isUsualCommit(id string) bool {
	data, err := r.object("commit", id)
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
		if !ok || i < 2 && (len(value) != 40 || !isID(value)) || i >= 2 && !isUsualSignature(value) {
			return false
		}
	}
	return true
}

func isUsualSignature(line string) bool {
	const digits = "0123456789"
	name, rest, ok := strings.Cut(line, " <")
	email, date, ok2 := strings.Cut(rest, "> ")
	seconds, zone, ok3 := strings.Cut(date, " ")
	return ok && ok2 && ok3 && name != "" && !strings.ContainsAny(name+email, "<>") &&
		seconds != "" && len(seconds) <= 10 && (seconds[0] != '0' || seconds == "0") && strings.Trim(seconds, digits) == "" &&
		len(zone) == 5 && (zone[0] == '+' || zone[0] == '-') && strings.Trim(zone[1:], digits) == ""
}

// addTree adds the objects to a list that a tree has and another does not have.
func (r *Repo) addTree(from, to string, ids *[]string) bool {
	if from == to {
		return true
	}
	now, err := r.tree(to)
	if err != nil || !r.hasOwn(to) || !isOrdered(now) {
		return false
	}
	was, err := r.tree(from)
	if err != nil {
		return false
	}
	for name, p := range pairChanges(was, now) {
		old, e := p[0], p[1]
		if e == old || e.mode == "" {
			continue
		}
		if !isUsualName(name) {
			return false
		}
		switch e.mode {
		case modeTree:
			if !r.addTree(old.tree(), e.id(), ids) {
				return false
			}
		case modeFile, modeExec, ModeLink:
			if e.hash == old.hash {
				continue // only its mode changed
			}
			if !r.hasOwn(e.id()) {
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

// isUsualName reports whether no file system takes a name in a tree for another,
// and git has no rules about it.
func isUsualName(name string) bool {
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
