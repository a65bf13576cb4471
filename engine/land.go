package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
)

// landing takes an open landing of a task one step on: merge with the base, check
// the merged tree, have it verified, queue. The queue goes on from there.
func landing(v *View) *Decision {
	if !v.Task.Stage.Lands() {
		return nil
	}
	if v.open(coppice.WorkMerge, coppice.WorkCheck, coppice.WorkPrepare, coppice.WorkRestore, coppice.WorkRemove) != nil {
		return nil
	}
	var d *Decision
	if v.Landing == nil {
		d = wantWorkspace(v, fmt.Sprintf("task/%d/land/%d", v.Task.ID, v.Task.Round), 0, "looks for the branch's head")
	} else if v.Landing.EndedAt.IsZero() && v.Landing.QueueID == 0 && !v.Landing.RetryAt.After(v.Now) {
		d = landStep(v, *v.Landing)
	}
	if d != nil {
		d.By = "landing"
	}
	return d
}

// landStep is the next step of a landing, of a task or first in its queue. A step
// is taken again whenever the branch has moved under it; trees that are known to
// be green are not checked again.
func landStep(v *View, l coppice.Landing) *Decision {
	if unsure(l) {
		return bring(v, l)
	}
	if v.Queue.Needs.Of(coppice.NeedBase) != nil {
		return nil // nothing is built upon a branch that a person has yet to look at
	}
	if l.QueueID == 0 && l.Commit == "" && unjudged(v) {
		return enterQueue(v, l)
	}
	if d := prove(v, l); d != nil {
		return d
	}
	if verifies(v) && !l.Verified {
		if l.QueueID != 0 { // nobody waits for a verdict on another's work
			goesOn(&l)
			l.QueueID, l.QueuedAt = 0, time.Time{}
			return &Decision{Kind: coppice.EventLandingWaits, Reason: "waits for a verdict", Landing: &l}
		}
		return wantVerdict(v, l)
	}
	if l.Commit == l.Base {
		l.Outcome, l.EndedAt = coppice.LandingEmpty, v.Now
		return &Decision{Kind: coppice.EventLandingEnded, Reason: "the base has its changes already", Landing: &l}
	}
	if l.QueueID == 0 {
		return enterQueue(v, l)
	}
	return bring(v, l)
}

// unjudged reports whether nobody looks at the merged tree before it lands. Such a
// landing is merged once, when it is the first in its queue.
func unjudged(v *View) bool {
	return len(v.checks()) == 0 && !verifies(v) && v.Project.Policy.Land.Method().Stage == ""
}

// prove merges a landing and checks the merged tree. It returns nil when the
// candidate in force is proven.
func prove(v *View, l coppice.Landing) *Decision {
	if l.Commit == "" || l.QueueID != 0 && l.Base != v.tip() {
		return offerStep(v, l, coppice.WorkMerge, mergeSpec(v, l), "merges with the base")
	}
	if l.Green {
		return nil
	}
	if missing := unproven(v, l); len(missing) > 0 {
		return offerStep(v, l, coppice.WorkCheck, coppice.CheckSpec{
			Repo: v.Project.Path, RepoID: v.Project.ID, Commit: l.Commit, Tree: l.Tree, Commands: missing,
			Timeout: v.Project.Policy.Health.Check, Policy: v.Project.Policy.Workspace,
		}, "checks tree "+short(l.Tree))
	}
	goesOn(&l)
	l.Green = true
	return &Decision{Kind: coppice.EventLandingMerged, Reason: fmt.Sprintf("tree %s is proven", short(l.Tree)), Landing: &l}
}

// lastSteps are the kinds of work that put a landing's commit where others see it.
var lastSteps = []coppice.WorkKind{coppice.WorkPush, coppice.WorkMove}

// unsure reports whether the landing's commit is on the remote, or may be there or
// on the branch though the last step failed. Only trying again tells, and
// everything else waits for it.
func unsure(l coppice.Landing) bool {
	return l.EndedAt.IsZero() && l.Green && l.QueueID != 0 && (l.Pushed || l.Failure != nil)
}

// bring brings a proven commit to its branch: to the remote first, if work is
// pushed, so that a branch that moved here is never ahead of a remote that refused
// it. Only the base is pushed.
func bring(v *View, l coppice.Landing) *Decision {
	land := v.Project.Policy.Land
	if land.Push && v.Task.Onto == "" && !l.Pushed {
		return offerStep(v, l, coppice.WorkPush, coppice.PushSpec{
			Repo: v.Project.Path, RepoID: v.Project.ID, Base: v.onto(), Old: l.Base, New: l.Commit, Remote: land.Remote,
		}, "pushes to "+v.remote())
	}
	return offerStep(v, l, coppice.WorkMove, coppice.MoveSpec{
		Repo: v.Project.Path, RepoID: v.Project.ID, Base: v.onto(), Old: l.Base, New: l.Commit,
		Remote: land.Remote, Pushed: l.Pushed, Ref: landingRef(v, l),
	}, "moves the base")
}

