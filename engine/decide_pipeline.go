package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
)

// pipeline takes a task from one stage to the next: waiting → queued → session →
// checking → landing → ended, and back to queued for a verifier, a fix or a
// further try.
func pipeline(v *View) *Decision {
	var d *Decision
	switch stage := v.Task.Stage; {
	case stage == coppice.StageWaiting, stage == "":
		d = checkWait(v)
	case stage == coppice.StageSession:
		d = sessionStep(v)
	case stage == coppice.StageFlow:
		d = flowStep(v)
	case stage.Lands():
		d = landed(v)
	}
	if d != nil {
		d.By = "pipeline"
	}
	return d
}

// checkWait checks whether a task still has to wait.
func checkWait(v *View) *Decision {
	t := v.Task
	if d, waits := answerArrived(v); waits {
		return d
	}
	if t.Wait != nil && t.Wait.On == coppice.WaitPerson {
		if t.Planned() {
			return flowStep(v) // the cause might be gone
		}
		return nil // also if a task that it depends on continues
	}
	if w := blockedBy(v); w != nil {
		return wait(v, w)
	}
	if t.NotBefore.After(v.Now) {
		return wait(v, &coppice.Wait{On: coppice.WaitSchedule, Text: "starts at " + t.NotBefore.UTC().Format(time.RFC3339), Until: t.NotBefore})
	}
	if w := t.Wait; w != nil && w.On == coppice.WaitBackoff && w.Until.After(v.Now) {
		return nil
	}
	if t.Planned() {
		return startFlow(v)
	}
	if t.Next == nil && v.adoptedBranch() != "" {
		return followPull(v)
	}
	return enqueue(v, t.Next, "ready")
}

// wait stores why the task waits, if that has changed.
func wait(v *View, w *coppice.Wait) *Decision {
	if old := v.Task.Wait; v.Task.Stage == coppice.StageWaiting && old != nil && *old == *w {
		return nil
	}
	t := v.Task
	t.Stage, t.Wait = coppice.StageWaiting, w
	return &Decision{Kind: coppice.EventTaskStage, Reason: w.Text, Task: &t}
}

// blockedBy returns the wait for dependencies that are not done.
func blockedBy(v *View) *coppice.Wait {
	var open, dead []string
	for _, d := range v.Deps {
		switch {
		case d.Outcome == coppice.OutcomeDone, v.stacked(d):
		case d.Ended():
			dead = append(dead, fmt.Sprintf("%s, which %s", d.Key, map[coppice.Outcome]string{
				coppice.OutcomeFailed: "failed", coppice.OutcomeCancelled: "was cancelled"}[d.Outcome]))
		default:
			open = append(open, d.Key)
		}
	}
	if len(dead) > 0 {
		return &coppice.Wait{
			On: coppice.WaitDependency, Text: "waits for " + strings.Join(dead, " and "),
			Fix: "retry that task, or change the dependencies of this one",
		}
	}
	if len(open) > 0 {
		return &coppice.Wait{On: coppice.WaitDependency, Text: "waits for " + strings.Join(open, ", ")}
	}
	return nil
}

// enqueue puts the task into its lane's queue for a session. Nothing else does.
func enqueue(v *View, n *coppice.Next, reason string) *Decision {
	t := v.Task
	t.Stage, t.Wait, t.Next, t.Failure = coppice.StageQueued, nil, withAccount(v, n), nil
	return &Decision{Kind: coppice.EventTaskStage, Reason: reason, Task: &t}
}

// sessionStep takes a session from its decision to its end, and then decides
// what follows.
func sessionStep(v *View) *Decision {
	s := v.lastSession()
	if s == nil {
		return enqueue(v, firstSession(v.Task, ""), "has no session")
	}
	if s.State.Live() {
		return startStep(v, s)
	}
	if d := waitForAnswer(v, s); d != nil {
		return d
	}
	if d := closeQuestions(v, s); d != nil {
		return d
	}
	return roleOf(s).judge(v, s)
}

