package engine

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"coppice"
)

// settle decides what follows finished work, one item at a time.
func settle(v *View) *Decision {
	for i := range v.Work {
		w := v.Work[i]
		if w.State != coppice.WorkFinished {
			continue
		}
		settler := settlers[w.Kind]
		if settler == nil {
			settler = unknownWork
		}
		d := settler(v, w)
		d.By = "settle"
		d.Settle = &w
		return d
	}
	return nil
}

// unknownWork settles a result of a kind that this version does not know.
func unknownWork(_ *View, w coppice.Work) *Decision {
	return &Decision{Kind: coppice.EventWorkFinished, Reason: fmt.Sprintf("this version does not know %s", w.Kind)}
}

// settlers has one function for each kind: what the result, or the failure, of
// such an item changes.
var settlers map[coppice.WorkKind]func(*View, coppice.Work) *Decision

func init() {
	settlers = map[coppice.WorkKind]func(*View, coppice.Work) *Decision{
		coppice.WorkPrepare: settlePrepare,
		coppice.WorkRestore: settlePrepare,
		coppice.WorkRemove:  settleRemove,
		coppice.WorkPurge:   settlePurge,
		coppice.WorkStrays:  settleStrays,
		coppice.WorkRun:     settleRun,
		coppice.WorkSend:    settleSend,
		coppice.WorkStop:    settleStop,
		coppice.WorkCheck:   settleCheck,
		coppice.WorkMerge:   settleMerge,
		coppice.WorkPush:    settlePush,
		coppice.WorkMove:    settleMove,
		coppice.WorkPreview: settlePreview,
		coppice.WorkBranch:  settleBranch,

		coppice.WorkPullPush:   settlePullPush,
		coppice.WorkForgeWrite: settleForgeWrite,
	}
}

// result decodes the result of a finished item. A result that cannot be decoded
// is a failure of the work like any other.
func result[T any](w coppice.Work) (T, *coppice.Failure) {
	if w.Failure != nil {
		var zero T
		return zero, w.Failure
	}
	r, err := coppice.DecodeResult[T](w)
	if err != nil {
		return r, coppice.Failf(coppice.ClassUnknown, fmt.Sprintf("%s gave a result that cannot be read: %v", w.Kind, err), "")
	}
	return r, nil
}

// settlePrepare stores that a workspace is ready, or fails the session that
// waits for it.
func settlePrepare(v *View, w coppice.Work) *Decision {
	switch s := v.sessionByID(w.SessionID); {
	case s == nil && w.SessionID != 0:
		return &Decision{Kind: coppice.EventWorkFinished, Reason: "its session is not known"}
	case s != nil && s.Role.Detached():
		return settleDetached(v, s, w)
	}
	r, fail := result[coppice.PrepareResult](w)
	if fail != nil {
		return prepareFailed(v, fail)
	}
	ws := coppice.Workspace{
		ProjectID: v.Project.ID, TaskID: v.Task.ID, Kind: v.Project.Policy.Workspace.Kind, Node: w.Pool,
		Branch: v.Task.BranchName(), CreatedAt: v.Now,
	}
	d := &Decision{Kind: coppice.EventWorkspaceReady}
	if old := v.Workspace; old != nil && old.RemovedAt.IsZero() {
		ws = *old
	}
	ws.Path, ws.Ports, ws.ReadyAt = r.Path, r.Ports, v.Now
	if ws.BaseCommit == "" || w.Kind == coppice.WorkPrepare && r.BaseCommit != "" {
		ws.BaseCommit = r.BaseCommit
	}
	if w.Kind == coppice.WorkRestore {
		d.Kind = coppice.EventWorkspaceRestored
		if tr := v.Trash; tr != nil {
			c := *tr
			c.RestoredAt = v.Now
			d.Trash, d.Task = &c, withoutTrash(v, tr.Ref, true)
		}
		ws.Kept = v.Task.Ended()
	}
	d.Workspace = &ws
	if s := v.lastSession(); s != nil && s.State == coppice.SessionStarting && w.Kind == coppice.WorkPrepare {
		// Nobody has used it since: the session starts from this commit.
		c := *s
		c.From = r.Head
		d.Session = &c
	}
	if v.Task.Stage == coppice.StageChecking && v.Landing == nil {
		// A person asked to land it: the branch's current head is the candidate.
		fail := otherHead(v, r.Head)
		if r.Head == ws.BaseCommit {
			fail = coppice.Failf(coppice.ClassImplementation, "its branch has no changes to land", "retry it")
		}
		if fail != nil {
			end := endTask(v, coppice.OutcomeFailed, fail)
			end.Workspace, end.Trash = d.Workspace, d.Trash
			if d.Task != nil {
				end.Task.Strays = d.Task.Strays
			}
			return end
		}
		d.Landing = openLanding(v, r.Head)
	}
	return d
}

