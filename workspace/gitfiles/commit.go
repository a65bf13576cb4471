package gitfiles

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Commit is the content of a commit.
type Commit struct {
	Tree              string // to write a commit, COMMIT^{tree} is possible too
	Parents           []string
	Author, Committer Signature
	Message           string
}

// Signature says who made a commit, and when. It is zero in a commit that is not
// written as usual.
type Signature struct {
	Name, Email string
	Date        string // seconds since 1970 and a time zone, such as "1700000000 +0100"
}

// Commit reads a loose commit.
func (r *Repo) Commit(id string) (Commit, error) {
	data, err := r.read("commit", id)
	if err != nil {
		return Commit{}, err
	}
	var c Commit
	head, message, _ := strings.Cut(string(data), "\n\n")
	c.Message = message
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tree":
			c.Tree = value
		case "parent":
			c.Parents = append(c.Parents, value)
		case "author":
			c.Author = parseSignature(value)
		case "committer":
			c.Committer = parseSignature(value)
		case "encoding":
			return Commit{}, ErrUseGit
		}
	}
	if !isID(c.Tree) || slices.ContainsFunc(c.Parents, func(p string) bool { return !isID(p) }) || !utf8.ValidString(head) {
		return Commit{}, ErrUseGit
	}
	return c, nil
}

func parseSignature(line string) Signature {
	name, rest, ok := strings.Cut(line, " <")
	email, date, ok2 := strings.Cut(rest, "> ")
	if !ok || !ok2 || name == "" || strings.ContainsAny(email, "<>") || len(strings.Fields(date)) != 2 {
		return Signature{}
	}
	return Signature{name, email, date}
}

// seconds returns when the commit was made, in seconds since 1970, or 0.
func (s Signature) seconds() int64 {
	text, _, _ := strings.Cut(s.Date, " ")
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// Line returns the signature as it is written in a commit. Git changes some names
// before it writes them, so these are left to git.
func (s Signature) Line() (string, error) {
	changed := func(s string) bool {
		return s == "" || !utf8.ValidString(s) || strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f || c == '<' || c == '>' }) ||
			strings.Trim(s, " .,:;\"\\'") != s
	}
	f := strings.Fields(s.Date)
	if changed(s.Name) || changed(s.Email) || len(f) != 2 || strings.Trim(f[0], "0123456789") != "" || len(f[1]) != 5 {
		return "", ErrUseGit
	}
	return s.Name + " <" + s.Email + "> " + f[0] + " " + f[1], nil
}

// WriteCommit writes a commit as git commit-tree does, and returns its id.
func (r *Repo) WriteCommit(c Commit) (string, error) {
	if !r.usesSHA1() || !utf8.ValidString(c.Message) || strings.ContainsRune(c.Message, 0) {
		return "", ErrUseGit
	}
	tree, err := r.treeOf(c.Tree)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range c.Parents {
		if _, err := r.Commit(p); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	for _, s := range []struct {
		key string
		by  Signature
	}{{"author", c.Author}, {"committer", c.Committer}} {
		line, err := s.by.Line()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s %s\n", s.key, line)
	}
	b.WriteString("\n" + c.Message)
	return r.writeObject("commit", []byte(b.String()))
}

// treeOf returns the id of a tree, given as a tree, a commit, or COMMIT^{tree}. An
// empty name is the empty tree.
func (r *Repo) treeOf(name string) (string, error) {
	id := strings.TrimSuffix(name, "^{tree}")
	if name == "" {
		return "", nil
	}
	if c, err := r.Commit(id); err == nil {
		return c.Tree, nil
	}
	if _, err := r.object("tree", id); err != nil || id != name {
		return "", ErrUseGit
	}
	return id, nil
}
