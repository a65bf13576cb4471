package landing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/gitconfig"
	"coppice/workspace/repo"
)

// Push pushes New to a branch of a remote, never by force. First it checks that
// nothing blocks the move that follows, so that the remote does not move without
// it. If the remote has commits that the local branch does not have, the branch
// gets them, and the landing starts again from there.
//
// Push holds no lock while it is connected to the remote, so other branches of the
// repository can land. A stop of the server ends the connection.
func (ls *Landings) Push(ctx context.Context, spec coppice.PushSpec) (coppice.PushResult, error) {
	move := coppice.MoveSpec{Repo: spec.Repo, RepoID: spec.RepoID, Base: spec.Base, Old: spec.Old, New: spec.New, Remote: spec.Remote}
	if err := validMove(&move); err != nil {
		return coppice.PushResult{}, err
	}
	return repo.In(ctx, ls.Repos, spec.Repo, func(r repo.Repo) (coppice.PushResult, error) { return ls.push(ctx, r, move) })
}

func (ls *Landings) push(ctx context.Context, r repo.Repo, spec coppice.MoveSpec) (coppice.PushResult, error) {
	at, err := ls.mayMove(ctx, r, spec)
	res := coppice.PushResult{Now: at.Now, Blocked: at.Blocked, Need: at.Need}
	if err != nil {
		return res, err
	}
	n, err := ls.network(ctx, r)
	if err != nil {
		return res, err
	}
	defer n.close()
	free := at.Blocked == "" && (at.Now == spec.Old || at.Moved)
	if !n.remotes[spec.Remote] && free {
		res.Blocked = fmt.Sprintf("there is no remote %[1]s to push to; add it with `git remote add %[1]s <address>`, or set land.push to false", spec.Remote)
		return res, nil
	}
	dst := "refs/heads/" + spec.Base
	talk, cancel := stopCtx(ctx) // a stop ends it
	defer cancel()
	if !free {
		return ls.pushedBefore(talk, r, n, spec, res)
	}
	out, _, err := ls.Git.Status(talk, n.call("push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no", spec.Remote, spec.New+":"+dst))
	switch {
	case err == nil:
		res.Pushed = true
		return res, ls.Step("pushed")
	case talk.Err() != nil:
		return res, err
	case !refused(out, dst):
		return res, unreachable(spec.Remote, err)
	}
	theirs, err := ls.fetch(talk, r, n, spec)
	if err != nil {
		return res, err
	}
	return ls.refusedAt(ctx, r, spec, res, theirs, reason(out, dst))
}

// pushedBefore finds out whether an earlier attempt has pushed New to the remote
// before something blocked the move here. A landing that others have seen must not
// start again.
func (ls *Landings) pushedBefore(ctx context.Context, r repo.Repo, n *network, spec coppice.MoveSpec, res coppice.PushResult) (coppice.PushResult, error) {
	if !n.remotes[spec.Remote] {
		return res, nil
	}
	out, err := ls.Git.Do(ctx, n.call("ls-remote", "--heads", spec.Remote, "refs/heads/"+spec.Base))
	if err != nil {
		return res, errors.Join(context.Cause(ctx), unreachable(spec.Remote, err))
	}
	theirs, _, found := strings.Cut(out, "\t")
	if !found || theirs == spec.Old {
		return res, nil
	}
	if theirs != spec.New {
		if theirs, err = ls.fetch(ctx, r, n, spec); err != nil {
			return res, err
		}
	}
	res.Pushed, err = ls.IsAncestor(ctx, r, spec.New, theirs)
	return res, err
}

// mayMove returns where the base is, and what would block its move to New.
func (ls *Landings) mayMove(ctx context.Context, r repo.Repo, spec coppice.MoveSpec) (coppice.MoveResult, error) {
	unlock, err := ls.Locks.Wait(ctx, moveLock(r))
	if err != nil {
		return coppice.MoveResult{}, err
	}
	defer unlock()
	res, free, err := ls.standing(ctx, r, spec)
	if err != nil || !free {
		return res, err
	}
	p, err := ls.plan(ctx, r, spec)
	return p.blocked, err
}

// refusedAt returns what follows if a remote refuses New. The branch of the remote is
// at theirs.
func (ls *Landings) refusedAt(ctx context.Context, r repo.Repo, spec coppice.MoveSpec, res coppice.PushResult, theirs, why string) (coppice.PushResult, error) {
	if has, err := ls.IsAncestor(ctx, r, spec.New, theirs); err != nil || has {
		res.Pushed = has // somebody pushed New and more on top of it
		return res, err
	}
	if behind, err := ls.IsAncestor(ctx, r, theirs, spec.Old); err != nil {
		return res, err
	} else if behind { // the remote is up to date and refuses: it has a rule
		res.Blocked = fmt.Sprintf("%s refuses the push to %s: %s", spec.Remote, spec.Base, why)
		return res, nil
	}
	if ahead, err := ls.IsAncestor(ctx, r, spec.Old, theirs); err != nil {
		return res, err
	} else if ahead {
		took, err := ls.move(ctx, r, coppice.MoveSpec{Base: spec.Base, Old: spec.Old, New: theirs, Remote: spec.Remote})
		return coppice.PushResult{Now: took.Now, Blocked: took.Blocked, Need: took.Need}, err
	}
	res.Blocked = fmt.Sprintf("%s and %s/%s have diverged: merge or rebase %s by hand", spec.Base, spec.Remote, spec.Base, spec.Base)
	return res, nil
}

