package engine

import (
	"slices"

	"coppice"
	"coppice/store"
)

// reopening lists the requests after which an ended task works or lands again.
var reopening = []coppice.Verb{
	coppice.VerbRetry, coppice.VerbRequeue, coppice.VerbContinue, coppice.VerbUnstop, coppice.VerbLand, coppice.VerbTake, coppice.VerbRevert, coppice.VerbResume, coppice.VerbWrapUp,
}

// flowAbove returns the flow on whose branch a task lands, or nil.
func flowAbove(r store.Reader, t coppice.Task) (*coppice.Task, error) {
	if t.Onto == "" {
		return nil, nil
	}
	above, err := r.Families.Ancestors(t.ID)
	if err != nil {
		return nil, err
	}
	for _, id := range above {
		f, err := r.Tasks.Get(id)
		if err != nil || f.FlowBranch() == t.Onto {
			return &f, err
		}
	}
	return nil, nil
}

// closedFlow returns the flow on whose branch a task lands if that branch takes no
// work: it lands, or it is gone, or it is being removed or created again. The branch of
// a failed flow stays.
func closedFlow(r store.Reader, t coppice.Task) (*coppice.Task, error) {
	f, err := flowAbove(r, t)
	if err != nil || f == nil {
		return nil, err
	}
	work, err := r.Work.Unsettled(coppice.TaskSubject(f.ID))
	moves := slices.ContainsFunc(work, func(w coppice.Work) bool { return w.Kind == coppice.WorkBranch })
	if err != nil || !moves && f.Flow.Dropped.IsZero() && (f.Outcome == coppice.OutcomeFailed || !f.Ended() && !f.Flow.Lands) {
		return nil, err
	}
	return f, nil
}

// refuseClosed refuses to start a task again whose work could no longer land.
func refuseClosed(r store.Reader, t coppice.Task) error {
	f, err := closedFlow(r, t)
	if err != nil || f == nil {
		return err
	}
	return coppice.Errorf(coppice.EConflict, "%s lands on the branch of the flow %s, which takes no more work", t.Key, f.Key).
		WithFix("resume the flow with `coppice flow resume %s`", f.Key)
}

// flowClosed settles requests to start a task again that came just before its flow
// ended.
func flowClosed(v *View) *Decision {
	if v.Closed == "" || !v.Task.Ended() || v.asked(reopening...) == nil {
		return nil
	}
	return &Decision{By: "flow", Kind: coppice.EventTaskChanged, Reason: "the branch of its flow " + v.Closed + " takes no more work", Asks: v.settled(reopening...)}
}
