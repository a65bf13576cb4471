package coppice

import (
	"slices"
	"time"
)

// NeedKind says what a project needs a person for.
type NeedKind string

// The kinds of need.
const (
	NeedCheckout NeedKind = "checkout" // files of the checkout keep the head of the landing queue from landing
	NeedPolicy   NeedKind = "policy"   // the policy's files changed while a session ran, or by a landing
	NeedFeatures NeedKind = "features" // a feature's status changed without Coppice
	NeedGit      NeedKind = "git"      // the repository's remotes, filters, includes or hooks changed
	NeedBase     NeedKind = "base"     // the base moved without Coppice, and not as a person's git moves it
)

// Need is one thing that a project needs a person for: an entry under "Needs
// you". A project has at most one of each kind.
type Need struct {
	Kind  NeedKind  `json:"kind"`
	Text  string    `json:"text"`            // what is the matter
	Fix   string    `json:"fix,omitempty"`   // what the person can do
	Paths []string  `json:"paths,omitempty"` // the files of the checkout it is about
	Diff  string    `json:"diff,omitempty"`  // what changed
	From  string    `json:"from,omitempty"`  // of a base: the commit that it can be moved back to
	To    string    `json:"to,omitempty"`    // of a base: the commit that it moved to
	Since time.Time `json:"since"`
}

// Need returns the project's need of a kind, or nil.
func (p *Project) Need(kind NeedKind) *Need {
	for i := range p.Needs {
		if p.Needs[i].Kind == kind {
			return &p.Needs[i]
		}
	}
	return nil
}

// SetNeed returns the project's needs with n in place of the need of its kind.
// The time at which the need began stays.
func (p *Project) SetNeed(n Need) []Need {
	if old := p.Need(n.Kind); old != nil {
		n.Since = old.Since
	}
	return append(p.DropNeed(n.Kind), n)
}

// DropNeed returns the project's needs without the one of a kind.
func (p *Project) DropNeed(kind NeedKind) []Need {
	return slices.DeleteFunc(slices.Clone(p.Needs), func(n Need) bool { return n.Kind == kind })
}

// GitSetting is one line of git's configuration that the person confirmed:
// one that names a program, an address or another file.
type GitSetting struct {
	Scope string `json:"scope"` // system, global, local or worktree
	Key   string `json:"key"`
	Value string `json:"value"`
}
