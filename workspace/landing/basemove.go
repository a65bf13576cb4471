package landing

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"coppice"
	"coppice/workspace/repo"
)

// A base can move without Coppice: people commit, merge and pull. An agent can
// move it too. Git's log of the branch shows most of these cases.

// ordinary are the commands of git with which people move a branch. They are the
// first words of entries in git's log.
var ordinary = map[string]bool{
	"commit": true, "merge": true, "pull": true, "rebase": true, "reset": true, "cherry-pick": true, "revert": true, "am": true,
	"fetch": true, "branch": true, "Branch": true, "checkout": true, "clone": true, "initial": true,
}

// ownMove is the start of log entries about moves by Coppice.
const ownMove = "coppice: "

// Limits of what is read.
const (
	maxMoves     = 1000  // entries of a branch's log
	maxSuspects  = 10000 // new commits
	maxBranches  = 200   // of tasks
	maxNeedBytes = 16 << 10
)

// BaseMoved returns why a person must confirm a move of the base from one commit
// to another. It returns "" if Coppice moved it, or a person with an ordinary
// command. Branches are those of tasks, each as a name or as start..name with the
// commit from which it started. Nil means all of them.
func (ls *Landings) BaseMoved(ctx context.Context, dir, base, from, to string, branches []string) (why string, err error) {
	if err := cmp.Or(coppice.ValidBranch(base), coppice.ValidHash(from), coppice.ValidHash(to)); err != nil {
		return "", err
	}
	r, err := ls.Find(ctx, dir)
	if err != nil {
		return "", err
	}
	return ls.baseMoved(ctx, r, base, from, to, branches)
}

// BaseNeed returns the need of a project whose base moved from one commit to
// another, or nil if nobody has to confirm it.
func (ls *Landings) BaseNeed(ctx context.Context, dir, base, from, to string) (*coppice.Need, error) {
	if from == "" || from == to {
		return nil, nil
	}
	why, err := ls.BaseMoved(ctx, dir, base, from, to, nil)
	if err != nil || why == "" {
		return nil, err
	}
	r, err := ls.Find(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &coppice.Need{
		Kind: coppice.NeedBase, From: from, To: to, Diff: ls.baseDiff(ctx, r, from, to),
		Text: fmt.Sprintf("%s moved from %.10s to %.10s without Coppice: %s. Nothing lands until you decide", base, from, to, why),
		Fix:  "move it back with `coppice project restore-base`, or keep it with `coppice project confirm --base`",
	}, nil
}

// baseDiff lists the commits and files of a move, as far as git can.
func (ls *Landings) baseDiff(ctx context.Context, r repo.Repo, from, to string) string {
	log, _ := ls.Git.Run(ctx, r.Root, "log", "--no-decorate", "--no-show-signature", "--oneline", "--max-count=20", "--end-of-options", from+".."+to)
	stat, _ := ls.Git.Run(ctx, r.Root, "diff", "--stat=100", "--end-of-options", from, to)
	text := strings.TrimSpace(log + "\n\n" + stat)
	if len(text) > maxNeedBytes {
		text = strings.ToValidUTF8(text[:maxNeedBytes], "") + "\n…"
	}
	return text
}

// move is one entry of a branch's log.
type move struct {
	old, new string // old is "" if the log does not say it
	at       int64  // when, in seconds
	made     int64  // when the commit was made
	message  string
}

// moves lists the moves of a branch, the newest first.
func (ls *Landings) moves(ctx context.Context, r repo.Repo, ref string) ([]move, error) {
	out, err := ls.Git.Run(ctx, r.Root, "log", "--walk-reflogs", "--no-show-signature", "--date=unix", "--max-count="+strconv.Itoa(maxMoves),
		"--format=%H%x00%gd%x00%ct%x00%gs", "--end-of-options", ref)
	if err != nil {
		return nil, err
	}
	var list []move
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\x00", 4)
		if len(f) < 4 {
			continue
		}
		m := move{new: f[0], message: f[3]}
		at := f[1][strings.LastIndexByte(f[1], '{')+1:]
		m.at, _ = strconv.ParseInt(strings.TrimSuffix(at, "}"), 10, 64)
		m.made, _ = strconv.ParseInt(f[2], 10, 64)
		if n := len(list); n > 0 {
			list[n-1].old = m.new
		}
		list = append(list, m)
	}
	return list, nil
}