// unproven lists the commands that have yet to pass on the landing's tree.
func unproven(v *View, l coppice.Landing) []string {
	green := map[string]bool{}
	for _, c := range v.Checks {
		if c.Tree == l.Tree && c.Passed() && c.Env == v.CheckEnv {
			green[c.Command] = true
		}
	}
	var missing []string
	for _, c := range v.checks() {
		if !green[c] {
			missing = append(missing, c)
		}
	}
	return missing
}

// enterQueue queues a proven landing, or has it wait as its landing method says
// until a person says land. One that stood in the queue before goes back there.
func enterQueue(v *View, l coppice.Landing) *Decision {
	t := v.Task
	if m := v.Project.Policy.Land.Method(); m.Stage != "" && v.asked(coppice.VerbLand) == nil && t.Stage != coppice.StageLanding {
		if t.Stage == m.Stage {
			return nil
		}
		t.Stage = m.Stage
		return &Decision{Kind: coppice.EventTaskStage, Reason: "proven; waits for a person to say land", Task: &t}
	}
	l.QueueID, l.QueuedAt, l.Waits = v.Queue.ID, v.Now, ""
	t.Stage = coppice.StageLanding
	return &Decision{Kind: coppice.EventLandingQueued, Task: &t, Landing: &l, Asks: v.settled(coppice.VerbLand)}
}

// offerStep offers a landing's next work item. Each has a key of its own; that
// doing one twice does no harm is the executor's promise.
func offerStep(v *View, l coppice.Landing, kind coppice.WorkKind, spec any, reason string) *Decision {
	l.Steps++
	if !slices.Contains(lastSteps, kind) { // until these have a result, what blocked the last one may block it as well
		l.Waits = ""
	}
	return &Decision{Kind: coppice.EventWorkOffered, Reason: reason, Landing: &l, Offer: &coppice.Work{
		Kind: kind, Key: fmt.Sprintf("landing/%d/%d", l.ID, l.Steps), Pool: v.place(kind), TaskID: v.Task.ID, Spec: coppice.Raw(spec),
	}}
}

// landingRef keeps the merged commit until it has landed. Those that never do go
// with the task's workspace.
func landingRef(v *View, l coppice.Landing) string {
	return fmt.Sprintf("refs/coppice/landing/%s/%d", v.Task.Key, l.ID)
}

// mergeSpec asks for the merge. The commit has the landing's date, so the same
// merge makes the same commit whenever it is done. A task that came from the features file cannot
// change it: an agent that ticks its own feature off would meet all the others.
func mergeSpec(v *View, l coppice.Landing) coppice.MergeSpec {
	var ours []string
	if v.Task.Feature != "" {
		ours = featuresFile(v)
	}
	return coppice.MergeSpec{
		Repo: v.Project.Path, RepoID: v.Project.ID, Base: v.onto(), Head: l.Head, Strategy: v.Project.Policy.Land.Strategy,
		Message: landMessage(v, l), At: l.CreatedAt, Ref: landingRef(v, l), Ours: ours, Seen: v.Queue.Tip, Onto: v.Behind,
	}
}

// featuresFile names the project's features file, in which Coppice writes.
func featuresFile(v *View) []string {
	if f := v.Project.Policy.Features; f != "" {
		return []string{f}
	}
	return nil
}

// landMessage is the message of the commit that lands, with trailers that name
// where it came from.
func landMessage(v *View, l coppice.Landing) string {
	var b strings.Builder
	b.WriteString(v.Task.Title)
	b.WriteString("\n\n")
	if body := strings.TrimSpace(v.Task.Body); body != "" && len(body) <= 4096 {
		b.WriteString(body)
		b.WriteString("\n\n")
	}
	fmt.Fprintf(&b, "Coppice-Task: %s\n", v.Task.Key)
	for _, s := range v.Sessions {
		if s.ID == l.SessionID {
			fmt.Fprintf(&b, "Coppice-Session: %s\n", s.Key)
			if s.Agent != "" {
				fmt.Fprintf(&b, "Coppice-Agent: %s\n", s.Agent)
			}
		}
	}
	return b.String()
}
