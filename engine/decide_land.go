package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/verb"
)

// landing takes the next step of a task's open landing: merge with the base,
// check the merged tree, verify it, queue it. From there the queue continues.
func landing(v *View) *Decision {
	if !v.Task.Stage.Lands() {
		return nil
	}
	if d := approve(v); d != nil {
		return d
	}
	if v.open(coppice.WorkMerge, coppice.WorkCheck, coppice.WorkPrepare, coppice.WorkRestore, coppice.WorkRemove) != nil {
		return nil
	}
	var d *Decision
	if v.follows() && !v.mergeAsked() {
		return nil
	}
	if v.Landing == nil && v.Task.Stage != coppice.StageChecking {
		return withoutLanding(v)
	}
	if v.Landing == nil || v.follows() && (v.Workspace == nil || !v.Workspace.Ready()) {
		owner := fmt.Sprintf("task/%d/land/%d", v.Task.ID, v.Task.Round)
		if v.Landing != nil {
			owner += fmt.Sprintf("/%d", v.Landing.Steps)
		}
		d = offerWorkspace(v, owner, 0, "looks for the branch's head")
	} else if v.Landing.EndedAt.IsZero() && v.Landing.QueueID == 0 && !v.Landing.RetryAt.After(v.Now) {
		d = landStep(v, *v.Landing)
	}
	if d != nil {
		d.By = "landing"
	}
	return d
}

// withoutLanding has the branch of a task checked again whose landing is missing,
// although its stage needs one. No decision leads there. But if the rows say so, only
// a new candidate continues the task.
func withoutLanding(v *View) *Decision {
	t := v.Task
	t.Stage = coppice.StageChecking
	return &Decision{By: "landing", Kind: coppice.EventTaskStage, Reason: "its candidate is missing, so its branch is checked again", Task: &t}
}

// landStep returns the next step of a landing, of a task or first in its queue.
// A step is repeated when the branch has moved. Trees that have passed are not
// checked again.
func landStep(v *View, l coppice.Landing) *Decision {
	if mightHaveLanded(l) {
		return pushOrMove(v, l)
	}
	if v.Queue.Needs.Of(coppice.NeedBase) != nil {
		return nil // nothing is built on a branch that a person must check first
	}
	if l.QueueID == 0 && l.Commit == "" && needsNoProof(v) {
		return enterQueue(v, l)
	}
	if l.RedOn != "" {
		return refuse(v, l)
	}
	if d := prove(v, l); d != nil {
		return d
	}
	if verifies(v) && !l.Verified {
		if l.QueueID != 0 {
			return outOfQueue(l, "waits for a verifier")
		}
		return queueVerifier(v, l)
	}
	if v.method().Forge && l.Reverts == "" && l.QueueID != 0 {
		return outOfQueue(l, "waits for its pull request")
	}
	if stage, _ := approvalStage(v, l); stage != "" && l.ApprovedBy == "" && l.QueueID != 0 {
		return outOfQueue(l, "waits for a person's approval")
	}
	if l.Commit == l.Base {
		l.Outcome, l.EndedAt = coppice.LandingEmpty, v.Now
		return &Decision{Kind: coppice.EventLandingEnded, Reason: "the base already has its changes", Landing: &l}
	}
	if l.QueueID == 0 {
		return enterQueue(v, l)
	}
	if d, wait := beforeLand(v, &l); d != nil || wait {
		return d
	}
	return pushOrMove(v, l)
}

// outOfQueue takes a landing out of its queue, which waits neither for a verdict
// nor for a person.
func outOfQueue(l coppice.Landing, why string) *Decision {
	clearWait(&l)
	l.QueueID, l.QueuedAt = 0, time.Time{}
	return &Decision{Kind: coppice.EventLandingWaits, Reason: why, Landing: &l}
}

// needsNoProof reports whether nothing checks the merged tree before it lands.
// Such a landing is merged once, when it is the first in its queue.
func needsNoProof(v *View) bool {
	return len(v.checks()) == 0 && !verifies(v) && (v.onFlow() || v.method().Stage == "" && v.Project.Policy.Land.Ask.IsZero())
}

// onFlow reports whether the task's work lands on the branch of a flow. A person
// approves what the flow lands, not each step.
func (v *View) onFlow() bool { return v.Task.Step != nil && v.Task.Onto != "" }

// prove merges a landing and checks the merged tree. It returns nil if the
// current candidate is proven.
func prove(v *View, l coppice.Landing) *Decision {
	if l.Commit == "" || l.QueueID != 0 && l.Base != v.tip() || l.QueueID == 0 && l.Rules != v.Project.Policy.Land.Ask.Mark() {
		return offerStep(v, l, coppice.WorkMerge, mergeSpec(v, l), "merges with the base")
	}
	if l.Green {
		return nil
	}
	if missing := unproven(v, l); len(missing) > 0 {
		return offerStep(v, l, coppice.WorkCheck, coppice.CheckSpec{
			Repo: v.Project.Path, RepoID: v.Project.ID, Commit: l.Commit, Tree: l.Tree, Commands: missing, Base: l.Base,
			Timeout: v.Project.Policy.Health.Check, Policy: v.Project.Policy.Workspace,
		}, "checks tree "+short(l.Tree))
	}
	clearWait(&l)
	l.Green = true
	return &Decision{Kind: coppice.EventLandingMerged, Reason: fmt.Sprintf("tree %s is proven", short(l.Tree)), Landing: &l}
}