func (ls *Landings) baseMoved(ctx context.Context, r repo.Repo, base, from, to string, branches []string) (string, error) {
	if from == to {
		return "", nil
	}
	list, err := ls.moves(ctx, r, "refs/heads/"+base)
	if err != nil {
		return "", err
	}
	unlogged, err := ls.unlogged(ctx, r)
	if err != nil {
		return "", err
	}
	if len(list) == 0 && unlogged {
		list = []move{{old: from, new: to, message: "reset"}} // there is no log, so only the branches can show it
	}
	if len(list) == 0 || list[0].new != to {
		return fmt.Sprintf("git's log of %s has no entry for it", base), nil
	}
	for _, m := range list {
		if m.new == from {
			break
		}
		if strings.HasPrefix(m.message, ownMove) {
			continue
		}
		word, _, _ := strings.Cut(strings.TrimSuffix(m.message, ":"), " ")
		if word = strings.TrimSuffix(word, ":"); !ordinary[word] {
			return fmt.Sprintf("no commit, merge, pull, rebase or reset did it, by git's log of %s (%s)", base, coppice.Quote(m.message)), nil
		}
		if word == "commit" && m.at == m.made {
			continue // the commit was made right there
		}
		old := m.old
		if old == "" {
			old = from
		}
		if why, err := ls.tasksOwn(ctx, r, base, old, m.new, branches); err != nil || why != "" {
			return why, err
		}
	}
	return "", nil
}

// unlogged reports whether the repository has no log of its branches.
func (ls *Landings) unlogged(ctx context.Context, r repo.Repo) (bool, error) {
	list, err := ls.Git.Settings(ctx, r.Root)
	off := false
	for _, s := range list {
		if s.Key == "core.logallrefupdates" {
			off = slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(s.Value))
		}
	}
	return off, err
}

// tasksOwn describes a commit of a task that a move brought to the base. Such a
// commit is on the task's branch, and neither on a remote nor on another branch.
func (ls *Landings) tasksOwn(ctx context.Context, r repo.Repo, base, old, to string, branches []string) (string, error) {
	args := []string{"rev-list", "--max-count=" + strconv.Itoa(maxSuspects), to}
	if ls.hasObject(ctx, r, old) {
		args = append(args, "^"+old)
	}
	brought, err := ls.Brought(ctx, r)
	if err != nil {
		return "", err
	}
	args = append(args, "--not", "--exclude=*/coppice/*")
	for name := range brought {
		args = append(args, "--exclude=*/"+name)
	}
	args = append(args, "--remotes", "--exclude=coppice/*", "--exclude="+base)
	for name := range brought {
		args = append(args, "--exclude="+name)
	}
	args = append(args, "--branches")
	out, err := ls.Git.Run(ctx, r.Root, args...)
	if err != nil || out == "" {
		return "", err
	}
	fresh := map[string]bool{}
	for _, c := range strings.Fields(out) {
		fresh[c] = true
	}
	tasks, err := ls.suspects(ctx, r, branches)
	if err != nil {
		return "", err
	}
	for _, b := range tasks[:min(len(tasks), maxBranches)] {
		out, err := ls.Git.Run(ctx, b.Dir, append([]string{"rev-list", "--first-parent", "--max-count=" + strconv.Itoa(maxSuspects)}, b.Revs...)...)
		if err != nil {
			if ctx.Err() == nil && branches == nil {
				continue // a damaged workspace
			}
			return "", err
		}
		for _, c := range strings.Fields(out) {
			if fresh[c] {
				return fmt.Sprintf("%s has commit %.10s of %s, which Coppice did not land", base, c, b.Name), nil
			}
		}
	}
	return "", nil
}

func (ls *Landings) hasObject(ctx context.Context, r repo.Repo, commit string) bool {
	_, err := ls.Git.Run(ctx, r.Root, "cat-file", "-e", commit+"^{commit}")
	return err == nil
}

