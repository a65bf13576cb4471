package coppice

import (
	"slices"
	"time"
)

// NeedKind says why a project needs a person.
type NeedKind string

// The kinds of need.
const (
	NeedCheckout NeedKind = "checkout" // files of the checkout block the first landing of the queue
	NeedPolicy   NeedKind = "policy"   // the policy's files changed while a session ran, or by a landing
	NeedFeatures NeedKind = "features" // a feature's status was changed, but not by Coppice
	NeedGit      NeedKind = "git"      // the repository's remotes, filters, includes or hooks changed
	NeedBase     NeedKind = "base"     // the base was moved, but not by Coppice or a person's git
	NeedTrust    NeedKind = "trust"    // reactions pass text from outside to agents, and nobody has said whether they can
)

// Need is one reason why a project needs a person: an entry under "Needs you". A
// project has at most one of each kind.
type Need struct {
	Kind  NeedKind  `json:"kind"`
	Text  string    `json:"text"`            // what is wrong
	Fix   string    `json:"fix,omitempty"`   // what the person can do
	Paths []string  `json:"paths,omitempty"` // the files of the checkout that it is about
	Diff  string    `json:"diff,omitempty"`  // what changed
	From  string    `json:"from,omitempty"`  // for a base: the commit to which it can be moved back
	To    string    `json:"to,omitempty"`    // for a base: the commit to which it moved
	Since time.Time `json:"since"`
}

// Needs lists why a person is needed, the oldest first, at most one of a kind.
type Needs []Need

// Of returns the need of a kind, or nil.
func (list Needs) Of(kind NeedKind) *Need {
	for i := range list {
		if list[i].Kind == kind {
			return &list[i]
		}
	}
	return nil
}

// With returns the needs with n in place of the need of its kind. The start time
// of the need stays.
func (list Needs) With(n Need) Needs {
	if old := list.Of(n.Kind); old != nil {
		n.Since = old.Since
	}
	return append(list.Without(n.Kind), n)
}

// Without returns the needs without those of some kinds.
func (list Needs) Without(kinds ...NeedKind) Needs {
	return slices.DeleteFunc(slices.Clone(list), func(n Need) bool { return slices.Contains(kinds, n.Kind) })
}

// Need returns the project's need of a kind, or nil.
func (p *Project) Need(kind NeedKind) *Need { return p.Needs.Of(kind) }

// QueueNeeds are the kinds of need that belong to the queue of a project's base:
// nothing lands before a person has acted. All others belong to the project.
var QueueNeeds = []NeedKind{NeedCheckout, NeedGit, NeedBase}

// GitSetting is one line of git's configuration that the person confirmed: it
// names a program, an address or another file.
type GitSetting struct {
	Scope string `json:"scope"` // system, global, local or worktree
	Key   string `json:"key"`
	Value string `json:"value"`
}
