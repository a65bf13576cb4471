package engine

import (
	"cmp"

	"coppice"
	"coppice/verb"
)

// openAsked puts the work of a task into a pull request because a person asked for it,
// whatever the project's landing method is. The work of a task that failed is kept in a
// draft.
func openAsked(v *View) *Decision {
	if v.asked(coppice.VerbOpenPull) == nil || v.asked(coppice.VerbStop, coppice.VerbRequeue) != nil {
		return nil
	}
	d := &Decision{By: "pull", Kind: coppice.EventPullChanged, Reason: "it has no work for a pull request", Asks: v.settled(coppice.VerbOpenPull)}
	if verb.FitsOpenPull(v.facts()) != nil || v.Task.Ended() && v.keptHead() == "" {
		return d
	}
	t := v.Task
	t.Land, t.Attention = coppice.LandPR, ""
	d.Task, d.Reason = &t, "its work goes into a pull request"
	if !t.Ended() {
		return d // the candidate waits for the request from now on
	}
	p := openedPull(v, coppice.PullText{Branch: t.BranchName(), Base: v.onto()})
	p.Asked, t.Pull = true, true
	d.More = []Row{pullRow(v, p)}
	return d
}

// keptHead returns the newest commit of a task that failed.
func (v *View) keptHead() string {
	head := ""
	if v.Landing != nil {
		head = v.Landing.Head
	}
	if s := v.lastWorkSession(); s != nil && s.Head != "" && v.Workspace != nil && s.Head != v.Workspace.BaseCommit {
		head = cmp.Or(s.Head, head)
	}
	return head
}

// keepFailed pushes the branch of a task that failed, to keep it. If a person asked for
// it, the branch gets a draft.
func keepFailed(v *View) *Decision {
	head := v.keptHead()
	switch {
	case head == "":
		return nil
	case v.Pull == nil:
		return openPull(v, coppice.PullText{Branch: v.Task.BranchName(), Base: v.onto()})
	case v.Pull.Pushed != head:
		return offerPush(v, *v.Pull, head, "pushes the branch of a failed task")
	}
	var l coppice.Landing
	if v.Landing != nil {
		l = *v.Landing
	}
	return offerPut(v, *v.Pull, pullText(v, l), head)
}
