package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"coppice"
	"coppice/store"
)

// hotTime is how long a pull request is read in every pass after it has changed.
const hotTime = 10 * time.Minute

// mostPullTries is how often a step of a pull request is tried before a person
// decides.
const mostPullTries = 6

// method returns the landing method of the task. A step of a flow lands on the
// flow's branch, without any method.
func (v *View) method() coppice.LandingMethod {
	if v.onFlow() {
		return coppice.LandingMethod{}
	}
	return v.Project.Policy.Method(v.Task)
}

// forge returns how a worker finds the forge of the task's project.
func (v *View) forge() coppice.ForgeSpec { return forgeSpec(v.Project) }

func forgeSpec(p coppice.Project) coppice.ForgeSpec {
	return coppice.ForgeSpec{Repo: p.Path, RepoID: p.ID, Remote: p.Policy.Land.Remote, Forge: p.Policy.Forge}
}

// pullRow writes the pull request of the task.
func pullRow(v *View, p coppice.Pull) Row {
	return row{coppice.SubjectTask, func(tx store.Tx) error { return tx.Pulls.Put(&p) }, func() { v.Pull = &p }}
}

// changePull returns a decision that writes the pull request.
func changePull(v *View, p coppice.Pull, kind coppice.EventKind, reason string) *Decision {
	return &Decision{By: "pull", Kind: kind, Reason: reason, More: []Row{pullRow(v, p)}}
}

// pullRequest opens, updates and merges the pull request of a task, and cleans up
// after it, one step at a time.
func pullRequest(v *View) *Decision {
	if v.open(coppice.WorkPullPush, coppice.WorkForgeWrite) != nil || v.asked(coppice.VerbReport) != nil {
		return nil
	}
	p := v.Pull
	if p != nil && p.RetryAt.After(v.Now) {
		return nil
	}
	switch l := v.Landing; {
	case p != nil && p.Open() && p.Report.State == coppice.PullMerged && v.Task.Outcome != coppice.OutcomeDone:
		return landMerged(v)
	case v.Task.Ended():
		return cleanPull(v)
	case l == nil || !l.EndedAt.IsZero() || l.QueueID != 0 || l.Reverts != "" || !v.method().Forge:
		return nil
	case v.Task.Stage == coppice.StagePull:
		return putPull(v, *l)
	case v.Task.Stage == coppice.StageChecking && v.Project.Policy.Land.PR.Drafts() && v.adoptedBranch() == "" && l.Commit != "" && l.Commit != l.Base:
		return putPull(v, *l)
	}
	return nil
}

// pullDue returns when the next step of the pull request is tried.
func pullDue(v *View) time.Time {
	if p := v.Pull; p != nil && p.RetryAt.After(v.Now) && (p.Open() || !p.Cleaned) {
		return p.RetryAt
	}
	return time.Time{}
}

// putPull takes the next step towards a pull request that shows the landing's head:
// push the branch, write the request, merge it.
func putPull(v *View, l coppice.Landing) *Decision {
	p, text := v.Pull, pullText(v, l)
	switch {
	case p == nil, !p.Open() && p.EndedAt.Before(l.CreatedAt):
		return openPull(v, text)
	case !p.Open():
		return closedPull(v, l)
	case p.Pushed != l.Head:
		return offerPush(v, *p, l.Head, "pushes "+short(l.Head))
	case p.Written != text.Mark() && !p.Adopted: // the text of somebody else's request stays
		return offerPut(v, *p, text, l.Head)
	case v.Task.Stage != coppice.StagePull:
		return nil
	}
	if d := resolveThreads(v, *p); d != nil {
		return d
	}
	return mergePull(v, *p, l)
}

// offerPut offers to open the request, or to make it look like the text.
func offerPut(v *View, p coppice.Pull, text coppice.PullText, head string) *Decision {
	return offerPull(v, p, coppice.WorkForgeWrite, coppice.ForgeWriteSpec{
		ForgeSpec: v.forge(), Op: coppice.ForgePut, Key: v.Task.Key, Number: p.Number, Before: p.Before, Closed: p.Closed, Text: text, Head: head,
	}, "writes the pull request")
}

// openPull creates the row of a request that the forge does not have yet.
func openPull(v *View, text coppice.PullText) *Decision {
	d := changePull(v, openedPull(v, text), coppice.EventPullChanged, "its work goes into a pull request")
	t := v.Task
	t.Pull = true
	d.Task = &t
	return d
}