// startStep offers what a starting session needs next: a workspace, then its
// run.
func startStep(v *View, s *coppice.Session) *Decision {
	if s.State != coppice.SessionStarting || v.open(coppice.WorkPrepare, coppice.WorkRestore, coppice.WorkRun, coppice.WorkRemove) != nil {
		return nil
	}
	switch {
	case s.Role.Detached():
		return startDetached(v, s)
	case s.Role.Info().Where == coppice.InCheckout:
		return offerRun(v, s, runSpec(v, s))
	}
	if v.Workspace == nil || !v.Workspace.Ready() {
		return offerWorkspace(v, fmt.Sprintf("session/%d", s.ID), s.ID, "needs a workspace")
	}
	spec := runSpec(v, s)
	spec.Path, spec.Branch, spec.Ports = v.Workspace.Path, v.Workspace.Branch, v.Workspace.Ports
	return offerRun(v, s, spec)
}

// runSpec returns the part of a run's spec that every session has.
func runSpec(v *View, s *coppice.Session) coppice.RunSpec {
	run := *s
	run.Prompt = ""
	spec := coppice.RunSpec{Session: run, Images: v.Task.Images, Task: v.Task.Key, Title: v.Task.Title, Repo: v.Project.Path, RepoID: v.Project.ID, Base: v.onto()}
	spec.Permissions = v.Project.Policy.Permissions.For(s.Role, slices.Concat(onceRules(v, s), v.Project.Rules))
	spec.MCP, spec.Locks = v.Project.Policy.MCP, v.Project.Policy.Locks
	spec.Output = v.Project.Policy.Limits.Kept()
	spec.Progress = v.Project.Policy.Progress
	spec.PassEnv = v.Project.Policy.Workspace.PassEnv
	if analyzes(v, s) {
		spec.Diff = mostDiff
	}
	spec.NoErrors = !s.Screen && v.Task.Requires(v.Project.Policy, s.Role, coppice.CompletionErrors)
	spec.Budget = s.Budget
	if p, ok := v.Project.Policy.Agents[s.Agent]; ok {
		spec.Profile = &p
	}
	spec.Identity, _ = coppice.ParseIdentity(v.Project.Policy.Agent.Identity[s.Agent]) // without one, the person's
	spec.Effort = v.Project.Policy.EffortFor(s.Agent)
	if v.Task.Effort != "" && s.Agent == v.Task.Agent {
		spec.Effort = v.Task.Effort
	}
	restrict(v, s.Role.Info(), &spec)
	if run := roleOf(s).run; run != nil {
		run(v, &spec)
	}
	return spec
}

func offerRun(v *View, s *coppice.Session, spec coppice.RunSpec) *Decision {
	return &Decision{Kind: coppice.EventWorkOffered, Reason: "starts " + s.Agent, Offer: &coppice.Work{
		Kind: coppice.WorkRun, Key: fmt.Sprintf("session/%d/run", s.ID), Pool: v.place(coppice.WorkRun), SessionID: s.ID, Spec: coppice.Raw(spec),
	}}
}

// offerWorkspace offers to create the task's workspace, or to restore it. Its
// row exists from this moment, so that it is always cleaned up.
func offerWorkspace(v *View, owner string, session int64, reason string) *Decision {
	if ws := v.Workspace; ws != nil && ws.Doubtful() {
		if ws.RetryAt.After(v.Now) {
			return nil
		}
		return removeWork(v, "it must be known first whether its workspace went to the trash")
	}
	d := &Decision{Kind: coppice.EventWorkOffered, Reason: reason, Offer: workspaceWork(v, owner, session)}
	if v.Workspace == nil || !v.Workspace.RemovedAt.IsZero() {
		d.Workspace = &coppice.Workspace{
			ProjectID: v.Project.ID, TaskID: v.Task.ID, Kind: v.Project.Policy.Workspace.Kind, Node: d.Offer.Pool,
			Branch: v.Task.BranchName(), CreatedAt: v.Now,
		}
		if d.Offer.Kind == coppice.WorkRestore {
			d.Workspace.TrashID = v.Trash.ID // until it is restored
		}
	}
	return d
}

