package engine

import (
	"fmt"
	"slices"

	"coppice"
	"coppice/reaction"
)

// commentsText is the message with which a person passes all open comments to the agent.
const commentsText = "Comments on the pull request of {{task}} are not resolved. Change the code where a comment is right, and commit. " +
	"Where it is wrong, say why in your final message. Coppice pushes your commits.\n\nThe comments:\n{{comments}}"

// sendComments passes all open comments on the task's request to its agent, because a
// person asked for it. Neither the rules of reactions nor their limits apply.
func sendComments(v *View) *Decision {
	a := v.asked(coppice.VerbComments)
	if a == nil || v.asked(coppice.VerbContinue, coppice.VerbStop, coppice.VerbRequeue) != nil {
		return nil
	}
	d := &Decision{By: "comments", Kind: coppice.EventTaskChanged, Reason: "no comment on its pull request counts", Asks: v.settled(coppice.VerbComments)}
	if v.Pull == nil || !v.Pull.Open() {
		d.Reason = "its pull request is not open"
		return d
	}
	h := occurrence{Facts: pullFacts(v, *v.Pull, coppice.OnComment)}
	for _, c := range v.Pull.Report.Comments {
		if v.unresolved(c) {
			h.seen, h.Text = append(h.seen, c.ID), h.Text+commentText(c)
		}
	}
	switch {
	case len(h.seen) == 0:
		return d
	case !v.Task.Stage.Awaits() && !v.live() && !v.Task.Ended():
		return nil // it is between two sessions: wait for the next one, or for the candidate
	}
	rule := coppice.Reaction{Do: coppice.ReactSend, Message: commentsText}
	e := coppice.Reacted{ProjectID: v.Project.ID, TaskID: v.Task.ID, Key: fmt.Sprintf("asked/%d", a.ID), At: v.Now}
	e.Event, e.Do, e.Head, e.Seen, e.Priority = coppice.OnComment, rule.Do, h.Head, h.seen, coppice.PriorityInfo
	e.Text = fmt.Sprintf("%s asks to resolve %d comments", a.By, len(h.seen))
	e.Message = joinNotes(v.note(coppice.VerbComments), reaction.Message(e.Event, rule, h.Facts))
	act := actOn(v, e, rule)
	act.By, act.Asks = d.By, d.Asks
	p, t := *v.Pull, v.Task
	p.Escalate, t.Attention = nil, ""
	act.More, act.Task = append(act.More, pullRow(v, p)), &t
	return act
}

// unresolved reports whether a comment counts and asks for something: by a person or a
// bot, with a text, and not resolved.
func (v *View) unresolved(c coppice.PullComment) bool {
	return !c.Resolved && !c.Ours() && v.counts(c) && (c.Review == coppice.ReviewChanges || c.Text != "")
}

// resolveThreads resolves the discussions that a message to the agent was about, after
// the agent's commit was pushed. A discussion in which somebody wrote since then stays
// open.
func resolveThreads(v *View, p coppice.Pull) *Decision {
	for _, e := range v.Reacted {
		if e.Pushed == "" || e.Resolved || len(e.Seen) == 0 || e.Do != coppice.ReactSend {
			continue
		}
		if threads := threadsOf(p.Report.Comments, e.Seen); len(threads) > 0 {
			return offerPull(v, p, coppice.WorkForgeWrite, coppice.ForgeWriteSpec{
				ForgeSpec: v.forge(), Op: coppice.ForgeResolve, Key: e.Key, Number: p.Number, Threads: threads,
			}, fmt.Sprintf("resolves %d discussions", len(threads)))
		}
	}
	return nil
}

// threadsOf returns the open discussions whose comments by others have all been seen.
func threadsOf(comments []coppice.PullComment, seen []string) []string {
	var threads, open []string
	for _, c := range comments {
		switch {
		case c.Thread == "" || c.Resolved || c.Ours():
		case !slices.Contains(seen, c.ID):
			open = append(open, c.Thread)
		case !slices.Contains(threads, c.Thread):
			threads = append(threads, c.Thread)
		}
	}
	return slices.DeleteFunc(threads, func(t string) bool { return slices.Contains(open, t) })
}

// settleResolve stores that the discussions of a message are resolved, or why they stay
// open. They do not block the merge for long.
func settleResolve(v *View, p coppice.Pull, spec coppice.ForgeWriteSpec, fail *coppice.Failure) *Decision {
	e := firstOf(v.Reacted, spec.Key)
	if fail != nil && e != nil && p.Tries+1 < mostPullTries {
		return pullFailed(v, fail)
	}
	d := changePull(v, stepDone(p), coppice.EventPullChanged, fmt.Sprintf("resolved %d discussions of %s", len(spec.Threads), p.Name()))
	if e != nil {
		c := *e
		c.Resolved = true
		if fail != nil {
			c.Result += "; its discussions are not resolved: " + fail.Text
			d.Reason = c.Result
		}
		d.More = append(d.More, reactedRow(v, c))
	}
	return d
}