func prepareFailed(v *View, fail *coppice.Failure) *Decision {
	if s := v.lastSession(); s != nil && s.State.Live() {
		return endSession(v, coppice.SessionFailed, fail)
	}
	if v.Task.Stage == coppice.StageChecking && v.Landing == nil { // a candidate needs no workspace
		return endTask(v, coppice.OutcomeFailed, fail)
	}
	if v.follows() {
		return notFetched(v, fail)
	}
	t := v.Task
	t.Warning = fail.Error()
	return &Decision{Kind: coppice.EventTaskWarned, Reason: fail.Text, Task: &t}
}

// settleRun ends a session, by what its process did, what its agent said and
// what the repository shows.
func settleRun(v *View, w coppice.Work) *Decision {
	r, fail := result[coppice.RunResult](w)
	s := v.lastSession()
	if s == nil || s.ID != w.SessionID || !s.State.Live() {
		return &Decision{Kind: coppice.EventSessionEnded, Reason: "was given up before"}
	}
	if fail != nil {
		return endSession(v, coppice.SessionFailed, inAccount(fail, s, accountOfRun(v, s, w)))
	}
	state := coppice.SessionDone
	switch {
	case r.Lost:
		state = coppice.SessionLost
		fail = coppice.Failf(coppice.ClassLost, "its process disappeared", "")
	case s.StopWhy == coppice.StopFinished && (r.Stopped || r.Failure == nil):
		r.Summary = cmp.Or(s.Summary, r.Summary) // its agent has finished, however its process ends
	case r.Stopped && (s.StopWhy == coppice.StopTaken || s.StopWhy == coppice.StopGiven || s.StopWhy == coppice.StopParked):
		// It continues in the next session.
	case r.Stopped && s.StopWhy == coppice.StopBudget:
		state, fail = coppice.SessionFailed, endedByBudget(v, s, r)
	case r.Stopped && s.StopWhy == coppice.StopLimit:
		state, fail = coppice.SessionFailed, endedByLimit(v, s, r.Usage)
	case r.Stopped && s.StopWhy == coppice.StopTimeout:
		state = coppice.SessionFailed
		fail = coppice.Failf(coppice.ClassTimeout, "took longer than "+durationText(v.Project.Policy.Health.Timeout.D()), "")
	case r.Stopped:
		state = coppice.SessionCancelled
		fail = coppice.Failf(coppice.ClassCancelled, "was stopped", "")
	case r.Failure != nil:
		state, fail = coppice.SessionFailed, r.Failure
		if f := endedByBudget(v, s, r); f != nil && r.Failure.Class == coppice.ClassBudget {
			fail = f
		}
	case s.Screen:
		// A person left it; the exit of its process does not matter.
	case r.Signal != "":
		state = coppice.SessionFailed
		fail = coppice.Failf(coppice.ClassUnknown, "was killed by "+r.Signal, "")
	case r.Exit != nil && *r.Exit != 0:
		state = coppice.SessionFailed
		fail = coppice.Failf(coppice.ClassUnknown, fmt.Sprintf("ended with exit code %d", *r.Exit), "")
	case r.Error != "":
		state = coppice.SessionFailed
		fail = coppice.Failf(coppice.ClassImplementation, fmt.Sprintf("its output ends with an error (%s): %s", coppice.CompletionErrors, r.Error), "")
	}
	d := endSession(v, state, withDiff(inAccount(fail, s, accountOfRun(v, s, w)), r.Diff))
	d.Session.Exit, d.Session.Signal = r.Exit, r.Signal
	d.Session.Summary, d.Session.Usage = r.Summary, r.Usage
	d.Session.From, d.Session.Head, d.Session.Stat = r.From, r.Head, r.Stat
	d.Session.Dropped, d.Session.Memory = max(s.Dropped, r.Dropped), r.Memory
	if s.Role.Lands() {
		d.Task = withStrays(v, r.Strays)
	}
	if r.Conversation != "" {
		d.Session.Conversation = r.Conversation
	}
	if s.StopWhy == coppice.StopParked && !r.Stopped {
		d.Session.StopWhy = "" // it ended by itself
	}
	if end := roleOf(s).end; end != nil && fail == nil && s.StopWhy != coppice.StopTaken && s.Waits == nil {
		end(v, r, d.Session)
	}
	return d
}

