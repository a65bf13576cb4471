package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/store"
)

// HooksView is what the deciders of a project's hooks see. Project 0 is that of
// the user's hooks which belong to no project.
type HooksView struct {
	Common
	Offered []coppice.HookRun // oldest first
	Next    *coppice.HookRun  // the first that can be offered, or nil
	Rest    []coppice.HookRun // the runs after one that blocks and has finished
}

// hooksView loads the view of a project's hooks.
func (t *turn) hooksView(project int64) (*HooksView, error) {
	v := &HooksView{}
	var err error
	if v.Common, err = t.common(coppice.HooksSubject(project)); err != nil {
		return nil, err
	}
	if project != 0 {
		if v.Project, err = t.tx.Projects.Get(project); err != nil {
			return nil, gone(err)
		}
	}
	return v, v.load(t)
}

func (v *HooksView) load(t *turn) error {
	var err error
	if v.Offered, err = t.tx.Hooks.Offered(v.Project.ID); err != nil {
		return err
	}
	v.Next, v.Rest = nil, nil
	next, err := t.tx.Hooks.Next(v.Project.ID, 1)
	if err != nil {
		return err
	}
	if len(next) > 0 {
		v.Next = &next[0]
	}
	for _, w := range v.Work {
		if run := v.run(w); run != nil && run.Blocks && w.State == coppice.WorkFinished {
			lane, err := t.tx.Hooks.Lane(run.Lane)
			if err != nil {
				return err
			}
			v.Rest = append(v.Rest, lane...)
		}
	}
	return nil
}

// run returns the run for which work was offered, or nil.
func (v *HooksView) run(w coppice.Work) *coppice.HookRun {
	for i := range v.Offered {
		if hookWorkKey(v.Offered[i]) == w.Key {
			return &v.Offered[i]
		}
	}
	return nil
}

func hookWorkKey(r coppice.HookRun) string { return "hook/" + r.Key }

func (v *HooksView) decide() *Decision {
	for _, w := range v.Work {
		if w.State == coppice.WorkFinished {
			d := settleHook(v, w)
			d.By, d.Settle = "hooks", &w
			return d
		}
	}
	return offerHook(v)
}

func (v *HooksView) due() time.Time                    { return time.Time{} }
func (v *HooksView) follow(t *turn, _ *Decision) error { return v.load(t) }

// runRow is the row of a run.
type runRow struct{ coppice.HookRun }

func (runRow) Owner() coppice.SubjectKind { return coppice.SubjectHooks }
func (r runRow) Put(tx store.Tx) error    { return tx.Hooks.Put(&r.HookRun) }

// firstRun returns the run that a decision about hooks writes first.
func firstRun(d *Decision) (coppice.HookRun, bool) {
	if len(d.More) > 0 {
		if r, ok := d.More[0].(runRow); ok {
			return r.HookRun, true
		}
	}
	return coppice.HookRun{}, false
}

// offerHook offers the next run. A run that blocks a landing does not wait for
// others: there is at most one for each branch.
func offerHook(v *HooksView) *Decision {
	if v.Next == nil {
		return nil
	}
	running := 0
	for _, r := range v.Offered {
		if !r.Blocks {
			running++
		}
	}
	if !v.Next.Blocks && running >= v.Project.Policy.Limits.MostHooks() {
		return nil
	}
	r := *v.Next
	r.OfferedAt = v.Now
	return &Decision{
		By: "hooks", Kind: coppice.EventWorkOffered, Reason: "runs the hook " + hookName(r), More: []Row{runRow{r}},
		Offer: &coppice.Work{Kind: coppice.WorkHook, Key: hookWorkKey(r), Pool: place(nil, placement{Kind: coppice.WorkHook}), TaskID: r.TaskID, Spec: coppice.Raw(hookSpec(v.Project, r))},
	}
}

// hookSpec asks for a run.
func hookSpec(p coppice.Project, r coppice.HookRun) coppice.HookSpec {
	s := coppice.HookSpec{
		Key: r.Key, Event: r.Event, Run: r.Run, Timeout: r.Limit(), Dir: r.Dir, PassEnv: p.Policy.Workspace.PassEnv, Input: r.Input,
		Env: []string{"COPPICE=1", "COPPICE_HOOK=" + string(r.Event), "COPPICE_HOOK_ID=" + r.Key},
	}
	in, err := coppice.DecodeSpec[coppice.HookInput](coppice.Work{Spec: r.Input})
	if err != nil || in.Task == nil {
		return s
	}
	s.Env = append(s.Env, "COPPICE_TASK="+in.Task.Key, "COPPICE_BRANCH="+in.Task.Branch)
	if in.Task.Workspace != "" {
		s.Env = append(s.Env, "COPPICE_WORKSPACE="+in.Task.Workspace)
	}
	return s
}