// openedPull returns a request that the forge does not have yet.
func openedPull(v *View, text coppice.PullText) coppice.Pull {
	p := coppice.Pull{ProjectID: v.Project.ID, TaskID: v.Task.ID}
	p.PullDetails = coppice.PullDetails{Branch: text.Branch, Base: text.Base, CreatedAt: v.Now}
	if v.Pull != nil { // an earlier request of the task has ended, and there is more work
		p.ID, p.Steps, p.Before = v.Pull.ID, v.Pull.Steps, max(v.Pull.Number, v.Pull.Before) // the steps name its next work item
		p.Closed = v.Pull.Report.State != coppice.PullMerged
		switch {
		case p.Branch != v.Pull.Branch:
		case v.Pull.Report.State == coppice.PullMerged: // the base has what is left on the branch
			p.Left = v.Pull.Head()
		default:
			p.Left, p.Keep = cmp.Or(v.Pull.Pushed, v.Pull.Left), v.Pull.Keep
		}
	}
	return p
}

// closedPull fails a task whose request a person closed.
func closedPull(v *View, l coppice.Landing) *Decision {
	l.Outcome, l.EndedAt = coppice.LandingFailed, v.Now
	l.Failure = coppice.Failf(coppice.ClassCancelled, fmt.Sprintf("its pull request %s was closed without being merged", v.Pull.Name()),
		fmt.Sprintf("to work on it again, run `coppice continue %s`; or open the request again on the forge and run `coppice land %s`", v.Task.Key, v.Task.Key))
	return &Decision{By: "pull", Kind: coppice.EventLandingEnded, Reason: l.Failure.Text, Landing: &l}
}

// mergePull merges a request that a person, or a reaction, asked to merge, or leaves
// it to the forge. On a stack, the requests below it are merged first: until then it
// aims at the branch of one of them.
func mergePull(v *View, p coppice.Pull, l coppice.Landing) *Decision {
	auto := v.Project.Policy.Land.PR.Auto && p.AutoHead != l.Head && !p.Adopted
	if p.MergeHead != l.Head && !auto || v.follows() && !l.Green || len(v.Below) > 0 {
		return nil
	}
	if d, wait := beforeLand(v, &l); d != nil || wait {
		return d
	}
	pr := v.Project.Policy.Land.PR
	return offerPull(v, p, coppice.WorkForgeWrite, coppice.ForgeWriteSpec{
		ForgeSpec: v.forge(), Op: coppice.ForgeMerge, Key: v.Task.Key, Number: p.Number, Head: l.Head, Method: pr.Method(), Auto: p.MergeHead != l.Head,
		Text: coppice.PullText{Title: v.Task.Title, Body: landMessage(v, l)},
	}, "merges "+p.Name())
}

// offerPull offers the next work item of a pull request.
func offerPull(v *View, p coppice.Pull, kind coppice.WorkKind, spec any, reason string) *Decision {
	p.Steps++
	d := changePull(v, p, coppice.EventWorkOffered, reason)
	d.Offer = &coppice.Work{
		Kind: kind, Key: fmt.Sprintf("pull/%d/%d", p.ID, p.Steps), Pool: v.place(kind), TaskID: v.Task.ID, Spec: coppice.Raw(spec),
	}
	return d
}

// offerPush offers to move the branch of the request to a commit. It replaces only
// commits of Coppice.
func offerPush(v *View, p coppice.Pull, head, reason string) *Decision {
	return offerPull(v, p, coppice.WorkPullPush, coppice.PullPushSpec{
		ForgeSpec: v.forge(), Branch: p.Branch, Old: cmp.Or(p.Pushed, p.Left), New: head, Keep: p.Keep,
	}, reason)
}

// settlePullPush stores that the forge has the branch.
func settlePullPush(v *View, w coppice.Work) *Decision {
	r, fail := result[coppice.PullPushResult](w)
	spec, err := coppice.DecodeSpec[coppice.PullPushSpec](w)
	switch {
	case v.Pull == nil || err != nil:
		return &Decision{Kind: coppice.EventWorkFinished, Reason: "its pull request is gone"}
	case fail != nil:
		return pullFailed(v, fail)
	}
	p := stepDone(*v.Pull)
	switch {
	case spec.New == "" && r.Pushed:
		return changePull(v, cleaned(v, p), coppice.EventPullChanged, "its branch on the forge is deleted")
	case v.Task.Ended() && r.Theirs+r.Blocked != "": // nobody waits for the branch, so it is not tried again
		return changePull(v, cleaned(v, p), coppice.EventPullChanged, fmt.Sprintf("%s stays as it is on the forge: %s", p.Branch, cmp.Or(r.Blocked, "somebody else pushed "+short(r.Theirs))))
	case r.Theirs != "":
		return pullFailed(v, foreignCommits(v, p, r.Theirs))
	case r.Blocked != "":
		return pullFailed(v, coppice.Failf(coppice.ClassEnvironment, r.Blocked, "change the rules of the forge; the push is tried again within 10 minutes"))
	}
	p.Pushed, p.MergeBy, p.MergeHead, p.AutoHead, p.Escalate = spec.New, "", "", "", nil
	p.Keep = cmp.Or(r.Kept, p.Keep)
	d := changePull(v, p, coppice.EventPullChanged, "pushed "+short(spec.New)+" to "+p.Branch)
	d.More = append(d.More, answered(v, spec.New)...)
	return d
}

