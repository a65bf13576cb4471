package verb

import "coppice"

// FitsOpenPull says why the work of a task cannot go into a pull request that is not
// open yet; nil if it can.
func FitsOpenPull(f Facts) error {
	t := f.Task
	switch {
	case t.Wants == coppice.WantsAnswer:
		return wantsAnswer(t)
	case t.Step != nil && t.Onto != "":
		return coppice.Errorf(coppice.EConflict, "%s is a step of a flow: its work lands on the branch of the flow", t.Key).
			WithFix("open a pull request for the flow when its steps are done")
	case f.reverting():
		return beingReverted(f)
	case f.pullOpen():
		return coppice.Errorf(coppice.EConflict, "%s has a pull request already: %s", t.Key, f.Pull.URL)
	case t.Pull && f.Pull == nil: // it might be open
		return coppice.Errorf(coppice.EConflict, "%s has a pull request already", t.Key).WithFix("see `coppice show %s`", t.Key)
	case t.Outcome == coppice.OutcomeDone:
		return coppice.Errorf(coppice.EConflict, "%s has landed already", t.Key)
	case f.asked(coppice.VerbStop, coppice.VerbRequeue) && !t.Ended():
		return beingStopped(t)
	case t.Stage == coppice.StagePull:
		return coppice.Errorf(coppice.EConflict, "the pull request of %s is being opened", t.Key).WithFix("see `coppice show %s`", t.Key)
	case t.Stage.Awaits(), t.Outcome == coppice.OutcomeFailed && f.committed():
		return nil
	}
	return coppice.Errorf(coppice.EConflict, "%s has no work for a pull request yet", t.Key).
		WithFix("wait until its checks have passed and it waits for your approval, or set land.how: pr for the project")
}

// fitsComments accepts a task whose open pull request has comments that are not
// resolved.
func fitsComments(f Facts) error {
	switch t := f.Task; {
	case !f.pullOpen():
		return coppice.Errorf(coppice.EConflict, "%s has no open pull request", t.Key).WithFix("see the open requests with `coppice pr list`")
	case f.Pull.Open == 0:
		return coppice.Errorf(coppice.EConflict, "the pull request of %s has no comment that is not resolved", t.Key).
			WithFix("a new comment counts after the forge was read: see `coppice show %s`", t.Key)
	case f.asked(coppice.VerbStop, coppice.VerbRequeue):
		return beingStopped(t)
	}
	return nil
}

// committed reports whether the newest landing or session of a task has a commit.
func (f Facts) committed() bool {
	return f.Landing != nil && f.Landing.Head != "" || f.Session != nil && f.Session.Head != ""
}

func (f Facts) pullOpen() bool { return f.Pull != nil && f.Pull.State == coppice.PullOpen }
