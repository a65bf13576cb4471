package engine

import (
	"coppice"
)

// baseNeed stores that a base moved in a way that a person must check. The
// landing continues after that. A merge that was requested before the base was
// last seen is repeated, because it compared with an old commit.
func baseNeed(v *View, w coppice.Work, n coppice.Need) *Decision {
	spec, err := coppice.DecodeSpec[coppice.MergeSpec](w)
	if err != nil || spec.Seen != v.Queue.Tip {
		return &Decision{Kind: coppice.EventWorkFinished, Reason: "the base was seen elsewhere in the meantime"}
	}
	if v.Queue.Needs.Of(n.Kind) != nil {
		return &Decision{Kind: coppice.EventWorkFinished, Reason: n.Text}
	}
	n.Since = v.Now
	d := &Decision{Kind: coppice.EventNeedBegan, Reason: n.Text, Data: needData(n.Kind), need: &n}
	if v.Of.Kind == coppice.SubjectTask {
		d.Kind, d.Requests = coppice.EventWorkFinished, []coppice.Ask{{
			Subject: coppice.QueueSubject(v.Queue.ID), Verb: coppice.VerbMoved, Text: n.Text, Args: coppice.Raw(n),
		}}
	}
	return d
}

// branchStart returns where a task's branch starts instead of the base: where the
// task was forked, unless it has landed since; the head of the request below it or of
// the one that it adopted; or where the base was before it moved in a way that a person
// must check. Otherwise the task would contain that change, whatever the person decides.
func branchStart(v *View) string {
	if b := v.Task.FlowBranch(); b != "" {
		return b
	}
	if len(v.Below) > 0 {
		return v.Below[len(v.Below)-1].Pushed
	}
	if v.adoptedBranch() != "" {
		return v.Pull.Pushed
	}
	if v.Fork != "" && v.Task.Landed == "" {
		return v.Fork
	}
	if n := v.Queue.Needs.Of(coppice.NeedBase); n != nil {
		return n.From
	}
	return ""
}

// needData returns what the log keeps of a need besides its text.
func needData(kind coppice.NeedKind) map[string]string {
	return map[string]string{"kind": string(kind)}
}

// landingNeed returns the need that blocks all landings on a task's branch, or
// nil.
func landingNeed(needs coppice.Needs, t coppice.Task) *coppice.Need {
	if t.Stage.Awaits() || !t.Stage.Lands() {
		return nil
	}
	return needs.Of(coppice.NeedBase)
}
