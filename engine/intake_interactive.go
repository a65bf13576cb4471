package engine

import "coppice"

// interactive lets a person work with the agent of a new task from its first
// session: on the agent's own screen, or, if it has none, turn by turn.
func (i *Intake) interactive(p coppice.Project, t *coppice.Task) error {
	if t.Wants == coppice.WantsAnswer && !t.Checkout {
		return coppice.Errorf(coppice.EInvalid, "a task that wants an answer is not interactive").
			WithFix("leave one of them out; to ask more afterwards, use `coppice continue`").WithField("interactive")
	}
	err := i.screen(p, t.Agent)
	switch {
	case err == nil:
		t.Next.Screen = true
	case t.Checkout:
		return coppice.Public(err).WithField("interactive") // nothing lands, so there is no turn to end
	default:
		t.Interactive = true
	}
	return nil
}