// network is a git directory for one connection to a remote. It has the settings
// that the person confirmed, and nobody else uses it. It borrows the objects of
// Coppice's own repository.
type network struct {
	dir     string
	env     []string
	config  []string        // settings with credentials, which are in no file
	remotes map[string]bool // those that have an address, by name
}

func (n *network) close() { _ = os.RemoveAll(n.dir) }

func (n *network) call(args ...string) git.Call {
	return git.Call{Dir: n.dir, Args: args, Env: n.env, Config: n.config, Network: true}
}

// network creates the directory.
func (ls *Landings) network(ctx context.Context, r repo.Repo) (*network, error) {
	settings, err := ls.Git.Settings(ctx, r.Root)
	if err != nil {
		return nil, err
	}
	confirmed, known := ls.Confirmed(r.Dir)
	settings = gitconfig.Counting(settings, confirmed, known)
	n := &network{remotes: map[string]bool{}}
	needed := slices.DeleteFunc(gitconfig.Needed(settings), gitconfig.HasCredentials)
	local := append(needed, gitconfig.Set("core.bare", "true"))
	var global []git.Setting
	for _, s := range settings {
		if name, ok := strings.CutSuffix(strings.TrimPrefix(s.Key, "remote."), ".url"); ok && strings.HasPrefix(s.Key, "remote.") {
			n.remotes[name] = s.Value != ""
		}
		switch {
		case gitconfig.HasCredentials(s) && !gitconfig.IsLocal(s.Key):
			n.config = append(n.config, git.Pair(s.Key, s.Value))
		case s.Scope == gitconfig.HookScope || gitconfig.IsLocal(s.Key) || strings.HasSuffix(s.Key, ".mirror"):
		case s.Scope == "global" || s.Scope == "system":
			global = append(global, s)
		case gitconfig.MustConfirm(s.Key):
			local = append(local, s)
		}
	}
	if err := os.MkdirAll(r.Tmp(), 0o700); err != nil {
		return nil, err
	}
	if n.dir, err = os.MkdirTemp(r.Tmp(), "network-"); err != nil {
		return nil, err
	}
	err = repo.WriteFiles(n.dir, map[string]string{
		"HEAD":                    "ref: refs/heads/coppice/none\n",
		"config":                  gitconfig.Render(local),
		"global":                  gitconfig.Render(global),
		"objects/info/alternates": repo.Alternate(filepath.Join(r.Git, "objects")),
		"refs/heads/":             "",
		"objects/pack/":           "",
	})
	if err == nil {
		err = repo.CopyChanged(filepath.Join(r.Git, "shallow"), filepath.Join(n.dir, "shallow"))
	}
	if err != nil {
		n.close()
		return nil, err
	}
	n.env = []string{"GIT_CONFIG_GLOBAL=" + filepath.Join(n.dir, "global"), "GIT_DIR=" + n.dir}
	return n, nil
}

// refused reports whether the remote was reached and refused the ref.
func refused(porcelain, dst string) bool { return reason(porcelain, dst) != "" }

// reason returns why the remote refused the ref, from a line such as
// "!\t<src>:<dst>\t[rejected] (fetch first)".
func reason(porcelain, dst string) string {
	for l := range strings.Lines(porcelain) {
		f := strings.Split(strings.TrimSpace(l), "\t")
		if len(f) == 3 && f[0] == "!" && strings.HasSuffix(f[1], ":"+dst) {
			return f[2]
		}
	}
	return ""
}

// fetch fetches the remote's base into Coppice's own repository. The person's
// remote-tracking branches and FETCH_HEAD stay as they are.
func (ls *Landings) fetch(ctx context.Context, r repo.Repo, n *network, spec coppice.MoveSpec) (string, error) {
	const ref = "refs/coppice/fetched"
	c := n.call("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", "--no-recurse-submodules", "--no-auto-maintenance", spec.Remote, "+refs/heads/"+spec.Base+":"+ref)
	c.Env = append(slices.Clone(c.Env), "GIT_OBJECT_DIRECTORY="+filepath.Join(r.Git, "objects"))
	if _, err := ls.Git.Do(ctx, c); err != nil {
		return "", errors.Join(context.Cause(ctx), unreachable(spec.Remote, err))
	}
	c.Args = []string{"rev-parse", "--verify", ref + "^{commit}"}
	out, err := ls.Git.Do(ctx, c)
	theirs := strings.TrimSpace(out)
	if err != nil {
		return "", err
	}
	return theirs, ls.SetRef(ctx, r, "refs/coppice/remote/"+spec.Remote+"/"+spec.Base, theirs)
}

func unreachable(remote string, err error) error {
	return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("cannot reach the remote %s: %s", remote, repo.Message(err)),
		"make sure that `git push` works without asking for a password")
}
