// Package forgetest is the suite that each implementation of a forge passes:
//
//	forgetest.Run(t, func(t *testing.T) forgetest.Bundle { … })
package forgetest

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"coppice"
	"coppice/forge"
)

// Ability is something that a forge of tests might not have.
type Ability string

// The abilities that tests ask for.
const (
	Statuses  Ability = "statuses"  // somebody can set the result of CI
	Conflicts Ability = "conflicts" // the forge knows whether a request merges
	Lines     Ability = "lines"     // comments on lines
	Drafts    Ability = "drafts"    // requests that are not ready
	Methods   Ability = "methods"   // merges by squash, merge commit and rebase
	Auto      Ability = "auto"      // the forge merges when its rules allow it
	HeadCheck Ability = "head"      // the forge refuses to merge another head
	Access    Ability = "access"    // the forge knows who can write
	Reviewers Ability = "reviewers" // the forge shows who was asked
	Deleting  Ability = "deleting"  // a branch can be deleted
)

// Bundle is a new repository on a forge, and how people other than Coppice change
// it. A test calls only functions whose abilities the forge has.
type Bundle struct {
	Open   forge.Opener
	Remote forge.Remote
	Token  string // of the user as whom Coppice acts
	Login  string // of this user
	Base   string // the branch at which requests aim; it has a commit

	Writer   string // the login of somebody else with write access
	Stranger string // the login of somebody without

	// Lacks says why the forge, or what the tests have of it, does not have an ability.
	Lacks map[Ability]string

	// Commit adds a commit with one file to a branch. A new branch starts at Base.
	Commit func(t *testing.T, branch, file, text string) string
	// SetStatus sets the result of a check of a commit.
	SetStatus func(t *testing.T, commit, name string, state coppice.CIState, text string)
	// Review submits a review as a user. Without a state it only comments.
	Review func(t *testing.T, number int, login string, state coppice.ReviewState, text string)
	// CommentLine comments on a line of a file as a user.
	CommentLine func(t *testing.T, number int, login, path string, line int, text string)
	// Comment comments as a user.
	Comment func(t *testing.T, number int, login, text string)
	// Asked returns the logins that were asked for a review.
	Asked func(t *testing.T, number int) []string
	// RequireStatus lets the forge merge into Base only what passed a check.
	RequireStatus func(t *testing.T, name string)
	// DeleteBranch deletes a branch.
	DeleteBranch func(t *testing.T, branch string)
}

// has reports whether the forge has an ability. The reason why not is in the log.
func (b Bundle) has(t *testing.T, a Ability) bool {
	t.Helper()
	why, lacks := b.Lacks[a]
	if lacks {
		t.Logf("not tested, because this forge lacks %s: %s", a, why)
	}
	return !lacks
}

// Open connects to the repository of a bundle.
func Open(t *testing.T, b Bundle) forge.Forge {
	t.Helper()
	return b.open(t, newTransport())
}

func (b Bundle) open(t *testing.T, next http.RoundTripper) forge.Forge {
	t.Helper()
	return b.openAs(t, b.Token, next)
}

func (b Bundle) openAs(t *testing.T, token string, next http.RoundTripper) forge.Forge {
	t.Helper()
	f, err := b.Open(b.Remote, forge.Options{Transport: next, Token: func(context.Context) (string, error) { return token, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// text returns how a request of a branch is to look.
func (b Bundle) text(branch string) coppice.PullText {
	return coppice.PullText{Branch: branch, Base: b.Base, Title: "Change " + branch, Body: "What and why.\n\n" + coppice.PullMarker(branch)}
}

// spec returns a put of this text.
func put(text coppice.PullText) coppice.ForgeWriteSpec {
	return coppice.ForgeWriteSpec{Op: coppice.ForgePut, Key: text.Branch, Text: text}
}

// write carries out a change that must succeed.
func write(t *testing.T, f forge.Forge, spec coppice.ForgeWriteSpec) coppice.ForgeWriteResult {
	t.Helper()
	r, err := forge.Write(t.Context(), f, spec)
	if err != nil {
		t.Fatalf("%s: %v", spec.Op, err)
	}
	return r
}

// Read reads a request that must exist.
func Read(t *testing.T, f forge.Forge, number int) coppice.PullRead {
	t.Helper()
	r, err := f.Read(t.Context(), number)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// started opens a request of a new branch with one commit.
func (b Bundle) started(t *testing.T, f forge.Forge, branch string) (number int, head string) {
	t.Helper()
	head = b.Commit(t, branch, strings.ReplaceAll(branch, "/", "-")+".txt", "text of "+branch+"\n")
	return write(t, f, put(b.text(branch))).Number, head
}