// workspaceWork creates the task's workspace, or restores the removed one.
func workspaceWork(v *View, owner string, session int64) *coppice.Work {
	branch := v.Task.BranchName()
	if tr := v.Trash; tr != nil && v.Workspace != nil && tr.Open() {
		return &coppice.Work{
			Kind: coppice.WorkRestore, Key: owner + "/restore", Pool: v.place(coppice.WorkRestore), SessionID: session,
			Spec: coppice.Raw(coppice.RestoreSpec{
				Key: v.Task.Key, Repo: v.Project.Path, RepoID: v.Project.ID, Branch: branch, Head: tr.Head, Ref: tr.Ref, Archive: tr.Archive,
				Policy: v.Project.Policy.Workspace,
			}),
		}
	}
	return &coppice.Work{
		Kind: coppice.WorkPrepare, Key: owner + "/prepare", Pool: v.place(coppice.WorkPrepare), SessionID: session,
		Spec: coppice.Raw(coppice.PrepareSpec{
			Key: v.Task.Key, Repo: v.Project.Path, RepoID: v.Project.ID, Branch: branch, Base: v.onto(), From: branchStart(v),
			Policy: v.Project.Policy.Workspace, Fetch: v.adoptedBranch(), Remote: v.remote(),
		}),
	}
}

// judgeChange decides what follows a session that changed the code.
func judgeChange(v *View, s *coppice.Session) *Decision {
	if s.State == coppice.SessionCancelled {
		return endTask(v, coppice.OutcomeCancelled, nil)
	}
	if d := handedOver(v, s); d != nil {
		return d
	}
	if interrupted(v, s) && len(v.Messages) == 0 {
		return pause(v, s)
	}
	if s.Failure != nil {
		return remedy(v, s, *s.Failure)
	}
	d := judgeWork(v, s)
	d.Requests = append(d.Requests, worked(v)...)
	return d
}

// judgeWork decides what follows a session that succeeded.
func judgeWork(v *View, s *coppice.Session) *Decision {
	if len(v.Messages) > 0 {
		// This session did not get a message.
		return enqueue(v, resumeSession(v, s), "has a message to deliver")
	}
	if v.Task.Interactive && !s.Screen {
		return yourTurn(v, s)
	}
	if unchanged(v, s) {
		return judgeUnchanged(v, s)
	}
	if fixedNothing(v, s) {
		return judgeFixedNothing(v, s)
	}
	t := v.Task
	t.Stage = coppice.StageChecking
	return &Decision{Kind: coppice.EventLandingOpened, Reason: "candidate " + short(s.Head), Task: &t, Landing: openLanding(v, s.Head)}
}

// conversation returns the agent's id of a session's conversation. A session on
// a screen might not report it. Then it is the one that it continued.
func conversation(s *coppice.Session) string {
	if s.Conversation == "" && !s.Fork {
		return s.Resume
	}
	return s.Conversation
}

// resumeSession returns a session that continues another one's conversation,
// unless that was lost with a detached worktree.
func resumeSession(v *View, s *coppice.Session) *coppice.Next {
	if s.Role.Detached() {
		return &coppice.Next{Role: s.Role, Agent: s.Agent, Model: nextModel(v, s)}
	}
	return &coppice.Next{Role: s.Role, Agent: s.Agent, Model: nextModel(v, s), Resume: conversation(s)}
}

func openLanding(v *View, head string) *coppice.Landing {
	l := &coppice.Landing{ProjectID: v.Project.ID, TaskID: v.Task.ID, Round: v.Task.Round, Head: head, CreatedAt: v.Now}
	if s := v.lastSession(); s != nil {
		l.SessionID = s.ID
	}
	return l
}

