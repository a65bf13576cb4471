package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
	"coppice/workspace/repo"
)

// Strays returns the branches that an agent created in a workspace besides the
// task's. Call it after Save.
func (w *Workspaces) Strays(ctx context.Context, path string) ([]coppice.StrayBranch, error) {
	r, s, err := w.byPath(path)
	if err != nil {
		return nil, err
	}
	unlock, err := w.Locks.Wait(ctx, s.slotLock(r))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if s.Head, err = w.ownHead(ctx, r, s); err != nil {
		return nil, err
	}
	list, err := w.strays(ctx, r, s)
	return list, repo.Classify(err)
}

// strays returns the branches that an agent created or moved in a workspace besides
// the task's. A branch with the name of a person's branch is one of them only if it
// has its own commits: commits that are in none of the person's branches, and not in
// s.Head. A branch whose history is incomplete is left out.
func (w *Workspaces) strays(ctx context.Context, r repo.Repo, s slot) ([]coppice.StrayBranch, error) {
	made, _, err := w.RefsBelow(ctx, s.inside(r), "refs/heads/")
	if err != nil {
		return nil, err
	}
	users, _, err := w.RefsBelow(ctx, r.Users(), repo.ShownRefs...)
	if err != nil {
		return nil, err
	}
	files := w.Files(ctx, r.Git)
	maps.DeleteFunc(made, func(name, id string) bool {
		return name == "refs/heads/"+s.Branch || users[name] == id || users[name] != "" && files.IsAncestor(id, users[name]) ||
			strings.ContainsFunc(name, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) })
	})
	if len(made) == 0 {
		return nil, nil
	}
	if err := w.Publish(ctx, r, s.inside(r).Git); err != nil {
		return nil, err
	}
	var known strings.Builder
	fmt.Fprintf(&known, "^%s\n", s.Head)
	for _, id := range users {
		fmt.Fprintf(&known, "^%s\n", id)
	}
	var list []coppice.StrayBranch
	for _, name := range slices.Sorted(maps.Keys(made)) {
		b := coppice.StrayBranch{Name: strings.TrimPrefix(name, "refs/heads/"), Head: made[name]}
		if b.Head != s.Head && b.Head != s.Base {
			if missing, err := w.Complete(ctx, r, b.Head, s.Base); err != nil || missing != "" {
				w.Log.WarnContext(ctx, "a branch of a workspace is incomplete, and is left out", "branch", name, "missing", missing, "error", err)
				continue
			}
			out, err := w.Git.Do(ctx, git.Call{Dir: r.Git, Args: []string{"rev-list", "--max-count=1", "--ignore-missing", "--stdin"}, Stdin: []byte(b.Head + "\n" + known.String())})
			if err != nil {
				return nil, err
			}
			b.Own = strings.TrimSpace(out) != ""
		}
		// A branch that the person, or a flow, has deleted since is only in packed-refs,
		// or it is the base. A branch that the agent changed has a log, too.
		inside := func(file string) bool { return repo.Exists(filepath.Join(s.inside(r).Git, filepath.FromSlash(file))) }
		shown := b.Name == s.Onto || !inside(name)
		if !b.Own && (users[name] != "" || shown) || shown && !inside("logs/"+name) {
			continue
		}
		if len(list) == coppice.MostStrays {
			w.Log.WarnContext(ctx, "a workspace has too many branches; the rest are left out", "path", s.path(r), "branches", len(made))
			break
		}
		list = append(list, b)
	}
	return list, nil
}

// withOwnCommits returns the branches that have their own commits.
func withOwnCommits(list []coppice.StrayBranch) []coppice.StrayBranch {
	return slices.DeleteFunc(slices.Clone(list), func(b coppice.StrayBranch) bool { return !b.Own })
}

const strayLine = "Stray: "

// addStrays adds branches to the commit of an index in the trash: their commits are
// parents, and the message names them.
func addStrays(c *gitfiles.Commit, list []coppice.StrayBranch) {
	for i, b := range list {
		if i == 0 {
			c.Message += "\n"
		}
		c.Message += fmt.Sprintf("%s%s refs/heads/%s\n", strayLine, b.Head, b.Name)
		if !slices.Contains(c.Parents, b.Head) {
			c.Parents = append(c.Parents, b.Head)
		}
	}
}