// foreignCommits says that somebody else pushed to the branch of the request.
func foreignCommits(v *View, p coppice.Pull, theirs string) *coppice.Failure {
	return coppice.Failf(coppice.ClassConflict, fmt.Sprintf("somebody else pushed %s to %s", short(theirs), p.Branch), fmt.Sprintf(
		"take their commits into the workspace (`git pull %s %s` there), then run `coppice continue %s \"Their commits are merged.\"`", v.remote(), p.Branch, v.Task.Key))
}

// settleForgeWrite stores what the forge has after a change.
func settleForgeWrite(v *View, w coppice.Work) *Decision {
	r, fail := result[coppice.ForgeWriteResult](w)
	spec, err := coppice.DecodeSpec[coppice.ForgeWriteSpec](w)
	switch {
	case v.Pull == nil || err != nil:
		return &Decision{Kind: coppice.EventWorkFinished, Reason: "its pull request is gone"}
	case spec.Op == coppice.ForgeResolve:
		return settleResolve(v, *v.Pull, spec, fail)
	case fail != nil:
		return pullFailed(v, fail)
	}
	p := stepDone(*v.Pull)
	switch spec.Op {
	case coppice.ForgePut:
		fresh := p.Number == 0
		p.Number, p.URL, p.Written, p.Base = r.Number, r.URL, spec.Text.Mark(), spec.Text.Base
		p.HotUntil = v.Now.Add(hotTime)
		if r.State == coppice.PullOpen { // the next read says how it ended
			p.Report.State = r.State
		}
		d := changePull(v, p, coppice.EventPullChanged, p.Name()+" is up to date")
		if fresh {
			d.Kind, d.Reason = coppice.EventPullOpened, p.URL
			// A webhook that arrived before the number was known could not name it.
			d.Requests = []coppice.Ask{{Subject: coppice.ForgeSubject(v.Project.ID), Verb: coppice.VerbRead, Args: coppice.Raw(readArgs{ForgeHint: coppice.ForgeHint{Number: p.Number}})}}
		}
		d.Wake = []coppice.Subject{coppice.ForgeSubject(v.Project.ID)}
		return d
	case coppice.ForgeMerge:
		return pullMerged(v, p, spec, r)
	case coppice.ForgeClose:
		if r.State == coppice.PullMerged { // before it was closed
			return isMerged(v, p, r)
		}
		p.EndedAt, p.Cleaned = v.Now, true
		return changePull(v, p, coppice.EventPullClosed, p.Name()+" is closed")
	}
	return changePull(v, p, coppice.EventPullChanged, string(spec.Op)+" "+p.Name())
}

// pullMerged stores the result of a merge. If the rules of the forge do not allow
// it, the request to merge ends: a person, or a later event, repeats it.
func pullMerged(v *View, p coppice.Pull, spec coppice.ForgeWriteSpec, r coppice.ForgeWriteResult) *Decision {
	switch {
	case r.State == coppice.PullMerged:
		return isMerged(v, p, r)
	case r.Auto:
		p.AutoHead, p.MergeBy, p.MergeHead = spec.Head, "", ""
		return changePull(v, p, coppice.EventPullChanged, "the forge merges "+p.Name()+" when its rules allow it")
	}
	p.Blocked = r.Blocked
	if spec.Auto {
		p.AutoHead = spec.Head // it is not asked again for this head
	}
	by := p.MergeBy
	p.MergeBy, p.MergeHead = "", ""
	d := changePull(v, p, coppice.EventPullChanged, "the forge does not merge "+p.Name()+": "+r.Blocked)
	if by != "" {
		t := v.Task
		t.Attention = fmt.Sprintf("the forge does not merge %s now: %s", p.Name(), r.Blocked)
		d.Task = &t
	}
	return d
}

// cleaned returns a request with which nothing is left to do. It ends here if the base
// had its work already, so that no landing followed the merge.
func cleaned(v *View, p coppice.Pull) coppice.Pull {
	p.Cleaned = true
	if p.Report.State == coppice.PullMerged && p.EndedAt.IsZero() {
		p.EndedAt = v.Now
	}
	return p
}

