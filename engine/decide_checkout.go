package engine

import (
	"fmt"

	"coppice"
)

// runCheckout lets a session work in the person's own checkout. It has no branch, and
// Coppice writes nothing there, so it has no progress file either.
func runCheckout(v *View, spec *coppice.RunSpec) {
	spec.Path, spec.Checkout, spec.Progress = v.Project.Path, true, ""
}

// judgeCheckout decides what follows a session in the person's checkout: the task is
// done. After a failure only a person starts another session there.
func judgeCheckout(v *View, s *coppice.Session) *Decision {
	switch {
	case s.State == coppice.SessionCancelled:
		return endTask(v, coppice.OutcomeCancelled, nil)
	case v.sending(s.ID):
		return nil // if that was an interrupt, the person decides
	case interrupted(v, s) && len(v.Messages) == 0:
		return pause(v, s)
	case s.Failure != nil:
		return onlyPerson(v, s, remedy(v, s, *s.Failure))
	case len(v.Messages) > 0:
		return enqueue(v, resumeSession(v, s), "has a message to deliver")
	}
	d := endTask(v, coppice.OutcomeDone, nil)
	d.Task.Note = "worked in your checkout, and changed nothing there"
	if s.Stat != "" {
		d.Task.Note = fmt.Sprintf("worked in your checkout; to see what changed there, run: coppice diff %s", v.Task.Key)
	}
	d.Requests = append(d.Requests, worked(v)...)
	return d
}

// onlyPerson returns a decision about a failed session that starts no other one. What
// it asks of the account or the project stays.
func onlyPerson(v *View, s *coppice.Session, d *Decision) *Decision {
	t := d.Task
	if t == nil || t.Ended() || t.Wait != nil && t.Wait.On == coppice.WaitPerson {
		return d
	}
	waits := needPerson(v, s, *s.Failure)
	waits.Requests = d.Requests
	return waits
}
