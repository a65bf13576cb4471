package sim

import (
	"fmt"

	"coppice"
	"coppice/store"
)

// createOne creates a task, in some cases one that works in the person's checkout. If
// another one works there already, the task gets a workspace.
func (s *sim) createOne(prefix string, n coppice.NewTask) ([]coppice.Task, error) {
	if s.owed%7 == 3 && !s.opt.Plain && !s.opt.Asks && !s.opt.Red {
		there := coppice.NewTask{Title: n.Title, Priority: n.Priority, Track: n.Track, Agent: n.Agent, Workspace: coppice.WorkspaceNone}
		if tasks, err := s.intake.CreateTasks(s.ctx, prefix, []coppice.NewTask{there}); coppice.ErrorCode(err) != coppice.EConflict {
			return tasks, err
		}
	}
	return s.intake.CreateTasks(s.ctx, prefix, []coppice.NewTask{n})
}

// enterCheckout checks that a session works in the checkout of its project, that
// nobody else does, and that it has nothing that Coppice would move.
func (w *world) enterCheckout(s coppice.RunSpec) string {
	if !s.Checkout || s.Path != s.Repo || s.Branch != "" || s.Progress != "" || s.ReadOnly || s.Session.Screen {
		w.breakf("%s has the spec %+v, and works in a checkout", s.Session.Key, s)
	}
	for key, h := range w.hosts {
		if h.role == coppice.RoleCheckout && h.phase == "running" && h.repo == s.Repo {
			w.breakf("%s and %s work in the same checkout", key, s.Session.Key)
		}
	}
	return w.repos[s.Repo].base
}

// checkoutHolds looks at a task that works in the person's checkout: no other one of
// its project does, and after a failure only a person starts another session.
func (s *sim) checkoutHolds(r store.Reader, t coppice.Task, last *coppice.Session) error {
	if !t.Ended() {
		other, err := r.Workspaces.InCheckout(t.ProjectID, t.ID)
		if err != nil {
			return err
		}
		if other != "" {
			return fmt.Errorf("%s and %s work in the same checkout, or are about to", t.Key, other)
		}
	}
	if t.Wait != nil && t.Wait.On == coppice.WaitBackoff {
		return fmt.Errorf("%s will be retried automatically in the person's checkout", t.Key)
	}
	unchanged := saidDone(last)
	if t.Outcome == coppice.OutcomeDone && !unchanged && (last == nil || last.State != coppice.SessionDone) {
		return fmt.Errorf("%s is done, and its last session is %+v", t.Key, last)
	}
	sessions, err := r.Sessions.Of(t.ID)
	if err != nil {
		return err
	}
	for i, x := range sessions {
		if i == 0 || sessions[i-1].Round != x.Round || sessions[i-1].Failure == nil {
			continue
		}
		if err := asked(r, t, sessions[i-1].CreatedAt, x.CreatedAt); err != nil {
			return fmt.Errorf("%s follows %s, which failed: %w", x.Key, sessions[i-1].Key, err)
		}
	}
	return nil
}
