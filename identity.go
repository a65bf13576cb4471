package coppice

import (
	"strings"
	"unicode/utf8"
)

// Identity is an author and committer of commits. The zero value means the person
// whom the repository configures.
type Identity struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// ParseIdentity reads an identity as git prints it: Name <email>. It accepts only
// names that git writes without a change.
func ParseIdentity(text string) (Identity, error) {
	name, rest, _ := strings.Cut(text, " <")
	email, after, closed := strings.Cut(rest, ">")
	if !closed || after != "" || len(text) > MaxName*4 || changedByGit(name) || changedByGit(email) || strings.ContainsAny(email, " \t") {
		return Identity{}, Errorf(EInvalid, "%s is not a valid author of commits", Quote(text)).WithFix(`write a name and an e-mail address, such as "My Agent <my-agent@example.com>"`)
	}
	return Identity{Name: name, Email: email}, nil
}

// changedByGit reports whether git changes or refuses a name before it writes it into
// a commit.
func changedByGit(s string) bool {
	return s == "" || !utf8.ValidString(s) || LineProblem(s) != "" || strings.ContainsAny(s, "<>\t\x7f") || strings.Trim(s, " .,:;\"\\'") != s
}