// isMerged stores that the request is merged. If a read has found it closed in the
// meantime, somebody opened it again.
func isMerged(v *View, p coppice.Pull, r coppice.ForgeWriteResult) *Decision {
	reopened := p.Report.State == coppice.PullClosed
	if reopened {
		p.EndedAt, p.Cleaned = time.Time{}, false
	}
	p.Report.State, p.Report.Merged = r.State, r.Merged
	d := changePull(v, p, coppice.EventPullMerged, p.Name()+" is merged as "+short(r.Merged))
	if reopened { // the forge is read while a request is open
		d.Wake = []coppice.Subject{coppice.ForgeSubject(v.Project.ID)}
	}
	return d
}

// stepDone returns a pull request after a step that worked.
func stepDone(p coppice.Pull) coppice.Pull {
	p.Tries, p.RetryAt, p.Failure, p.Blocked = 0, time.Time{}, nil, ""
	return p
}

// pullFailed retries a step later. A step that fails again and again, or that only a
// person can make work, is shown to a person. It is retried rarely then.
func pullFailed(v *View, fail *coppice.Failure) *Decision {
	p := *v.Pull
	p.Tries++
	p.Failure = fail
	p.RetryAt = v.Now.Add(doubled(5*time.Second, p.Tries, 10*time.Minute))
	if fail.RetryAt.After(p.RetryAt) {
		p.RetryAt = fail.RetryAt
	}
	d := changePull(v, p, coppice.EventPullChanged, fail.Text)
	if t := v.Task; (p.Tries >= mostPullTries || fail.Class == coppice.ClassAuth || fail.Class == coppice.ClassConflict) && t.Attention != fail.Error() && !t.Ended() {
		t.Attention = fail.Error()
		d.Task = &t
	}
	return d
}

// landMerged takes the commit of a merged request to the queue, where the branch
// here follows the forge's. Somebody can merge the request of a task that has failed
// or was stopped: it is done then.
func landMerged(v *View) *Decision {
	p, t := *v.Pull, v.Task
	l := v.Landing
	if s := v.lastSession(); s != nil && s.State.Live() || v.open(coppice.WorkRun, coppice.WorkPrepare, coppice.WorkRestore, coppice.WorkMerge, coppice.WorkCheck) != nil {
		return nil // a session still works: its end decides
	}
	if l != nil && l.EndedAt.IsZero() && (l.QueueID != 0 || l.Reverts != "") {
		return nil
	}
	if l == nil || !l.EndedAt.IsZero() {
		l = openLanding(v, p.Head())
	}
	c := *l
	clearWait(&c)
	c.Candidate = coppice.Candidate{Base: v.Queue.Tip, Tree: c.Tree, Commit: p.Report.Merged, Green: true, Pushed: true, CreatedAt: v.Now}
	c.QueueID, c.QueuedAt = v.Queue.ID, v.Now
	p.EndedAt = v.Now
	d := changePull(v, p, coppice.EventLandingQueued, p.Name()+" is merged as "+short(c.Commit))
	if t.Ended() {
		d.Kind = coppice.EventTaskRetried
	}
	t.Stage, t.Wait, t.Next, t.Attention, t.Failure = coppice.StageLanding, nil, nil, "", nil
	t.Outcome, t.EndedAt = "", time.Time{}
	d.Task, d.Landing = &t, &c
	return d
}

// cleanPull deletes the branch of a request that was merged, and closes a request
// whose task was stopped. The work of a stopped task stays on its branch.
func cleanPull(v *View) *Decision {
	p, pr := v.Pull, v.Project.Policy.Land.PR
	failed := v.Task.Outcome == coppice.OutcomeFailed
	switch {
	case p == nil && failed && pr.PushFails && v.method().Forge && v.Landing != nil:
		return keepFailed(v)
	case p == nil || p.Cleaned:
		return nil
	case failed && (p.Pushed == "" || p.Asked && p.Number == 0):
		return keepFailed(v)
	case v.Task.Outcome == coppice.OutcomeDone && p.Report.State == coppice.PullMerged && !p.Adopted && !pr.Keep && p.Pushed != "":
		return offerPull(v, *p, coppice.WorkPullPush, coppice.PullPushSpec{ForgeSpec: v.forge(), Branch: p.Branch, Old: p.Head()}, "deletes "+p.Branch+" on the forge")
	case v.Task.Outcome != coppice.OutcomeFailed && p.Open() && p.Number != 0 && !p.Adopted:
		return offerPull(v, *p, coppice.WorkForgeWrite, coppice.ForgeWriteSpec{ForgeSpec: v.forge(), Op: coppice.ForgeClose, Key: v.Task.Key, Number: p.Number}, "closes "+p.Name())
	}
	if failed && p.Open() {
		return nil // a person decides about it
	}
	c := *p
	c.Cleaned = true
	if c.EndedAt.IsZero() {
		c.EndedAt = v.Now
	}
	return changePull(v, c, coppice.EventPullChanged, "nothing is left to do on the forge")
}