// lastSteps are the kinds of work that make a landing's commit visible to
// others.
var lastSteps = []coppice.WorkKind{coppice.WorkPush, coppice.WorkMove}

// mightHaveLanded reports whether the landing's commit is on the remote, or
// might be there or on the branch although the last step failed. Only a retry
// shows it, and everything else waits for that.
func mightHaveLanded(l coppice.Landing) bool {
	return l.EndedAt.IsZero() && l.Green && l.QueueID != 0 && (l.Pushed || l.Failure != nil)
}

// pushOrMove puts a proven commit on its branch. If work is pushed, the remote
// comes first, so that the local branch is never ahead of a remote that refused
// it. Only the base is pushed.
func pushOrMove(v *View, l coppice.Landing) *Decision {
	land := v.Project.Policy.Land
	if (land.Push || v.method().Forge) && v.Task.Onto == "" && !l.Pushed && !l.MovesBack() {
		return offerStep(v, l, coppice.WorkPush, coppice.PushSpec{
			Repo: v.Project.Path, RepoID: v.Project.ID, Base: v.onto(), Old: l.Base, New: l.Commit, Remote: land.Remote,
		}, "pushes to "+v.remote())
	}
	return offerStep(v, l, coppice.WorkMove, coppice.MoveSpec{
		Repo: v.Project.Path, RepoID: v.Project.ID, Base: v.onto(), Old: l.Base, New: l.Commit,
		Remote: land.Remote, Pushed: l.Pushed, Ref: landingRef(v, l), Back: l.MovesBack(), Follow: v.method().Forge && l.Pushed,
	}, "moves the base")
}

// unproven lists the commands that have not passed on the landing's tree yet.
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

// enterQueue queues a proven landing, or makes it wait for a person's approval,
// as the policy says. A landing that was approved needs no other approval.
func enterQueue(v *View, l coppice.Landing) *Decision {
	t := v.Task
	if v.method().Forge && l.Reverts == "" {
		return waitForForge(v)
	}
	if stage, why := approvalStage(v, l); stage != "" && l.ApprovedBy == "" {
		if t.Stage == stage && l.Waits == why {
			return nil
		}
		t.Stage = stage
		d := &Decision{Kind: coppice.EventTaskStage, Reason: cmp.Or(why, "proven; waits until a person runs coppice land"), Task: &t}
		if l.Waits != why {
			l.Waits, d.Landing = why, &l
		}
		return d
	}
	l.QueueID, l.QueuedAt, l.Waits = v.Queue.ID, v.Now, ""
	t.Stage = coppice.StageLanding
	return &Decision{Kind: coppice.EventLandingQueued, Task: &t, Landing: &l}
}

// waitForForge makes a proven landing wait until the forge has merged its request.
func waitForForge(v *View) *Decision {
	if v.Task.Stage == coppice.StagePull {
		return nil
	}
	t := v.Task
	t.Stage, t.Attention = coppice.StagePull, ""
	return &Decision{Kind: coppice.EventTaskStage, Reason: "proven; waits for its pull request", Task: &t}
}

// approvalStage returns the stage at which a proven landing waits for a person's
// approval, and why if its landing method does not say it. The stage is empty if
// the landing needs no approval.
func approvalStage(v *View, l coppice.Landing) (coppice.Stage, string) {
	if v.onFlow() {
		return "", ""
	}
	land := v.Project.Policy.Land
	if m := v.method(); m.Stage != "" && !m.Forge {
		return m.Stage, ""
	}
	why := l.Review
	if c := v.Task.Category; c != "" && slices.Contains(land.Ask.Categories, c) {
		why = fmt.Sprintf("its category is %s (land.ask.categories)", c)
	}
	if why == "" {
		return "", ""
	}
	return coppice.StageReview, "waiting for your review: " + why
}

// approve stores a person's approval in the landing: it is valid for its head,
// and no other. A request for an earlier candidate approves nothing.
func approve(v *View) *Decision {
	l := v.Landing
	if v.asked(coppice.VerbLand) == nil || l == nil || !l.EndedAt.IsZero() || v.Task.Stage == coppice.StagePull {
		return nil
	}
	d := &Decision{
		By: "landing", Kind: coppice.EventTaskChanged, Reason: "there is a new candidate, which needs a new approval", Asks: v.settled(coppice.VerbLand),
	}
	for _, a := range d.Asks {
		if of := landArgsOf(a).Landing; l.QueueID == 0 && (of == 0 || of == l.ID) {
			c := *l
			c.ApprovedBy, c.ApprovedAt = a.By.String(), a.At
			d.Kind, d.Reason, d.Landing = coppice.EventLandingApproved, fmt.Sprintf("%s approves %s", a.By, short(l.Head)), &c
		}
	}
	return d
}

