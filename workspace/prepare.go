package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"coppice"
	"coppice/workspace/repo"
)

// Prepare creates or completes the workspace of a task. If the branch does not exist,
// it starts at the base's commit, or at the one that the spec names. A detached
// workspace is at a commit and on no branch, and its files are read-only.
func (w *Workspaces) Prepare(ctx context.Context, spec coppice.PrepareSpec) (coppice.PrepareResult, error) {
	if spec.Detached {
		return w.prepareDetached(ctx, spec)
	}
	if err := cmp.Or(validKey(spec.Key), coppice.ValidBranch(spec.Branch), coppice.ValidBranch(spec.Base), validPolicy(spec.Policy)); err != nil {
		return coppice.PrepareResult{}, err
	}
	r, err := w.Use(ctx, spec.Repo)
	if err != nil {
		return coppice.PrepareResult{}, err
	}
	if err := w.fetchStart(ctx, r, spec); err != nil {
		return coppice.PrepareResult{}, err
	}
	base, err := w.Branch(ctx, r, spec.Base)
	if err != nil {
		return coppice.PrepareResult{}, err
	}
	if err := w.Keep(ctx, r, base); err != nil {
		return coppice.PrepareResult{}, repo.Classify(err)
	}
	start := base
	if spec.From != "" {
		if start, base, err = w.forkPoint(ctx, r, spec.From, base); err != nil {
			return coppice.PrepareResult{}, repo.Classify(err)
		}
	}
	want := slot{Key: spec.Key, Branch: spec.Branch, Onto: spec.Base, Base: base}
	res, err := w.build(ctx, r, want, building{start: start, policy: spec.Policy})
	return res, repo.Classify(err)
}

// fetchStart fetches the commit from which a branch starts, if only a remote has it.
func (w *Workspaces) fetchStart(ctx context.Context, r repo.Repo, spec coppice.PrepareSpec) error {
	if spec.Fetch == "" || w.exists(ctx, r, spec.From) {
		return nil
	}
	at, err := w.Fetch(ctx, spec.Repo, spec.Remote, spec.Fetch)
	if err == nil && !w.exists(ctx, r, spec.From) {
		err = coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the branch %s of the remote is at %.12s, which does not contain %.12s", spec.Fetch, at, spec.From),
			"retry the task after Coppice has read the pull request again")
	}
	return err
}

func (w *Workspaces) exists(ctx context.Context, r repo.Repo, commit string) bool {
	_, err := w.Git.Run(ctx, r.Git, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{commit}")
	return err == nil
}

// forkPoint resolves the branch or commit from which another branch starts, and
// where it left the base. A task's branch is in Coppice's own repository.
func (w *Workspaces) forkPoint(ctx context.Context, r repo.Repo, from, base string) (start, left string, err error) {
	if coppice.ValidHash(from) == nil {
		if start, err = w.Git.Run(ctx, r.Git, "rev-parse", "--verify", "--quiet", "--end-of-options", from+"^{commit}"); err != nil {
			return "", "", coppice.Failf(coppice.ClassEnvironment, "the commit "+from+" to start from is gone", "create a new task")
		}
	} else if err = coppice.ValidBranch(from); err != nil {
		return "", "", err
	} else if start, err = w.anyBranch(ctx, r, from); err != nil {
		return "", "", err
	}
	own, err := w.IsOwn(ctx, r, start)
	if err == nil && !own {
		err = w.Keep(ctx, r, start)
	}
	if err != nil {
		return "", "", err
	}
	if left, err = w.Git.Run(ctx, r.Git, "merge-base", base, start); err != nil {
		return "", "", fmt.Errorf("finding where %s left the base: %w", from, err)
	}
	return start, left, nil
}

// anyBranch returns the commit of a branch of a task or of the person. It includes
// commits of an agent that still runs.
func (w *Workspaces) anyBranch(ctx context.Context, r repo.Repo, name string) (string, error) {
	if err := w.saveCommits(ctx, r, name); err != nil {
		w.Log.WarnContext(ctx, "the newest commits of a branch cannot be read", "branch", name, "error", err)
	}
	refs, err := w.Refs(ctx, r.Own(), "refs/heads/"+name)
	if err != nil {
		return "", err
	}
	if id := refs["refs/heads/"+name]; id != "" {
		return id, nil
	}
	return w.Branch(ctx, r, name)
}

// saveCommits copies the commits of a task's branch into Coppice's own repository,
// while an agent may still run in the workspace.
func (w *Workspaces) saveCommits(ctx context.Context, r repo.Repo, branch string) error {
	list, err := w.slots(r)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(s slot) bool { return s.State == slotReady && s.Branch == branch })
	if i < 0 {
		return nil
	}
	dir, own := list[i].inside(r).Git, "refs/heads/"+branch
	inside, err := w.Refs(ctx, list[i].inside(r), own)
	head := inside[own]
	if err != nil || head == "" {
		return err
	}
	refs, err := w.Refs(ctx, r.Own(), own)
	if err != nil || refs[own] == head {
		return err
	}
	if err := w.Publish(ctx, r, dir); err != nil {
		return err
	}
	missing, err := w.Complete(ctx, r, head, list[i].Base)
	if err == nil && missing != "" {
		err = errors.New(missing)
	}
	if err != nil {
		return err
	}
	return w.SetRef(ctx, r, own, head)
}