// reported stores what a forge reports about the task's request.
func reported(v *View) *Decision {
	a := v.asked(coppice.VerbReport)
	if a == nil {
		return nil
	}
	d := &Decision{By: "pull", Kind: coppice.EventPullChanged, Reason: "its pull request is gone", Asks: v.settled(coppice.VerbReport)}
	if v.Pull == nil {
		return d
	}
	reports := make([]coppice.PullRead, 0, 1)
	for _, a := range d.Asks {
		r, err := coppice.DecodeSpec[coppice.PullRead](coppice.Work{Spec: a.Args})
		if err == nil && r.Number == v.Pull.Number {
			reports = append(reports, r)
		}
	}
	if len(reports) == 0 {
		return d
	}
	p, was := *v.Pull, v.Pull.Report
	p.Report = reports[len(reports)-1]
	p.HotUntil = v.Now.Add(hotTime)
	d.Reason = reportText(was, p.Report)
	done := func(s coppice.CIState) bool { return s == coppice.CIPassed || s == coppice.CIFailed }
	switch {
	case p.Report.State == coppice.PullMerged && was.State != coppice.PullMerged:
		d.Kind = coppice.EventPullMerged
	case p.Report.State == coppice.PullClosed:
		p.EndedAt, d.Kind = v.Now, coppice.EventPullClosed
	case done(p.Report.CI) && (!done(was.CI) || was.Head != p.Report.Head || was.CI != p.Report.CI):
		d.Kind, d.Data = coppice.EventPullCI, map[string]any{"ci": p.Report.CI, "head": p.Report.Head}
	}
	followHead(v, &p, d)
	if why := foreignHead(v, p, was); why != "" && v.Task.Attention != why {
		t := v.Task
		t.Attention, d.Task = why, &t
	}
	d.More = append(d.More, pullRow(v, p))
	return d
}

// reportText says in one line what changed on the forge.
func reportText(was, now coppice.PullRead) string {
	switch {
	case now.State != was.State && now.State != coppice.PullOpen:
		return fmt.Sprintf("#%d is %s", now.Number, now.State)
	case now.Head != was.Head:
		return fmt.Sprintf("#%d is at %s", now.Number, short(now.Head))
	case now.CI != was.CI && now.CI != coppice.CINone:
		return fmt.Sprintf("CI of #%d: %s", now.Number, now.CI)
	case now.Review != was.Review && now.Review != coppice.ReviewNone:
		return fmt.Sprintf("review of #%d: %s", now.Number, now.Review)
	case now.Conflicts && !was.Conflicts:
		return fmt.Sprintf("#%d conflicts with its base", now.Number)
	case len(now.Comments) > len(was.Comments):
		return fmt.Sprintf("#%d has %d more comments", now.Number, len(now.Comments)-len(was.Comments))
	case !slices.Equal(now.Labels, was.Labels):
		return fmt.Sprintf("the labels of #%d changed", now.Number)
	}
	return fmt.Sprintf("#%d changed", now.Number)
}

// askMerge stores that a person asked to merge the request.
func askMerge(v *View) *Decision {
	if v.asked(coppice.VerbLand) == nil || v.Task.Stage != coppice.StagePull || v.Pull == nil || v.Landing == nil {
		return nil
	}
	d := &Decision{By: "pull", Kind: coppice.EventPullChanged, Reason: "there is a new candidate, which needs a new approval", Asks: v.settled(coppice.VerbLand)}
	for _, a := range d.Asks {
		if of := landArgsOf(a).Landing; of == 0 || of == v.Landing.ID {
			p := stepDone(*v.Pull)
			p.MergeBy, p.MergeHead = a.By.String(), v.Landing.Head
			if len(v.Below) > 0 {
				p.Blocked = fmt.Sprintf("the request %s below it is merged first", v.Below[len(v.Below)-1].Name())
			}
			t := v.Task
			t.Attention = ""
			d.Reason, d.More, d.Task = fmt.Sprintf("%s asks to merge %s", a.By, p.Name()), []Row{pullRow(v, p)}, &t
		}
	}
	return d
}
