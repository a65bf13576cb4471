package landing

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
	"coppice/workspace/repo"
)

// Merge creates the commit that would land: the candidate on top of the base, or of
// the commit that the spec names. It works on trees and needs no checkout. The
// same spec, base and committer give the same commit.
//
// A rebase becomes one squashed commit if its commits do not apply one by one, or if
// its history has merges. Its tree is that of the merge in both cases.
func (ls *Landings) Merge(ctx context.Context, spec coppice.MergeSpec) (coppice.MergeResult, error) {
	if spec.Reverts != "" {
		if err := coppice.ValidHash(spec.Reverts); err != nil {
			return coppice.MergeResult{}, err
		}
	}
	if err := cmp.Or(coppice.ValidBranch(spec.Base), coppice.ValidHash(spec.Head), validRef(spec.Ref), validStrategy(spec.Strategy), repo.ValidPaths("ours", spec.Ours)); err != nil {
		return coppice.MergeResult{}, err
	}
	return repo.In(ctx, ls.Repos, spec.Repo, func(r repo.Repo) (coppice.MergeResult, error) {
		spec.Ours = resolved(r.Root, spec.Ours)
		return ls.merge(ctx, r, spec)
	})
}

func validStrategy(s string) error {
	switch s {
	case coppice.StrategySquash, coppice.StrategyMerge, coppice.StrategyRebase:
		return nil
	}
	return coppice.Errorf(coppice.EInvalid, "%s is not a valid strategy", coppice.Quote(s)).WithFix("use squash, merge or rebase").WithField("land.strategy")
}

// validRef checks a ref of Coppice.
func validRef(ref string) error {
	if name, ok := strings.CutPrefix(ref, "refs/coppice/"); !ok || coppice.ValidBranch(name) != nil {
		return coppice.Errorf(coppice.EInvalid, "%s is not a ref of Coppice", coppice.Quote(ref))
	}
	return nil
}

func (ls *Landings) merge(ctx context.Context, r repo.Repo, spec coppice.MergeSpec) (coppice.MergeResult, error) {
	res, err := ls.ground(ctx, r, spec)
	if err != nil || res.Need != nil {
		return res, err
	}
	base := res.Base
	if spec.Reverts != "" {
		on, err := ls.IsAncestor(ctx, r, spec.Head, base)
		if err != nil {
			return res, err
		}
		if !on { // it is not on the branch any more
			c, err := ls.describe(ctx, r, base)
			res.Tree, res.Empty = c.Tree, true
			return res, err
		}
		if spec.Head, err = ls.opposite(ctx, r, spec); err != nil {
			return res, err
		}
	}
	ours, theirs, err := ls.sides(ctx, r, base, spec.Head)
	if err != nil {
		return res, err
	}
	m := merged{tree: theirs.Tree}
	if !slices.Equal(theirs.Parents, []string{base}) { // a single commit on top of the base is merged already
		if m, err = ls.mergeTree(ctx, r, base, spec.Head); err != nil {
			return res, err
		}
	}
	m.settleOurs(spec.Ours)
	if m.conflicted {
		res.Conflicts, err = ls.conflicts(ctx, r, m, spec.Base, base, spec.Head)
		return res, err
	}
	if res.Tree = m.tree; res.Tree != ours.Tree {
		if res.Tree, err = ls.withoutLinks(ctx, r, base, m.tree); err != nil {
			return res, err
		}
		if res.Tree, err = ls.withOurs(ctx, r, base, res.Tree, spec.Ours); err != nil {
			return res, err
		}
	}
	if res.Tree == ours.Tree {
		res.Empty = true
		return res, nil
	}
	c, err := ls.committer(ctx, r, spec)
	if err != nil {
		return res, err
	}
	if spec.Strategy == coppice.StrategyRebase {
		if res.Commit, err = ls.replay(ctx, r, c, spec, base, res.Tree); err != nil {
			return res, err
		}
	}
	if res.Commit == "" {
		commit := gitfiles.Commit{Tree: res.Tree, Parents: []string{base}, Author: theirs.Author, Committer: c, Message: spec.Message}
		if spec.Strategy == coppice.StrategyMerge {
			commit.Parents = append(commit.Parents, spec.Head)
		} else if commit.Message, err = ls.squashed(ctx, r, spec, base); err != nil {
			return res, err
		}
		commit.Message = ended(commit.Message)
		if res.Commit, err = ls.CommitTree(ctx, r, commit); err != nil {
			return res, err
		}
	}
	ls.trees.put(res.Commit, res.Tree)
	if res.Refused, err = ls.gather(ctx, r, base, res.Commit); err != nil || res.Refused != "" {
		return res, err
	}
	if res.Review, err = ls.ruleFor(ctx, r, spec.Ask, base, res.Tree); err != nil {
		return res, err
	}
	return res, ls.SetRef(ctx, r, spec.Ref, res.Commit)
}

