package sim

import (
	"fmt"
	"strings"

	"coppice"
	"coppice/store"
)

// look is the worktree of a session that only looks.
type look struct {
	commit  string
	removed bool
}

// prepareLook makes a worktree to look at a commit, or finds it.
func (w *world) prepareLook(s coppice.PrepareSpec) coppice.PrepareResult {
	if s.From == "" {
		s.From = *w.ref(s.Repo, s.Base)
		if l := w.looks[s.Key]; l != nil && !l.removed {
			l.commit = s.From
		}
	}
	if _, ok := w.commits[s.From]; !ok {
		w.breakf("a worktree for %s was requested at %q, which is not a commit", s.Key, s.From)
	}
	if w.looks[s.Key] == nil {
		w.looks[s.Key] = &look{commit: s.From}
	}
	if l := w.looks[s.Key]; l.commit != s.From || l.removed {
		w.breakf("the worktree of %s was requested at %s, it is %+v", s.Key, s.From, *l)
	}
	return coppice.PrepareResult{Path: "/w/" + s.Key, Head: s.From, Ports: []int{4000}}
}

// removeLook removes it, if it was made.
func (w *world) removeLook(s coppice.RemoveSpec) coppice.RemoveResult {
	if h := w.hosts[s.Key]; h != nil && h.phase == "running" {
		w.breakf("the worktree of %s was removed while it ran", s.Key)
	}
	if l := w.looks[s.Key]; l != nil {
		l.removed = true
	}
	return coppice.RemoveResult{}
}

// ofSession reports whether a key is a session's.
func ofSession(key string) bool { return strings.Contains(key, ".") }

// looker holds the engine to its word about a session that only looks, and
// returns the commit it looks at.
func (w *world) looker(s coppice.RunSpec) string {
	l := w.looks[s.Session.Key]
	switch {
	case l == nil || l.removed || s.Path != "/w/"+s.Session.Key || len(s.Ports) != 1:
		w.breakf("%s was started without a separate worktree", s.Session.Key)
		return ""
	case !s.ReadOnly || s.Branch != "" || s.Session.Screen || s.Session.Resume != "":
		w.breakf("%s, which only looks, was started as %+v", s.Session.Key, s)
	case len(s.Permissions.Rules) == 0 || s.Permissions.Rules[0].Tool != "edit" || s.Permissions.Rules[0].Do != coppice.RuleDeny:
		w.breakf("%s only looks and may edit: %+v", s.Session.Key, s.Permissions.Rules)
	}
	return l.commit
}

// verify lets a verifier end with a verdict: for the candidate, against it, on
// some of its steps only, none at all, or one that is void.
func (s *sim) verify(key string, h *hostState) error {
	x, err := s.session(key)
	if err != nil {
		return err
	}
	var t coppice.Task
	err = s.st.View(s.ctx, func(r store.Reader) error {
		t, err = r.Tasks.Get(x.TaskID)
		return err
	})
	if err != nil {
		return err
	}
	steps, zero := max(1, len(t.Steps)), 0
	res := coppice.RunResult{Exit: &zero, Conversation: "c-" + key, Usage: s.used(h)}
	pass := true
	var said []string
	for n := range steps {
		word := "PASS"
		if s.rng.IntN(8*steps) == 0 {
			word, pass = "FAIL", false
		}
		said = append(said, fmt.Sprintf("STEP %d: %s I looked", n+1, word))
	}
	switch s.rng.IntN(16) {
	case 0:
		said, pass = nil, false
	case 1:
		said, pass = said[1:], false
	case 2:
		res.Changed, pass = []string{"README"}, false
	}
	res.Summary = strings.Join(said, "\n")
	if pass {
		s.world.passed[s.world.heads[h.from]] = true
	}
	s.world.end(h, res)
	return nil
}

// verified returns the task of a verifier that runs, half of the time: there are
// few of them, and people should get in their way as well.
func (s *sim) verified(otherwise string) string {
	if s.opt.Plain || s.rng.IntN(2) == 0 {
		return otherwise
	}
	var tasks []string
	for _, key := range s.running() {
		if h := s.world.hosts[key]; h.role == coppice.RoleVerify {
			tasks = append(tasks, h.task)
		}
	}
	if len(tasks) == 0 {
		return otherwise
	}
	return tasks[s.rng.IntN(len(tasks))]
}

// wanted reports whether a verifier has to pass a task's candidates.
func wanted(r store.Reader, t coppice.Task) (bool, error) {
	p, err := r.Projects.Get(t.ProjectID)
	by := p.Policy.Verify.By
	return by == coppice.VerifyAgent || by == "" && len(t.Steps) > 0, err
}

// mayLand reports whether a merged commit has the verdict that its task needs.
func (s *sim) mayLand(commit string) (ok bool, err error) {
	ok = s.world.passed[s.world.heads[commit]] || s.world.reverts[commit] != "" // nobody verifies what is taken off
	if ok {
		return ok, nil
	}
	err = s.st.View(s.ctx, func(r store.Reader) error {
		t, err := r.Tasks.ByKey(s.world.commits[commit].task)
		if err != nil {
			return err
		}
		want, err := wanted(r, t)
		ok = !want
		return err
	})
	return ok, err
}

// verdictsHold looks at a task that has ended: its landing has as well, and a
// verifier has passed it when it is done and one was needed.
func (s *sim) verdictsHold(r store.Reader, t coppice.Task) error {
	l, err := r.Landings.Last(t.ID)
	if err != nil || l == nil {
		return err
	}
	if t.Ended() && l.EndedAt.IsZero() {
		return fmt.Errorf("%s is %s, and its landing is open", t.Key, t.Outcome)
	}
	want, err := wanted(r, t)
	if err == nil && t.Outcome == coppice.OutcomeDone && want && !l.Verified {
		err = fmt.Errorf("%s is done, and nobody has verified it", t.Key)
	}
	return err
}

// looksHold looks whether any verifier left its worktree behind.
func (s *sim) looksHold() error {
	for key, l := range s.world.looks {
		if !l.removed {
			return fmt.Errorf("the worktree of %s was left behind", key)
		}
	}
	return nil
}