// inAccount stores in a session's failure to which account it belongs.
func inAccount(fail *coppice.Failure, s *coppice.Session, account string) *coppice.Failure {
	if fail == nil || account == s.Agent {
		return fail
	}
	c := *fail
	c.Account = account
	return &c
}

// withDiff stores in a session's failure what the session changed.
func withDiff(fail *coppice.Failure, diff string) *coppice.Failure {
	if fail == nil || diff == "" {
		return fail
	}
	c := *fail
	c.Diff = diff
	return &c
}

// endSession ends the newest session.
func endSession(v *View, state coppice.SessionState, fail *coppice.Failure) *Decision {
	s := *v.lastSession()
	s.State, s.EndedAt, s.Failure, s.Warning = state, v.Now, fail, ""
	s.Unpark(v.Now)
	d := &Decision{Kind: coppice.EventSessionEnded, Session: &s, Reason: string(state)}
	if fail != nil {
		d.Reason = fmt.Sprintf("%s: %s", state, fail.Text)
	}
	return d
}

// settleStop changes nothing: the session's own run reports how it ended. If it
// does not, stop asks again.
func settleStop(_ *View, w coppice.Work) *Decision {
	d := &Decision{Kind: coppice.EventWorkFinished, Reason: "asked to stop"}
	if w.Failure != nil {
		d.Reason = w.Failure.Text
	}
	return d
}

// settleMerge stores the merged tree, or ends the landing with the conflicts.
func settleMerge(v *View, w coppice.Work) *Decision {
	l, gone := landingOf(v)
	if gone != nil {
		return gone
	}
	r, fail := result[coppice.MergeResult](w)
	if fail != nil {
		return postpone(v, l, fail)
	}
	if r.Need != nil {
		return baseNeed(v, w, *r.Need)
	}
	clearWait(&l)
	l.RedOn = ""
	d := &Decision{Kind: coppice.EventLandingMerged, Landing: &l, Reason: "merged with " + short(r.Base), tip: r.Base}
	if r.Refused != "" {
		return endLanding(v, d, coppice.LandingRefused, refusedText(r))
	}
	l.Candidate = coppice.Candidate{Base: r.Base, Tree: r.Tree, Commit: r.Commit, CreatedAt: v.Now, Rules: rulesOf(w), Review: r.Review}
	if len(r.Conflicts) > 0 {
		return endLanding(v, d, coppice.LandingConflict, conflictText(v, r))
	}
	if r.Empty {
		l.Commit = r.Base
	}
	return d
}

// rulesOf returns the mark of the rules that a merge had.
func rulesOf(w coppice.Work) string {
	spec, err := coppice.DecodeSpec[coppice.MergeSpec](w)
	if err != nil {
		return ""
	}
	return spec.Ask.Mark()
}