func validKey(key string) error {
	_, _, session, err := coppice.ParseKey(key)
	if err == nil && session != 0 {
		err = coppice.Errorf(coppice.EInvalid, "%s is a session, not a task", coppice.Quote(key))
	}
	return err
}

// building says how a workspace is made.
type building struct {
	start  string // the commit of its branch, if the branch must be created
	policy coppice.WorkspacePolicy
	fill   func(ctx context.Context, path string) error // puts uncommitted state into it
}

// build claims a slot for the key and makes it ready.
func (w *Workspaces) build(ctx context.Context, r repo.Repo, want slot, b building) (coppice.PrepareResult, error) {
	for {
		s, err := w.claim(ctx, r, want)
		if err != nil {
			return coppice.PrepareResult{}, err
		}
		res, again, err := w.occupy(ctx, r, s, want, b)
		if err != nil || !again {
			return res, err
		}
	}
}

// occupy makes a claimed slot ready. It returns again if another key got the slot
// between the claim and its lock.
func (w *Workspaces) occupy(ctx context.Context, r repo.Repo, s, want slot, b building) (res coppice.PrepareResult, again bool, err error) {
	unlock, err := w.Locks.Wait(ctx, s.slotLock(r))
	if err != nil {
		return res, false, err
	}
	defer unlock()
	claimed := s
	s, err = readSlot(s.metaFile(r))
	if errors.Is(err, os.ErrNotExist) || (err == nil && (s.Key != want.Key || s.State == slotIdle)) {
		return res, true, nil
	}
	if err != nil {
		return res, false, err
	}
	if s.State == slotRemoving {
		// A removal crashed. It is completed first, and then the task starts again.
		_, err := w.finishRemove(ctx, r, s)
		return res, err == nil, err
	}
	if s.Branch != want.Branch {
		return res, false, coppice.Errorf(coppice.EConflict, "the workspace of %s is on the branch %s, not %s", s.Key, s.Branch, want.Branch)
	}
	if s.isDetached() && s.Base != want.Base {
		// It is at another commit.
		err := w.dropDetached(ctx, r, s)
		return res, err == nil, err
	}
	head := ""
	if s.State == slotMaking {
		s.Clean = claimed.Clean && s.Claim == claimed.Claim
		if !s.Clean && s.Claim != "" {
			// The caller that claimed it clean must not rely on that any more.
			s.Claim = ""
			if err := w.writeSlot(r, s); err != nil {
				return res, false, err
			}
		}
		s, head, err = w.makeReady(ctx, r, s, b)
	} else {
		head, err = w.readyHead(ctx, r, s)
	}
	if err != nil {
		return res, false, err
	}
	return coppice.PrepareResult{Path: s.path(r), BaseCommit: s.Base, Head: head, Ports: s.Ports}, false, nil
}

