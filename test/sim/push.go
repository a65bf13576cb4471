package sim

import (
	"errors"
	"fmt"

	"coppice"
	"coppice/store"
)

// push brings a commit to the remote, unless something blocks the move that
// follows.
func (w *world) push(s coppice.PushSpec, checks []string, verified bool) coppice.PushResult {
	r := w.repos[s.Repo]
	res := coppice.PushResult{Now: r.base}
	there := w.within(s.New, r.base)
	switch {
	case w.within(s.New, r.remote): // an earlier try may have brought it there
		res.Pushed = true
	case !there && r.base != s.Old:
	case !there && r.block != 0:
		res.Blocked, res.Need = blocks[r.block].Blocked, blocks[r.block].Need
	case w.within(r.remote, s.New):
		w.proven(s.New, checks, verified)
		w.agreed(s.New)
		r.remote, res.Pushed = s.New, true
	case w.within(s.Old, r.remote): // somebody pushed first
		r.base, res.Now = r.remote, r.remote
		r.history = append(r.history, r.base)
	default:
		res.Blocked = "lock: gone different ways"
	}
	return res
}

func (s *sim) push(w coppice.Work) (any, error) {
	return publish(s, w, func(v coppice.PushSpec) (string, string) { return v.Repo, v.New }, s.world.push)
}

func (s *sim) move(w coppice.Work) (any, error) {
	return publish(s, w, func(v coppice.MoveSpec) (string, string) { return v.Repo, v.New }, func(v coppice.MoveSpec, checks []string, verified bool) coppice.MoveResult {
		if v.Follow {
			return s.world.follow(v, w.TaskID != 0)
		}
		return s.world.move(v, checks, verified)
	})
}

// publish moves a repository's remote or base to a commit, while people edit it.
func publish[S, R any](s *sim, w coppice.Work, commitOf func(S) (repo, commit string), do func(v S, checks []string, verified bool) R) (any, error) {
	v, err := coppice.DecodeSpec[S](w)
	if err != nil {
		return nil, err
	}
	repo, commit := commitOf(v)
	r := s.world.repos[repo]
	verified, checks := true, r.checks // where the base was before
	if task := s.world.commits[commit].task; task != "" {
		var skipErr error
		verified, err = s.mayLand(commit)
		checks, skipErr = s.checksOf(task, r.checks)
		err = errors.Join(err, skipErr)
	}
	s.edit(r)
	s.reconcile(r)
	return do(v, checks, verified), err
}

// moveRemote is a person elsewhere, who pushes a commit.
func (s *sim) moveRemote() error {
	r := s.world.repos[fmt.Sprintf("/repo/%d", s.rng.IntN(len(s.world.repos)))]
	if r.remote == "" {
		return nil
	}
	s.made++
	tree := clone(s.world.tree(r.remote))
	tree[fmt.Sprintf("f%d", s.rng.IntN(6))] = fmt.Sprintf("elsewhere#%d", s.made)
	r.remote = s.world.add(r.remote, tree, "", fmt.Sprint(s.made))
	return nil
}

// reconcile is a person who merges, now and then, a base and a remote that have
// gone different ways.
func (s *sim) reconcile(r *repo) {
	w := s.world
	if r.remote == "" || w.within(r.base, r.remote) || w.within(r.remote, r.base) || !s.calm && s.rng.IntN(2) == 0 {
		return
	}
	s.made++
	tree := clone(w.tree(r.remote))
	for file, version := range w.tree(r.base) {
		tree[file] = version
	}
	for at := r.base; at != ""; at = w.commits[at].parent {
		delete(w.suspect, at) // they looked at all of it
	}
	r.base = w.add(r.remote, tree, "", fmt.Sprint("merge ", s.made))
	r.history = append(r.history, r.base)
}

// remoteHolds: what was pushed has landed, once all tasks have ended.
func (s *sim) remoteHolds(r store.Reader) error {
	if s.opt.Pulls { // people merge what they want
		return nil
	}
	for path, repo := range s.world.repos {
		for at := repo.remote; at != ""; at = s.world.commits[at].parent {
			key := s.world.commits[at].task
			if key == "" || s.world.within(at, repo.base) {
				continue
			}
			if t, err := r.Tasks.ByKey(key); err == nil && t.Ended() {
				return fmt.Errorf("%s is %s, and %s of it is on the remote of %s alone", key, t.Outcome, at, path)
			}
		}
	}
	return nil
}