// settleCheck stores the results. If one refuses the tree, the task compares it
// with the base: see refuse. A killed check, or one that timed out for the first
// time, has no result. Neither has a check whose worker was lost repeatedly.
func settleCheck(v *View, w coppice.Work) *Decision {
	l, gone := landingOf(v)
	if gone != nil {
		return gone
	}
	r, fail := result[coppice.CheckResult](w)
	if fail == nil {
		fail = broken(v, r)
	}
	spec, err := coppice.DecodeSpec[coppice.CheckSpec](w)
	if err != nil || !spec.OnBase {
		spec.Tree = l.Tree
	}
	if fail != nil && fail.Class == coppice.ClassLost {
		return postponeKilled(v, &Decision{Landing: &l}, *coppice.Failf(coppice.ClassEnvironment, fail.Text,
			"the machine, or the server, stops while the checks run: see the server's log, and check how much memory the checks use"))
	}
	if fail != nil {
		if red := redChecks(v, l); spec.OnBase && l.Tries >= mostTries && len(red) > 0 {
			// The base cannot be checked. A fix session has the task's own work.
			return endLanding(v, &Decision{Landing: &l}, coppice.LandingRefused, checkText(red))
		}
		d := postpone(v, l, fail)
		if fail.Class == coppice.ClassEnvironment && len(v.Project.Policy.Critical) > 0 {
			d.Requests = append(d.Requests, strike(v, *fail))
		}
		return d
	}
	d := &Decision{Kind: coppice.EventCheckEnded, Landing: &l, Data: onBase{spec.OnBase}}
	red, again := sortRuns(v, l, spec.OnBase, r.Checks)
	for _, c := range r.Checks {
		c.ID, c.ProjectID, c.TaskID, c.LandingID = 0, v.Project.ID, v.Task.ID, l.ID
		c.Tree, c.Env, c.OnBase = spec.Tree, r.Env, spec.OnBase
		if c.EndedAt.IsZero() || c.EndedAt.After(v.Now) || c.StartedAt.IsZero() { // the worker's clock is not this one
			c.StartedAt, c.EndedAt = v.Now.Add(-c.Took), v.Now
		}
		if !c.Killed() || l.Killed < keptKills {
			d.Checks = append(d.Checks, c)
		}
	}
	if len(red) == 0 && again != nil {
		return runAgain(v, d, *again)
	}
	clearWait(&l)
	switch {
	case len(red) == 0:
		d.Reason = fmt.Sprintf("%d passed on tree %s", len(r.Checks), short(spec.Tree))
	case spec.OnBase:
		d.Reason = fmt.Sprintf("%d failed on the base %s", len(red), short(l.Base))
	case r.BaseTree == "": // a worker of an earlier version ran it
		return endLanding(v, d, coppice.LandingRefused, checkText(red))
	default:
		// The task compares it with the base. The queue does not wait for that.
		l.RedOn, l.RedRuns, l.QueueID, l.QueuedAt = r.BaseTree, false, 0, time.Time{}
		d.Reason = fmt.Sprintf("%d failed on tree %s", len(red), short(l.Tree))
	}
	return d
}

// settlePush stores that the remote has the landing's commit. Otherwise the
// landing waits, or starts again. A push that failed might have moved the
// remote, so it is retried until its result is known.
func settlePush(v *View, w coppice.Work) *Decision {
	l, gone := landingOf(v)
	if gone != nil {
		return gone
	}
	r, fail := result[coppice.PushResult](w)
	if fail != nil {
		return retryLater(v, l, fail)
	}
	if !r.Pushed {
		return notMoved(v, l, r.Now, r.Blocked, r.Need)
	}
	clearWait(&l)
	l.Pushed = true
	return &Decision{Kind: coppice.EventLandingPushed, Reason: short(l.Commit) + " to " + v.remote(), Landing: &l}
}

// settleMove ends the landing when the branch has moved to its commit. Otherwise
// the landing waits, or starts again on the current branch. A move that failed
// might have moved the branch, so it is retried until its result is known. A
// landing whose commit is on the remote does not start again.
func settleMove(v *View, w coppice.Work) *Decision {
	l, gone := landingOf(v)
	if gone != nil {
		return gone
	}
	r, fail := result[coppice.MoveResult](w)
	if fail != nil {
		return retryLater(v, l, fail)
	}
	if r.Builds != "" {
		l.Candidate = coppice.Candidate{}
		return &Decision{Kind: coppice.EventLandingWaits, Reason: r.Builds + " builds on it: a commit will revert it", Landing: &l}
	}
	if !r.Moved && r.Blocked == "" && l.Pushed { // the remote would refuse any other commit
		r.Blocked = fmt.Sprintf("%s moved here while its commit was pushed: merge what is on the remote into %s by hand", v.onto(), v.onto())
	}
	if !r.Moved {
		return notMoved(v, l, r.Now, r.Blocked, r.Need)
	}
	clearWait(&l)
	l.Outcome, l.EndedAt = coppice.LandingLanded, v.Now
	return &Decision{
		Kind: coppice.EventLandingEnded, Reason: "landed as " + short(l.Commit), Landing: &l, tip: l.Commit,
		Data: map[string]string{"commit": l.Commit, "tree": l.Tree},
	}
}