// landArgs are the arguments of a request to land. They say what the person
// approves; the zero value approves the next candidate.
type landArgs struct {
	Landing int64  `json:"landing,omitempty"` // the candidate's landing
	Head    string `json:"head,omitempty"`    // the commit, or its first characters, if there was no candidate
}

func (a landArgs) raw() json.RawMessage { return coppice.Raw(a) }

func landArgsOf(a coppice.Ask) (args landArgs) {
	if len(a.Args) == 0 || json.Unmarshal(a.Args, &args) != nil {
		return landArgs{}
	}
	return args
}

// otherHead says that a person asked to land another commit than the head of the
// task's branch; nil if nobody did.
func otherHead(v *View, head string) *coppice.Failure {
	a := v.asked(coppice.VerbLand)
	if a == nil || strings.HasPrefix(head, landArgsOf(*a).Head) {
		return nil
	}
	err := verb.OtherHead(v.Task, head, landArgsOf(*a).Head)
	return coppice.Failf(coppice.ClassImplementation, err.Cause, err.Fix)
}

// offerStep offers a landing's next work item. Each has a different key. The
// executor makes sure that it is safe to repeat.
func offerStep(v *View, l coppice.Landing, kind coppice.WorkKind, spec any, reason string) *Decision {
	l.Steps++
	if !slices.Contains(lastSteps, kind) { // until these have a result, the previous block might still apply
		l.Waits = ""
	}
	return &Decision{Kind: coppice.EventWorkOffered, Reason: reason, Landing: &l, Offer: &coppice.Work{
		Kind: kind, Key: fmt.Sprintf("landing/%d/%d", l.ID, l.Steps), Pool: v.place(kind), TaskID: v.Task.ID, Spec: coppice.Raw(spec),
	}}
}

// landingRef keeps the merged commit until it has landed. If it never does, the
// ref is removed with the task's workspace.
func landingRef(v *View, l coppice.Landing) string {
	return fmt.Sprintf("refs/coppice/landing/%s/%d", v.Task.Key, l.ID)
}

// mergeSpec asks for the merge. The commit has the landing's date, so that the
// same merge always creates the same commit. A task from the features file
// cannot change that file: an agent that completes its own feature would
// conflict with all others.
func mergeSpec(v *View, l coppice.Landing) coppice.MergeSpec {
	land := v.Project.Policy.Land
	var ours []string
	if v.Task.Feature != "" {
		ours = featuresFile(v)
	}
	spec := coppice.MergeSpec{
		Repo: v.Project.Path, RepoID: v.Project.ID, Base: v.onto(), Head: l.Head, Strategy: land.Strategy,
		Message: landMessage(v, l), At: l.CreatedAt, Ref: landingRef(v, l), Ours: ours, Seen: v.Queue.Tip, Onto: v.Behind,
		Ask: coppice.LandAsk{Paths: land.Ask.Paths, Lines: land.Ask.Lines},
	}
	if v.onFlow() {
		spec.Strategy = coppice.StrategySquash
	}
	if l.Reverts != "" {
		spec.Reverts, spec.Strategy, spec.Message = l.Reverts, coppice.StrategySquash, revertMessage(v, l)
	}
	return spec
}

// featuresFile returns the project's features file, to which Coppice writes.
func featuresFile(v *View) []string {
	if f := v.Project.Policy.Features; f != "" {
		return []string{f}
	}
	return nil
}

// Limits of the parts of a landed commit's message, in bytes.
const (
	mostDescription = 4096
	mostSummary     = 2048
)

// landMessage returns the message of the commit that lands: the task, the agent's
// final message, and trailers that name its origin.
func landMessage(v *View, l coppice.Landing) string {
	var b strings.Builder
	b.WriteString(v.Task.Title)
	b.WriteString("\n\n")
	if body := strings.TrimSpace(v.Task.Body); body != "" && len(body) <= mostDescription {
		b.WriteString(body)
		b.WriteString("\n\n")
	}
	if text := landSummary(v, l); text != "" {
		b.WriteString(text)
		b.WriteString("\n\n")
	}
	fmt.Fprintf(&b, "Coppice-Task: %s\n", v.Task.Key)
	for _, c := range v.Task.Skip {
		fmt.Fprintf(&b, "Coppice-Skipped-Check: %s\n", coppice.FirstLine(c))
	}
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

// landSummary returns the final message of the session whose work lands, or what a
// flow says, shortened at a line or word. A person's session on a screen has none.
func landSummary(v *View, l coppice.Landing) string {
	if f := v.Task.Flow; f != nil {
		return shortSummary(f.Result)
	}
	for _, s := range v.Sessions {
		if s.ID == l.SessionID && !s.Screen {
			return shortSummary(s.Summary)
		}
	}
	return ""
}

func shortSummary(text string) string { return shorten(coppice.Printable(text), mostSummary) }

// shorten cuts a text at a line or word.
func shorten(text string, most int) string {
	text = strings.TrimSpace(text)
	if len(text) <= most {
		return text
	}
	text = strings.ToValidUTF8(text[:most], "")
	if i := strings.LastIndexAny(text, "\n "); i > most/2 {
		text = text[:i]
	}
	return strings.TrimSpace(text) + " …"
}
