package engine

import (
	"cmp"
	"fmt"
	"time"

	"coppice"
)

// mostBranchTries is how often work for the branch of a flow is tried.
const mostBranchTries = 4

// offerBranch offers to create the branch of a flow, or to create it again from the
// trash.
func offerBranch(v *View) *Decision {
	spec := coppice.BranchSpec{Repo: v.Project.Path, RepoID: v.Project.ID, Branch: v.Task.FlowBranch(), From: v.onto()}
	if tr := v.flowTrash(); tr != nil {
		spec.Head, spec.Ref = tr.Head, tr.Ref
	}
	return branchWork(v, spec, "creates its branch "+spec.Branch)
}

func branchWork(v *View, spec coppice.BranchSpec, reason string) *Decision {
	t, f := v.Task, *v.Task.Flow
	f.Works++
	if spec.Drop {
		f.DropRef = spec.Ref
	}
	t.Flow = &f
	return &Decision{By: "flow", Kind: coppice.EventWorkOffered, Reason: reason, Task: &t, Offer: &coppice.Work{
		Kind: coppice.WorkBranch, Key: fmt.Sprintf("task/%d/branch/%d", t.ID, f.Works), Pool: v.place(coppice.WorkBranch), Spec: coppice.Raw(spec),
	}}
}

// flowTrash returns the entry of the trash that has the branch of a flow, or nil.
func (v *View) flowTrash() *coppice.Trash {
	for i := len(v.Trashed) - 1; i >= 0; i-- {
		if tr := v.Trashed[i]; tr.What == coppice.TrashFlow && tr.Open() {
			return &tr
		}
	}
	return nil
}

// dropFlow moves the branch of a flow that is done, or was cancelled, to the trash.
// That of a failed one stays for a person. Work that failed might have created a branch.
func dropFlow(v *View) *Decision {
	t := v.Task
	if t.FlowBranch() == "" || t.Flow.Works == 0 || !t.Flow.Dropped.IsZero() || t.Flow.Tries >= mostBranchTries || !t.Ended() ||
		t.Outcome == coppice.OutcomeFailed || v.open(coppice.WorkBranch) != nil || v.StepsOpen ||
		v.asked(coppice.VerbResume, coppice.VerbRetry, coppice.VerbUnstop) != nil {
		return nil
	}
	return offerDrop(v)
}

// offerDrop offers to move the branch of a flow to the trash. If an earlier try failed,
// it might have done that, so its ref is used again. A flow that was resumed in the
// meantime waits until the state of its branch is known.
func offerDrop(v *View) *Decision {
	t := v.Task
	return branchWork(v, coppice.BranchSpec{
		Repo: v.Project.Path, RepoID: v.Project.ID, Branch: t.FlowBranch(), Drop: true,
		Ref: cmp.Or(t.Flow.DropRef, fmt.Sprintf("refs/coppice/trash/%s-flow-%d", t.Key, t.Flow.Works+1)),
	}, "its branch goes to the trash")
}

// settleBranch stores that the branch of a flow was created or removed.
func settleBranch(v *View, w coppice.Work) *Decision {
	t := v.Task
	if t.Flow == nil {
		return &Decision{Kind: coppice.EventWorkFinished, Reason: "it is not a flow"}
	}
	f := *t.Flow
	t.Flow = &f
	spec, err := coppice.DecodeSpec[coppice.BranchSpec](w)
	r, fail := result[coppice.BranchResult](w)
	if err != nil && fail == nil {
		fail = coppice.Failf(coppice.ClassUnknown, err.Error(), "")
	}
	d := &Decision{Kind: coppice.EventFlowBranch, Reason: "its branch is ready", Task: &t}
	switch {
	case fail != nil && spec.Drop && t.Ended():
		f.Tries++
		t.Warning = "its branch could not be removed: " + fail.Text
		d.Reason = t.Warning
	case fail != nil && !t.Ended():
		f.Tries++
		d.Reason = "its branch could not be created: " + fail.Text
		if spec.Drop {
			d.Reason = "its branch could not be moved to the trash, from which it continues: " + fail.Text
		}
		if f.Tries >= mostBranchTries {
			f.Paused, f.Tries = true, 0
			t.Stage, t.Failure = coppice.StageWaiting, coppice.Failf(fail.Class, d.Reason, fail.Fix)
			t.Wait = &coppice.Wait{On: coppice.WaitPerson, Text: d.Reason, Fix: "fix the cause, then run `coppice flow resume " + t.Key + "`"}
		}
	case spec.Drop:
		f.Dropped, f.DropRef, f.Tries, d.Reason = v.Now, "", 0, "its branch was removed"
		if r.Kept {
			d.Reason = "its branch is in the trash"
			d.Trash = &coppice.Trash{
				ProjectID: v.Project.ID, TaskID: t.ID, What: coppice.TrashFlow, Branch: spec.Branch, Head: r.Tip, Ref: spec.Ref,
				RemovedAt: v.Now, ExpiresAt: v.Now.Add(v.Project.Policy.Trash.TTL.D()),
			}
		}
	default:
		f.Tries, f.Dropped = 0, time.Time{}
		if f.Start == "" {
			f.Start = r.Tip
		}
		if tr := v.flowTrash(); tr != nil && spec.Head != "" {
			tr.RestoredAt = v.Now
			d.Trash = tr
		}
	}
	return d
}