// ground returns the commit below the merge: that of the branch, or the one that
// the spec names. It returns a need if a person must confirm the branch first.
func (ls *Landings) ground(ctx context.Context, r repo.Repo, spec coppice.MergeSpec) (res coppice.MergeResult, err error) {
	if spec.Onto != "" {
		return coppice.MergeResult{Base: spec.Onto}, coppice.ValidHash(spec.Onto)
	}
	if res.Base, err = ls.Branch(ctx, r, spec.Base); err != nil {
		return coppice.MergeResult{}, err
	}
	res.Need, err = ls.BaseNeed(ctx, r.Root, spec.Base, spec.Seen, res.Base)
	return res, err
}

func ended(message string) string { return strings.TrimRight(message, "\n") + "\n" }

// committer returns who commits, at the date of the spec.
func (ls *Landings) committer(ctx context.Context, r repo.Repo, spec coppice.MergeSpec) (gitfiles.Signature, error) {
	who, err := ls.Git.Identity(ctx, r.Root)
	return gitfiles.Signature{Name: who.Name, Email: who.Email, Date: repo.UTCDate(spec.At)}, err
}

// sides describes the base and the candidate.
func (ls *Landings) sides(ctx context.Context, r repo.Repo, base, head string) (ours, theirs gitfiles.Commit, err error) {
	if ours, err = ls.describe(ctx, r, base); err == nil {
		theirs, err = ls.describe(ctx, r, head)
	}
	if err != nil {
		if _, gone := ls.Git.Run(ctx, r.Git, "cat-file", "-e", head+"^{commit}"); gone != nil && ctx.Err() == nil {
			err = coppice.Errorf(coppice.ENotFound, "there is no commit %s in %s", head, r.Root)
		}
	}
	return ours, theirs, err
}

// describe reads the tree, the parents, the author and the message of a commit.
func (ls *Landings) describe(ctx context.Context, r repo.Repo, commit string) (gitfiles.Commit, error) {
	if c, err := ls.Files(ctx, r.Git).Commit(commit); err == nil && c.Author.Name != "" {
		return c, nil
	}
	out, err := ls.Git.Run(ctx, r.Git, "log", "--no-walk", "--no-patch", "--no-show-signature", "--no-mailmap",
		"--encoding=UTF-8",
		"--format=%T%x00%P%x00%an%x00%ae%x00%ad%x00%B", "--date=raw", "--end-of-options", commit)
	if err != nil {
		return gitfiles.Commit{}, err
	}
	f := strings.SplitN(out, "\x00", 6)
	if len(f) != 6 {
		return gitfiles.Commit{}, fmt.Errorf("git does not describe the commit %s", commit)
	}
	by := gitfiles.Signature{Name: cmp.Or(f[2], "unknown"), Email: f[3], Date: f[4]} // git refuses to write an empty name
	return gitfiles.Commit{Tree: f[0], Parents: strings.Fields(f[1]), Author: by, Message: f[5]}, nil
}

// withoutLinks removes Coppice's links to the person's checkout from a tree. An agent
// that commits everything commits them too, because a rule such as node_modules/
// ignores only directories.
func (ls *Landings) withoutLinks(ctx context.Context, r repo.Repo, base, tree string) (string, error) {
	changes, err := ls.Changes(ctx, r.Git, base, tree)
	if err != nil {
		return "", err
	}
	var drop strings.Builder
	for _, c := range changes {
		if c.NewMode != gitfiles.ModeLink || c.OldMode == gitfiles.ModeLink {
			continue
		}
		target, err := ls.Git.Do(ctx, git.Call{Dir: r.Git, Args: []string{"cat-file", "blob", c.New}})
		if err != nil {
			return "", err
		}
		if target == filepath.Join(r.Root, c.Path) {
			fmt.Fprintf(&drop, "0 %040d\t%s\x00", 0, c.Path)
		}
	}
	return ls.editTree(ctx, r, tree, drop.String())
}