// notMoved makes a landing wait for what blocks its last steps, or starts it
// again on its branch, which has moved elsewhere. The merge that follows checks
// where the branch is.
func notMoved(v *View, l coppice.Landing, now, blocked string, need *coppice.Need) *Decision {
	l.Failure = nil
	if blocked != "" {
		return waitForBlock(v, l, blocked, need)
	}
	l.Candidate = coppice.Candidate{}
	return &Decision{Kind: coppice.EventBaseMoved, Reason: "the base has moved to " + short(now), Landing: &l}
}

// landingOf returns a copy of the landing for which work was done. If that
// landing has ended, the second result says that nothing follows.
func landingOf(v *View) (coppice.Landing, *Decision) {
	if v.Landing == nil || !v.Landing.EndedAt.IsZero() {
		return coppice.Landing{}, &Decision{Kind: coppice.EventWorkFinished, Reason: "its landing is over"}
	}
	if v.Of.Kind == coppice.SubjectTask && v.Landing.QueueID != 0 {
		return coppice.Landing{}, &Decision{Kind: coppice.EventWorkFinished, Reason: "its landing belongs to the queue by now"}
	}
	return *v.Landing, nil
}

// mostTries is how often in a row a step of a landing is postponed.
const mostTries = 3

// postpone retries a landing's step later. After a few times the landing is
// given up, and the task fails.
func postpone(v *View, l coppice.Landing, fail *coppice.Failure) *Decision {
	if l.Tries < mostTries {
		return retryLater(v, l, fail)
	}
	l.Outcome, l.EndedAt, l.Failure = coppice.LandingFailed, v.Now, fail
	return &Decision{Kind: coppice.EventLandingEnded, Reason: fail.Text, Landing: &l}
}

// retryLater retries a landing's step later.
func retryLater(v *View, l coppice.Landing, fail *coppice.Failure) *Decision {
	l.Tries++
	l.Failure, l.Waits = fail, fail.Text
	l.RetryAt = v.Now.Add(doubled(5*time.Second, l.Tries, time.Minute))
	return &Decision{Kind: coppice.EventLandingWaits, Reason: fail.Text, Landing: &l}
}

// clearWait removes why a landing waited: one of its steps worked.
func clearWait(l *coppice.Landing) {
	l.Tries, l.Killed, l.RetryAt, l.Waits, l.Failure = 0, 0, time.Time{}, "", nil
}

func endLanding(v *View, d *Decision, outcome coppice.LandingOutcome, evidence string) *Decision {
	d.Landing.Outcome, d.Landing.EndedAt, d.Landing.Evidence = outcome, v.Now, evidence
	d.Kind = coppice.EventLandingEnded
	d.Reason = string(outcome)
	return d
}

// doubled returns a pause that doubles with each try, up to a limit.
func doubled(first time.Duration, try int, most time.Duration) time.Duration {
	d := first
	for range try - 1 {
		d *= 2
		if d >= most {
			return most
		}
	}
	return d
}

func short(hash string) string {
	if len(hash) > 10 {
		return hash[:10]
	}
	return hash
}

func durationText(d time.Duration) string {
	b, _ := coppice.Duration(d).MarshalText()
	return string(b)
}

// refusedText explains to the agent why git refuses its commits.
func refusedText(r coppice.MergeResult) string {
	return fmt.Sprintf("Git refuses your commits: they are incomplete, or a repository that checks what it receives would not take them.\n\n%s\n\n"+
		"Commit your work again with ordinary git commands (git add, git commit), without the objects that git names here.\n", r.Refused)
}

func conflictText(v *View, r coppice.MergeResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Your branch does not merge with %s (now at %s). Conflicts:\n", v.onto(), short(r.Base))
	for _, c := range r.Conflicts {
		fmt.Fprintf(&b, "\n== %s\n%s\n", c.Path, c.Text)
	}
	return b.String()
}

func checkText(red []coppice.Check) string {
	var b strings.Builder
	for _, c := range red {
		fmt.Fprintf(&b, "$ %s\n%s\nexit code %d\n\n", c.Command, strings.TrimRight(c.Log, "\n"), c.Exit)
	}
	return b.String()
}
