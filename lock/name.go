package lock

import (
	"path"
	"strings"

	"coppice"
)

// TreePrefix starts the name of a tree.
const TreePrefix = "checkout::"

// all is the name of the tree that contains every file.
const all = TreePrefix + "."

// Clean returns a name in the form in which locks are stored and compared:
//
//	a/b.go              a file
//	docs/**/*.md        a glob: it has one of * ? {
//	checkout::docs      a tree: everything below a directory
//	checkout::.         every file
//
// docs/ and checkout::/docs are other forms of checkout::docs. Clean refuses
// names that are empty or too long, leave the repository or cannot be paths. The
// caller makes absolute paths relative.
func Clean(name string) (string, error) {
	tree := strings.HasSuffix(name, "/")
	p, prefixed := strings.CutPrefix(name, TreePrefix)
	if prefixed {
		tree, p = true, strings.TrimLeft(p, "/")
	}
	if err := refuse(name, p, prefixed); err != nil {
		return "", err
	}
	p = path.Clean(p)
	switch {
	case p == ".":
		return all, nil
	case tree && isGlob(p):
		return p + "/**", nil
	case tree:
		return TreePrefix + p, nil
	}
	return p, nil
}

// refuse returns why a name cannot be used.
func refuse(name, p string, prefixed bool) error {
	bad := func(why string) error {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid name for a lock: %s", coppice.Quote(name), why).
			WithFix("use a path relative to the repository, such as src/main.go, docs/**/*.md or %ssrc", TreePrefix).WithField("files")
	}
	switch {
	case len(name) > coppice.MaxLockName:
		return coppice.Errorf(coppice.ETooLarge, "the name of a lock is longer than %d bytes", coppice.MaxLockName).WithFix("lock a directory above it").WithField("files")
	case p == "" && !prefixed:
		return bad("it is empty")
	case strings.HasPrefix(p, "/"):
		return bad("it is outside the workspace")
	case strings.ContainsAny(p, "\x00\n\r"):
		return bad("it contains a control character")
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == ".." {
			return bad("it contains ..")
		}
	}
	return nil
}

// special are the characters that are not literal in a glob.
const special = "*?{[(\\"

// isGlob reports whether a path has wildcards. Brackets alone are part of a file
// name: many projects have files such as [id].tsx.
func isGlob(p string) bool { return strings.ContainsAny(p, "*?{") }

// name is a parsed name.
type name struct {
	text string
	// path is the path of a file or a tree; "" means every file. It is unused in
	// a glob.
	path string
	// parts are the parts of the path. ** matches any number of parts.
	parts []string
	glob  bool
	tree  bool
}

// parse parses a name that Clean returned.
func parse(text string) name {
	p := strings.TrimPrefix(text, TreePrefix)
	if p == "." {
		return name{text: text, tree: true, parts: []string{"**"}}
	}
	if p == text && isGlob(p) {
		return name{text: text, glob: true, parts: globParts(p)}
	}
	n := name{text: text, path: p, tree: p != text, parts: strings.Split(p, "/")}
	if n.tree {
		n.parts = append(n.parts, "**")
	}
	return n
}

// globParts splits a glob. Alternatives that contain a slash match everything
// below the directory before them.
func globParts(p string) []string {
	var parts []string
	depth := 0
	for part := range strings.SplitSeq(p, "/") {
		opened := depth
		depth = max(0, depth+count(part, "{(")-count(part, "})"))
		if opened > 0 || depth > 0 {
			return append(parts, "**")
		}
		parts = append(parts, part)
	}
	return parts
}

// count returns how many characters of a text are in a set.
func count(text, set string) int {
	n := 0
	for _, c := range text {
		if strings.ContainsRune(set, c) {
			n++
		}
	}
	return n
}

// Conflicts reports whether two names, in the form of Clean, can name the same
// file. Where this cannot be decided, it returns true.
func Conflicts(a, b string) bool {
	return a == b || parse(a).conflicts(parse(b))
}

func (n name) conflicts(m name) bool {
	if n.text == m.text {
		return true
	}
	if !n.glob && !m.glob {
		// This holds for two files, too: a session that names a directory
		// without a slash means the files below it.
		return within(n.path, m.path) || within(m.path, n.path)
	}
	return partsOverlap(n, m)
}

// covers reports whether every file of m is one of n. It can return false where
// that is true.
func (n name) covers(m name) bool {
	if n.text == m.text {
		return true
	}
	if !n.tree {
		return false
	}
	if !m.glob {
		return within(m.path, n.path)
	}
	own := n.parts[:len(n.parts)-1]
	if len(m.parts) < len(own) {
		return false
	}
	for i, part := range own {
		if m.parts[i] != part || part == "**" || strings.ContainsAny(part, special) {
			return false
		}
	}
	return true
}

// within reports whether a path is dir or below it.
func within(p, dir string) bool {
	return dir == "" || p == dir || len(p) > len(dir) && p[len(dir)] == '/' && strings.HasPrefix(p, dir)
}

// partsOverlap reports whether a path exists that both names match.
func partsOverlap(a, b name) bool {
	return overlap(len(a.parts), len(b.parts),
		func(i int) bool { return a.parts[i] == "**" }, func(j int) bool { return b.parts[j] == "**" },
		func(i, j int) bool { return charsOverlap(tokens(a.parts[i], a.glob), tokens(b.parts[j], b.glob)) })
}

// charsOverlap reports the same for the characters of one part.
func charsOverlap(a, b []rune) bool {
	return overlap(len(a), len(b),
		func(i int) bool { return a[i] == anyText }, func(j int) bool { return b[j] == anyText },
		func(i, j int) bool { return a[i] == b[j] || a[i] == anyRune || b[j] == anyRune })
}

// overlap reports whether two patterns of n and m elements match a common text.
// Some elements match any number of elements of the other pattern. The others
// match exactly one, if same says so.
func overlap(n, m int, manyA, manyB func(int) bool, same func(i, j int) bool) bool {
	// row[j] says whether the elements of a after i and those of b after j do.
	next := make([]bool, m+1)
	for i := n; i >= 0; i-- {
		row := make([]bool, m+1)
		for j := m; j >= 0; j-- {
			switch {
			case i == n && j == m:
				row[j] = true
			case i < n && manyA(i):
				row[j] = next[j] || j < m && row[j+1]
			case j < m && manyB(j):
				row[j] = row[j+1] || i < n && next[j]
			case i < n && j < m:
				row[j] = next[j+1] && same(i, j)
			}
		}
		next = row
	}
	return next[0]
}

// Wildcards of a part. Neither can be a part of a path.
const (
	anyText rune = -1
	anyRune rune = -2
)

// tokens turns a part into characters and, in a glob, wildcards. Classes,
// alternatives, groups and escapes count as any text: they are rare, and a wrong
// conflict only costs time.
func tokens(part string, glob bool) []rune {
	if !glob {
		return []rune(part)
	}
	var list []rune
	depth := 0
	for _, c := range part {
		switch {
		case c == '(' && depth == 0 && len(list) > 0 && strings.ContainsRune("!@+", list[len(list)-1]):
			list[len(list)-1] = anyText
			depth++
		case c == '{', c == '[', c == '(':
			list = append(list, anyText)
			depth++
		case depth > 0 && (c == '}' || c == ']' || c == ')'):
			depth--
		case depth > 0:
		case c == '*', c == '\\':
			list = append(list, anyText)
		case c == '?':
			list = append(list, anyRune)
		default:
			list = append(list, c)
		}
	}
	return list
}
