package engine

import (
	"coppice"
)

// adoptedBranch returns the branch of the open request that the task adopted, or "".
func (v *View) adoptedBranch() string {
	if p := v.Pull; p != nil && p.Adopted && p.Open() {
		return p.Branch
	}
	return ""
}

// follows reports whether the task's candidate is the head of a request that somebody
// else opened, and no agent has worked on it. Such a candidate is proven only before
// Coppice merges it.
func (v *View) follows() bool {
	l := v.Landing
	return v.adoptedBranch() != "" && v.Task.Stage == coppice.StagePull && l != nil && l.EndedAt.IsZero() && l.SessionID == 0
}

// mergeAsked reports whether a person, or a reaction, asked to merge the candidate.
func (v *View) mergeAsked() bool { return v.Pull.MergeHead == v.Landing.Head }

// followPull makes a task follow the request that it adopted: its candidate is the head
// of the request.
func followPull(v *View) *Decision {
	t := v.Task
	t.Stage, t.Wait = coppice.StagePull, nil
	return &Decision{Kind: coppice.EventTaskStage, Reason: "follows " + v.Pull.Name(), Task: &t, Landing: openLanding(v, v.Pull.Pushed)}
}

// followHead makes a task without a workspace follow what others push to the request
// that it adopted. Its work starts there.
func followHead(v *View, p *coppice.Pull, d *Decision) {
	head := p.Report.Head
	if v.adoptedBranch() == "" || v.Workspace != nil || head == "" || head == p.Pushed {
		return
	}
	p.Pushed, p.Keep, p.MergeBy, p.MergeHead = head, head, "", ""
	if v.follows() {
		l := *v.Landing
		l.Head = head
		d.Landing = &l
	}
}

// foreignHead returns what a person should know if somebody else pushed to the request
// after Coppice. Reactions and the merge wait until the task has these commits.
func foreignHead(v *View, p coppice.Pull, was coppice.PullRead) string {
	head := p.Report.Head
	if was.Head != p.Pushed || head == "" || head == p.Pushed || p.Report.State != coppice.PullOpen || v.Task.Stage != coppice.StagePull || v.open(coppice.WorkPullPush) != nil {
		return ""
	}
	return foreignCommits(v, p, head).Error()
}

// notFetched stores why the head of a followed request cannot be merged: it cannot be
// proven here.
func notFetched(v *View, fail *coppice.Failure) *Decision {
	p, t, l := *v.Pull, v.Task, *v.Landing
	p.MergeBy, p.MergeHead, p.Failure = "", "", fail
	t.Attention = fail.Error()
	l.Steps++ // names the next try
	d := changePull(v, p, coppice.EventPullChanged, fail.Text)
	d.Task, d.Landing = &t, &l
	return d
}