// replay rebases the candidate's commits onto base, on trees, and returns the last
// one, or "" if the result is not the merged tree.
func (ls *Landings) replay(ctx context.Context, r repo.Repo, committer gitfiles.Signature, spec coppice.MergeSpec, base, merged string) (string, error) {
	out, err := ls.Git.Run(ctx, r.Git, "rev-list", "--reverse", "--topo-order", "--parents", "--end-of-options", spec.Head, "^"+base)
	if err != nil {
		return "", err
	}
	type step struct{ commit, tree string }
	var steps []step
	tree := base + "^{tree}"
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) > 2 {
			return "", nil // a merge: its resolutions cannot be replayed
		}
		next, err := ls.pick(ctx, r, tree, f)
		if err != nil || next == "" {
			return "", err
		}
		if next, err = ls.withoutLinks(ctx, r, base, next); err != nil {
			return "", err
		}
		if next, err = ls.withOurs(ctx, r, base, next, spec.Ours); err != nil {
			return "", err
		}
		if next != tree && !(len(steps) == 0 && ls.sameTree(ctx, r, next, tree)) {
			steps = append(steps, step{f[0], next})
			tree = next
		}
	}
	if len(steps) == 0 || tree != merged {
		return "", nil
	}
	parent := base
	for i, s := range steps {
		picked, err := ls.describe(ctx, r, s.commit)
		if err != nil {
			return "", err
		}
		message, err := ls.Git.Do(ctx, git.Call{Dir: r.Git, Args: []string{"show", "--no-patch", "--format=%B", "--end-of-options", s.commit}})
		if err != nil {
			return "", err
		}
		if i == len(steps)-1 {
			message = withTrailers(message, spec.Message)
		}
		if parent, err = ls.CommitTree(ctx, r, gitfiles.Commit{Tree: s.tree, Parents: []string{parent}, Author: picked.Author, Committer: committer, Message: ended(message)}); err != nil {
			return "", err
		}
	}
	return parent, nil
}

func (ls *Landings) sameTree(ctx context.Context, r repo.Repo, a, b string) bool {
	out, err := ls.Git.Run(ctx, r.Git, "rev-parse", a, b)
	f := strings.Fields(out)
	return err == nil && len(f) == 2 && f[0] == f[1]
}

// pick applies one commit to a tree and returns the new tree, or "" if it does not
// apply. Git merge-tree finds its base through parents, so both sides become
// commits on top of the picked commit's parent.
func (ls *Landings) pick(ctx context.Context, r repo.Repo, onto string, commit []string) (string, error) {
	below := emptyTree(commit[0])
	if len(commit) == 2 {
		below = commit[1] + "^{tree}"
	} else if _, err := ls.Git.Do(ctx, git.Call{Dir: r.Git, Args: []string{"hash-object", "-w", "-t", "tree", "--stdin"}, Stdin: []byte{}}); err != nil {
		return "", err
	}
	by := repo.OwnSignature(time.Unix(0, 0))
	root, err := ls.CommitTree(ctx, r, gitfiles.Commit{Tree: below, Author: by, Committer: by, Message: "below\n"})
	if err != nil {
		return "", err
	}
	ours, err := ls.CommitTree(ctx, r, gitfiles.Commit{Tree: onto, Parents: []string{root}, Author: by, Committer: by, Message: "onto\n"})
	if err != nil {
		return "", err
	}
	theirs, err := ls.CommitTree(ctx, r, gitfiles.Commit{Tree: commit[0] + "^{tree}", Parents: []string{root}, Author: by, Committer: by, Message: "picked\n"})
	if err != nil {
		return "", err
	}
	m, err := ls.mergeTree(ctx, r, ours, theirs)
	if err != nil || m.conflicted {
		return "", err
	}
	return m.tree, nil
}

// emptyTree returns the id of the tree without entries, by the hash in use.
func emptyTree(like string) string {
	if len(like) == 64 {
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}

var trailerRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9-]+: \S`) })

// lastBlock returns the trailers at the end of a message.
func lastBlock(message string) (string, bool) {
	message = strings.TrimSpace(message)
	i := strings.LastIndex(message, "\n\n")
	if i < 0 {
		return "", false
	}
	block := message[i+2:]
	for line := range strings.Lines(block) {
		if !trailerRE().MatchString(line) {
			return "", false
		}
	}
	return block, true
}

// withTrailers adds the trailers of another message to a message.
func withTrailers(message, from string) string {
	add, ok := lastBlock(from)
	if !ok {
		return message
	}
	gap := "\n\n"
	if _, has := lastBlock(message); has {
		gap = "\n"
	}
	return strings.TrimSpace(message) + gap + add + "\n"
}