// keptStrays returns the branches of an agent whose commits an entry of the trash
// keeps. It returns none if the entry cannot be read.
func (w *Workspaces) keptStrays(ctx context.Context, r repo.Repo, ref string) (list []coppice.StrayBranch) {
	refs, err := w.Refs(ctx, r.Own(), ref)
	if err != nil || refs[ref] == "" {
		return nil
	}
	files := w.Files(ctx, r.Git)
	message := ""
	trash, err := files.Commit(refs[ref])
	if err == nil && len(trash.Parents) < 2 {
		return nil
	}
	if err == nil {
		var index gitfiles.Commit
		index, err = files.Commit(trash.Parents[1])
		message = index.Message
	}
	if err != nil {
		if message, err = w.Git.Run(ctx, r.Git, "log", "-1", "--format=%B", refs[ref]+"^2"); err != nil {
			return nil
		}
	}
	for line := range strings.Lines(message) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), strayLine)
		id, name, _ := strings.Cut(rest, " ")
		if name, isBranch := strings.CutPrefix(name, "refs/heads/"); ok && isBranch && coppice.ValidHash(id) == nil {
			list = append(list, coppice.StrayBranch{Name: name, Head: id, Own: true, Ref: ref})
		}
	}
	return list
}

// restoreStrays creates the branches of the agent again in a restored workspace.
func (w *Workspaces) restoreStrays(ctx context.Context, tree string, list []coppice.StrayBranch) error {
	for _, b := range list {
		// A name can conflict with a branch that the person has made since.
		if _, err := w.Git.Run(ctx, tree, "update-ref", "refs/heads/"+b.Name, b.Head); err != nil && git.Exit(err) <= 0 {
			return err
		}
	}
	return nil
}

// DropStrays removes the stray branches of a workspace. An entry of the trash keeps
// those that have their own commits. A branch that is checked out stays.
func (w *Workspaces) DropStrays(ctx context.Context, spec coppice.StraysSpec) (coppice.StraysResult, error) {
	var res coppice.StraysResult
	if err := cmp.Or(validKey(spec.Key), coppice.ValidBranch(spec.Branch), repo.ValidTrash(spec.Ref)); err != nil {
		return res, err
	}
	r, err := w.Use(ctx, spec.Repo)
	if err != nil {
		return res, err
	}
	s, ok, err := w.owned(r, spec.Key)
	if err != nil || !ok {
		return res, err
	}
	unlock, err := w.Locks.Wait(ctx, s.slotLock(r))
	if err != nil {
		return res, err
	}
	defer unlock()
	if s, err = readSlot(s.metaFile(r)); err != nil || s.Key != spec.Key || s.State != slotReady {
		if os.IsNotExist(err) {
			err = nil
		}
		return res, err
	}
	res, err = w.dropStrays(ctx, r, s, spec.Ref)
	return res, repo.Classify(err)
}

func (w *Workspaces) dropStrays(ctx context.Context, r repo.Repo, s slot, ref string) (res coppice.StraysResult, err error) {
	if err := w.UnlockStale(ctx, s.path(r)); err != nil {
		return res, err
	}
	if s.Head, err = w.ownHead(ctx, r, s); err != nil {
		return res, err
	}
	res.Head = s.Head
	on, _, err := w.Head(ctx, s.path(r))
	if err != nil {
		return res, err
	}
	list, err := w.strays(ctx, r, s)
	if err != nil {
		return res, err
	}
	list = slices.DeleteFunc(list, func(b coppice.StrayBranch) bool { return "refs/heads/"+b.Name == on })
	// An earlier attempt might have written the entry and removed some of the branches.
	kept := w.keptStrays(ctx, r, ref)
	for _, b := range withOwnCommits(list) {
		if !slices.ContainsFunc(kept, func(k coppice.StrayBranch) bool { return k.Name == b.Name && k.Head == b.Head }) {
			b.Ref = ref
			kept = append(kept, b)
		}
	}
	if len(kept) > 0 {
		tree := s.Head + "^{tree}"
		commit, err := w.trashCommit(ctx, r, s, s.Head, snapshot{files: tree, index: tree, strays: kept})
		if err != nil {
			return res, err
		}
		if err := errors.Join(w.SetRef(ctx, r, ref, commit), w.Step("strays kept")); err != nil {
			return res, err
		}
	}
	var lines []string
	res.Strays = kept
	for _, b := range list {
		lines = append(lines, "delete refs/heads/"+b.Name+" "+b.Head)
		if !b.Own {
			res.Strays = append(res.Strays, b)
		}
	}
	return res, errors.Join(w.UpdateRefs(ctx, s.inside(r), "remove", lines...), w.Step("strays dropped"))
}