// landed decides what follows a landing that ended.
func landed(v *View) *Decision {
	l := v.Landing
	if l == nil || l.EndedAt.IsZero() {
		return nil
	}
	if l.Reverts != "" {
		return reverted(v, *l)
	}
	switch l.Outcome {
	case coppice.LandingLanded, coppice.LandingEmpty:
		if l.Outcome == coppice.LandingEmpty && !v.Task.DoneAt.IsZero() {
			return stayDone(v)
		}
		d := endTask(v, coppice.OutcomeDone, nil)
		if l.Outcome == coppice.LandingLanded {
			if before := v.Task.Landed; before != "" && before != l.Commit {
				d.Task.Earlier = append(slices.Clone(v.Task.Earlier), before)
			}
			d.Task.Landed, d.Task.Reverted = l.Commit, nil
		}
		return d
	case coppice.LandingConflict, coppice.LandingRefused:
		return fixAgain(v, l.Evidence, *unfixed(l))
	case coppice.LandingDropped:
		return endTask(v, coppice.OutcomeCancelled, nil)
	}
	return endTask(v, coppice.OutcomeFailed, l.Failure)
}

// unfixed returns the failure of a task whose fix attempts are used up.
func unfixed(l *coppice.Landing) *coppice.Failure {
	if l.Outcome == coppice.LandingConflict {
		return coppice.Failf(coppice.ClassConflict, "its branch does not merge with the base", "merge by hand in its workspace, commit, and run coppice land; or retry it")
	}
	if l.Green && l.Failure != nil {
		return l.Failure // of a hook before the landing
	}
	if l.Green {
		return coppice.Failf(coppice.ClassVerification, "its verifier refused it", "read its verdict, fix its branch and run coppice land; or retry it")
	}
	return coppice.Failf(coppice.ClassTestOnly, "its checks do not pass on the merged tree", "read its checks, fix its branch and run coppice land; or retry it")
}

// fixAgain starts a fix session with all evidence, if attempts are left.
func fixAgain(v *View, evidence string, otherwise coppice.Failure) *Decision {
	if v.fixes() >= v.Project.Policy.Verify.Attempts {
		return endTask(v, coppice.OutcomeFailed, &otherwise)
	}
	return enqueue(v, fixSession(v, evidence), fmt.Sprintf("fix %d of %d: %s", v.fixes()+1, v.Project.Policy.Verify.Attempts, otherwise.Text))
}

// fixSession returns a fix session with all evidence.
func fixSession(v *View, evidence string) *coppice.Next {
	n := firstSession(v.Task, evidence)
	n.Role = coppice.RoleFix
	if s := v.lastWorkSession(); s != nil {
		n.Agent, n.Model, n.Resume = s.Agent, nextModel(v, s), conversation(s)
	}
	if a := v.Project.Policy.Agent.Roles[coppice.RoleFix]; a != "" && a != n.Agent {
		n.Agent, n.Model, n.Resume = a, "", ""
	}
	return n
}

// firstSession returns a task's first session.
func firstSession(t coppice.Task, evidence string) *coppice.Next {
	return &coppice.Next{Role: t.FirstRole(), Agent: t.Agent, Model: t.Model, Evidence: evidence}
}

// endTask makes the task final.
func endTask(v *View, o coppice.Outcome, fail *coppice.Failure) *Decision {
	t := v.Task
	t.Stage, t.Outcome, t.Failure, t.EndedAt = coppice.StageEnded, o, fail, v.Now
	t.Wait, t.Next, t.Warning, t.Note = nil, nil, "", ""
	if o == coppice.OutcomeDone {
		t.DoneAt = time.Time{}
	}
	d := &Decision{
		By: "pipeline", Kind: coppice.EventTaskEnded, Reason: string(o), Task: &t,
		Asks: v.settled(coppice.VerbStop, coppice.VerbLand, coppice.VerbTake, coppice.VerbGive),
	}
	if fail != nil {
		d.Reason = fmt.Sprintf("%s: %s", o, fail.Text)
	}
	return d
}

// closeQuestions closes unanswered questions of an ended session.
func closeQuestions(v *View, s *coppice.Session) *Decision {
	for _, q := range v.Questions {
		if q.SessionID == s.ID && q.ClosedAt.IsZero() {
			q.ClosedAt = v.Now
			return &Decision{Kind: coppice.EventQuestionAnswered, Reason: "its session ended", Questions: []coppice.Question{q}}
		}
	}
	return nil
}