// TaskBranch is the branch of a task, and a directory in which git finds it.
type TaskBranch struct {
	Name string
	Dir  string
	Revs []string // its commits, as git rev-list takes them
}

// suspects lists the branches in the workspaces and those that were brought into
// the person's repository. If there are names, it lists these branches of the
// person's repository instead.
func (ls *Landings) suspects(ctx context.Context, r repo.Repo, names []string) (list []TaskBranch, err error) {
	for _, n := range names {
		name := n[strings.LastIndexByte(n, '.')+1:]
		list = append(list, TaskBranch{strings.TrimPrefix(name, "refs/heads/"), r.Root, []string{"--end-of-options", n}})
	}
	if names != nil {
		return list, nil
	}
	if list, err = ls.BranchesOf(r); err != nil {
		return nil, err
	}
	brought, _, err := ls.RefsBelow(ctx, r.Users(), "refs/heads/coppice/")
	if err != nil {
		return nil, err
	}
	named, err := ls.Brought(ctx, r)
	if err != nil {
		return nil, err
	}
	there, err := ls.heads(ctx, r, slices.Collect(maps.Keys(named)))
	if err != nil {
		return nil, err
	}
	maps.Copy(brought, there)
	for _, ref := range slices.Sorted(maps.Keys(brought)) {
		moves, err := ls.moves(ctx, r, ref)
		if err != nil {
			return nil, err
		}
		b := TaskBranch{strings.TrimPrefix(ref, "refs/heads/"), r.Root, []string{ref}}
		if n := len(moves); n > 0 && moves[n-1].message != ownMove+broughtOver { // the start of the branch, by git's log
			b.Revs = append(b.Revs, "^"+moves[n-1].new)
		}
		list = append(list, b)
	}
	return list, nil
}

// RestoreBase moves the base back to the commit from, by compare-and-swap, and
// with it the checkouts of the base. If a checkout would lose something, nothing
// moves and the error says what. It returns where the base is.
func (ls *Landings) RestoreBase(ctx context.Context, dir, base, from, to string) (now string, err error) {
	r, unlock, err := ls.lockBase(ctx, dir, base, from, to)
	if err != nil {
		return "", err
	}
	defer unlock()
	if now, err = ls.Branch(ctx, r, base); err != nil {
		return "", err
	}
	if now != from && now != to {
		return now, coppice.Errorf(coppice.EConflict, "%s has moved to %.10s in the meantime", base, now).
			WithFix("read `git log %s`, then decide again", base)
	}
	if now == from {
		return from, nil
	}
	res, err := ls.advance(ctx, r, coppice.MoveSpec{Base: base, Old: to, New: from, Remote: "origin"}, to)
	if err == nil && res.Blocked != "" {
		err = coppice.Errorf(coppice.EConflict, "moving %s back would lose changes: %s", base, res.Blocked).
			WithFix("commit it on another branch or stash it, then move the base back again")
	}
	return res.Now, repo.Classify(err)
}

// lockBase waits for the lock of the moves of a repository whose base moved without
// Coppice. It refuses names that are not valid.
func (ls *Landings) lockBase(ctx context.Context, dir, base, from, to string) (r repo.Repo, unlock func(), err error) {
	if err := cmp.Or(coppice.ValidBranch(base), coppice.ValidHash(from), coppice.ValidHash(to)); err != nil {
		return r, nil, err
	}
	if r, err = ls.Use(ctx, dir); err != nil {
		return r, nil, err
	}
	unlock, err = ls.lockMoves(ctx, r)
	return r, unlock, err
}

// KeepBase lets the checkouts follow that did not follow when the base moved
// without Coppice. A checkout that would lose something stays as it is.
func (ls *Landings) KeepBase(ctx context.Context, dir, base, from, to string) error {
	r, unlock, err := ls.lockBase(ctx, dir, base, from, to)
	if err != nil {
		return err
	}
	defer unlock()
	if now, err := ls.Branch(ctx, r, base); err != nil || now != to {
		return err
	}
	_, err = ls.advance(ctx, r, coppice.MoveSpec{Base: base, Old: from, New: to, Remote: "origin"}, to)
	return repo.Classify(err)
}