// makeReady takes a slot from making to ready. Each step can be repeated.
func (w *Workspaces) makeReady(ctx context.Context, r repo.Repo, s slot, b building) (_ slot, head string, err error) {
	path := s.path(r)
	branched := false
	if s.isDetached() {
		err = w.populateDetached(ctx, r, s)
	} else {
		branched, err = w.populate(ctx, r, s, b.start)
	}
	if err != nil {
		return s, "", err
	}
	if branched {
		// The branch existed before, so this is a retry. Its base is where it left
		// the base branch, not where that is now.
		if mb, err := w.Git.Run(ctx, path, "merge-base", s.Base, "HEAD"); err == nil {
			s.Base = mb
		}
	}
	s.Made, s.Clean, s.Claim = true, false, ""
	if s.Ports, err = w.ports.Give(ctx, portOwner(r, s.Key), b.policy.Ports); err != nil {
		return s, "", err
	}
	if s.Given, err = w.provide(ctx, r, path, b.policy); err != nil {
		return s, "", err
	}
	if err := errors.Join(w.writeSlot(r, s), w.Step("provided")); err != nil {
		return s, "", err
	}
	if !s.SetUp {
		if err := w.setup(ctx, r, path, b.policy, Env(s.task(), path, s.Branch, s.Ports)); err != nil {
			return s, "", err
		}
		s.SetUp = true
	}
	if b.fill != nil { // last, because changes by the agent win
		if err := b.fill(ctx, path); err != nil {
			return s, "", err
		}
	}
	if err := w.Step("set up"); err != nil {
		return s, "", err
	}
	if s.isDetached() {
		head, err = w.settleDetached(ctx, r, &s, b.policy)
	} else {
		head, err = w.onBranch(ctx, path, s.Branch)
	}
	if err != nil {
		return s, "", err
	}
	s.State = slotReady
	return s, head, w.writeSlot(r, s)
}

// readyHead returns the head of an existing workspace, and saves commits that a person
// may have made there. It repairs a damaged workspace first.
func (w *Workspaces) readyHead(ctx context.Context, r repo.Repo, s slot) (string, error) {
	if s.isDetached() {
		return w.headOf(ctx, s.path(r))
	}
	what, err := w.damage(ctx, r, s)
	if err != nil {
		return "", err
	}
	if what != "" {
		return w.repair(ctx, r, s, what)
	}
	head, err := w.headOf(ctx, s.path(r))
	if err != nil {
		return "", err
	}
	if on, _, err := w.Head(ctx, s.path(r)); err != nil || on != "refs/heads/"+s.Branch {
		return head, err // it is not on the task's branch
	}
	head, _, err = w.keepBranch(ctx, r, s, head, false)
	return head, err
}

func portOwner(r repo.Repo, key string) string { return filepath.Base(r.Dir) + "/" + key }

// onBranch verifies that a workspace is on its branch, and returns its head.
func (w *Workspaces) onBranch(ctx context.Context, path, branch string) (string, error) {
	on, id, err := w.Head(ctx, path)
	if err != nil {
		return "", err
	}
	if id == "" || on != "refs/heads/"+branch {
		return "", coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the workspace %s is not on its branch %s after the checkout", path, branch),
			"make sure that no setup command changes branches")
	}
	return id, nil
}

// headOf returns the commit of a workspace, which must have one.
func (w *Workspaces) headOf(ctx context.Context, path string) (string, error) {
	_, id, err := w.Head(ctx, path)
	if err == nil && id == "" {
		err = fmt.Errorf("%s is on a branch without a commit", path)
	}
	return id, err
}
