package sim

import (
	"fmt"

	"coppice"
	"coppice/store"
)

// hasScreen refuses the screen of the agent that has none.
func hasScreen(_ coppice.Project, agent string) error {
	if agent == "beta" {
		return coppice.Errorf(coppice.EConflict, "beta has no screen")
	}
	return nil
}

// interact makes some tasks interactive: on a screen, or turn by turn.
func (s *sim) interact(n *coppice.NewTask) {
	n.Interactive = s.owed%6 == 1 && n.Role() == coppice.RoleImplement && !s.opt.Plain && !s.opt.Asks && !s.opt.Red && !s.opt.Hooks && !s.opt.Pulls
}

// interactiveHolds checks that nothing of an interactive task landed without a person.
func interactiveHolds(r store.Reader, t coppice.Task) error {
	if !t.Interactive {
		return nil
	}
	landings, err := r.Landings.Of(t.ID)
	for _, l := range landings {
		if l.Outcome == coppice.LandingLanded && l.ApprovedBy == "" {
			return fmt.Errorf("%s is interactive, and landed %s without a person", t.Key, l.Head)
		}
	}
	return err
}