// settleHook stores how a run ended. A failure warns, or blocks: then the runs
// after it are skipped, and the queue decides about the landing.
func settleHook(v *HooksView, w coppice.Work) *Decision {
	found := v.run(w)
	if found == nil {
		return &Decision{Kind: coppice.EventWorkFinished, Reason: "its run is not known"}
	}
	run := *found
	r, fail := result[coppice.HookResult](w)
	if fail != nil {
		r = coppice.HookResult{Exit: -1, Output: fail.Text}
	}
	r.Attempt = w.Attempt
	run.HookResult, run.EndedAt, run.Outcome = r, v.Now, coppice.HookPassed
	if fail != nil || r.Exit != 0 || r.Signal != "" || r.TimedOut {
		run.Outcome = coppice.HookFailed
	}
	d := &Decision{Kind: coppice.EventHookEnded, Reason: HookText(run), Data: hookData{run.Key, run.Event, run.Outcome}, More: []Row{runRow{run}}}
	if run.Blocks {
		d.Wake = []coppice.Subject{coppice.QueueSubject(run.QueueID)}
		if run.QueueID == 0 { // it comes before the merge of a pull request
			d.Wake = []coppice.Subject{coppice.TaskSubject(run.TaskID)}
		}
	}
	if run.Outcome == coppice.HookPassed || run.Test {
		return d
	}
	if run.Blocks {
		for _, rest := range v.Rest {
			if rest.Lane == run.Lane && rest.ID > run.ID {
				rest.EndedAt, rest.Outcome = v.Now, coppice.HookSkipped
				d.More = append(d.More, runRow{rest})
			}
		}
	}
	if run.Failure() == coppice.HookWarn && run.TaskID != 0 {
		d.Requests = []coppice.Ask{{Subject: coppice.TaskSubject(run.TaskID), Verb: coppice.VerbWarn, Text: d.Reason}}
	}
	return d
}

// hookData is what the log keeps of a run besides its text.
type hookData struct {
	Hook    string            `json:"hook"`
	Event   coppice.HookEvent `json:"event"`
	Outcome string            `json:"outcome"`
}

// hookName names a run for people.
func hookName(r coppice.HookRun) string {
	return fmt.Sprintf("%s (%s)", r.Event, coppice.FirstLine(r.Run))
}

// HookText says how a run ended.
func HookText(r coppice.HookRun) string {
	text := "the hook " + hookName(r)
	switch {
	case r.Outcome == coppice.HookPassed:
		return text + " passed"
	case r.Outcome == coppice.HookSkipped:
		return text + " was skipped: a hook before it failed"
	case r.TimedOut:
		return fmt.Sprintf("%s was stopped after %s", text, durationText(r.Limit().D()))
	case r.Signal != "":
		return text + " was killed by " + r.Signal
	case r.Exit < 0:
		return text + " could not run: " + coppice.FirstLine(r.Output)
	}
	return fmt.Sprintf("%s failed with exit code %d", text, r.Exit)
}

// warn shows on a task that a hook failed.
func warn(v *View) *Decision {
	a := v.asked(coppice.VerbWarn)
	if a == nil {
		return nil
	}
	t := v.Task
	t.HookFailed = a.Text
	return &Decision{By: "hooks", Kind: coppice.EventTaskWarned, Reason: a.Text, Task: &t, Asks: v.done(a)}
}

// viewHooks reads the runs of the hooks before a landing, if there are such hooks.
func (t *turn) viewHooks(v *View) error {
	v.BeforeLand, v.HookRuns = nil, nil
	l := v.Landing
	if l == nil || l.Commit == "" || !l.EndedAt.IsZero() {
		return nil
	}
	if v.BeforeLand = hooksOf(coppice.HookBeforeLand, v.Project.Policy.Hooks, t.userHooks()); len(v.BeforeLand) == 0 {
		return nil
	}
	var err error
	v.HookRuns, err = t.tx.Hooks.Before(l.ID, l.Commit)
	return err
}

// beforeLand runs the hooks before a proven candidate lands, one time for each
// candidate. The landing waits for those that can block it. It returns nil if the
// landing can continue. A person's request to take a landing off has no hooks: no
// agent could fix it.
func beforeLand(v *View, l *coppice.Landing) (d *Decision, wait bool) {
	if len(v.BeforeLand) == 0 || l.Reverts != "" {
		return nil, false
	}
	if len(v.HookRuns) == 0 {
		l.Waits = ""
		if slices.ContainsFunc(v.BeforeLand, func(h configured) bool { return h.Failure() == coppice.HookBlock }) {
			l.Waits = hooksWait
		}
		return &Decision{Kind: coppice.EventLandingReady, Reason: "runs the hooks before it lands", Landing: l}, false
	}
	for _, r := range v.HookRuns {
		switch {
		case !r.Blocks:
		case r.Open():
			return nil, true
		case r.Outcome != coppice.HookPassed:
			clearWait(l)
			l.Failure = coppice.Failf(coppice.ClassVerification, HookText(r), "read its output with `coppice hooks log`, fix the branch and run coppice land; or retry the task")
			d := endLanding(v, &Decision{Landing: l}, coppice.LandingRefused, hookEvidence(r))
			d.Reason = HookText(r)
			return d, false
		}
	}
	if l.Waits == hooksWait {
		l.Waits = ""
	}
	return nil, false
}

// hooksWait is why a landing waits while its hooks run.
const hooksWait = "waits for the hooks before it lands"

// hookEvidence is what a fix session gets after a hook has refused a candidate.
func hookEvidence(r coppice.HookRun) string {
	return fmt.Sprintf("%s on the merged commit %s. Its output:\n\n%s", HookText(r), short(r.Commit), strings.TrimSpace(r.Output))
}
