package engine

import (
	"fmt"
	"slices"
	"strings"

	"coppice"
	"coppice/verb"
)

// refuse ends a landing whose candidate a check refused. First it finds out
// whether the base fails the same check: then no session can fix it. The result on
// a base is valid for all candidates on it. If several landings need it, one of
// them runs the check, and the others wait for it. Then refuse returns nil.
func refuse(v *View, l coppice.Landing) *Decision {
	red := redChecks(v, l)
	if len(red) == 0 { // a later run on the same tree passed
		l.RedOn = ""
		return &Decision{Kind: coppice.EventLandingMerged, Reason: "its checks have passed in the meantime", Landing: &l}
	}
	blocking, unknown := v.sortRed(l, red)
	switch {
	case len(blocking) > 0:
		clearWait(&l)
		return blockedByBase(v, l, red, blocking)
	case len(unknown) == 0:
		clearWait(&l)
		return endLanding(v, &Decision{Landing: &l}, coppice.LandingRefused, checkText(red))
	}
	why := fmt.Sprintf("%s failed; it runs on the base, to find out whether the base fails as well", coppice.Quote(unknown[0]))
	if v.FirstRed != l.ID {
		why = fmt.Sprintf("%s failed; another task runs it on the base", coppice.Quote(unknown[0]))
		if l.Waits == why {
			return nil
		}
		l.Waits = why
		return &Decision{Kind: coppice.EventLandingWaits, Reason: why, Landing: &l}
	}
	d := offerStep(v, l, coppice.WorkCheck, coppice.CheckSpec{
		Repo: v.Project.Path, RepoID: v.Project.ID, Commit: l.Base, Tree: l.RedOn, Commands: unknown, OnBase: true,
		Timeout: v.Project.Policy.Health.Check, Policy: v.Project.Policy.Workspace,
	}, "checks the base "+short(l.Base))
	d.Landing.Waits, d.Landing.RedRuns = why, true
	return d
}

// redChecks returns the newest results of the commands that refuse a landing's
// tree. A run that timed out counts if no other command failed: otherwise it might
// be the first run, which is not a result.
func redChecks(v *View, l coppice.Landing) []coppice.Check {
	var red, late []coppice.Check
	for _, c := range v.Checks {
		switch {
		case c.Tree != l.Tree || c.Env != v.CheckEnv || c.Passed() || !slices.Contains(v.checks(), c.Command):
		case c.TimedOut:
			late = append(late, c)
		default:
			red = append(red, c)
		}
	}
	if len(red) == 0 {
		return late
	}
	return red
}

// sortRed returns the checks that no session can fix, and the commands whose
// result on the base is not known.
func (v *View) sortRed(l coppice.Landing, red []coppice.Check) (blocking []coppice.Check, unknown []string) {
	for _, c := range red {
		on := v.onBase(c.Command)
		switch {
		case c.Missing(), on != nil && !on.Passed():
			blocking = append(blocking, c)
		case on == nil:
			unknown = append(unknown, c.Command)
		}
	}
	return blocking, unknown
}

// onBase returns the result of a command on the base below the candidate, or nil
// if it is not known. A candidate without changes is the base.
func (v *View) onBase(command string) *coppice.Check {
	for i, c := range v.BaseChecks {
		if c.Command == command && c.Env == v.CheckEnv && c.LandingID >= v.Task.BaseFrom {
			return &v.BaseChecks[i]
		}
	}
	return nil
}

// baseFailure says why no session can make a candidate pass, and what a person can
// do. No session works on a revert.
func baseFailure(key string, blocking []coppice.Check, reverts bool) *coppice.Failure {
	var base, missing []string
	for _, c := range blocking {
		if c.Missing() {
			missing = append(missing, fmt.Sprintf("%s (exit code %d)", coppice.Quote(c.Command), c.Exit))
		} else {
			base = append(base, coppice.Quote(c.Command))
		}
	}
	var texts, fixes []string
	if len(base) > 0 {
		texts, fixes = append(texts, "the base fails this check as well: "+strings.Join(base, ", ")), append(fixes, "fix the base")
	}
	if len(missing) > 0 {
		texts, fixes = append(texts, "the command of this check is missing: "+strings.Join(missing, ", ")), append(fixes, "install the command")
	}
	otherwise := "or start a fix session anyway with `coppice continue %s`"
	if reverts {
		otherwise = "or keep what has landed with `coppice stop %s`"
	}
	return coppice.Failf(coppice.ClassBase, strings.Join(texts, "; "), fmt.Sprintf(
		"%s and run `coppice retry %s`; leave the check out for this task with `coppice skip-check %s`; "+otherwise,
		strings.Join(fixes, " and "), key, key, key))
}

// blockedByBase ends a landing that no session can fix, and makes its task wait
// for a person. The task's next session is the fix that the person can still ask
// for. A revert has none.
func blockedByBase(v *View, l coppice.Landing, red, blocking []coppice.Check) *Decision {
	fail, t := baseFailure(v.Task.Key, blocking, l.Reverts != ""), v.Task
	d := endLanding(v, &Decision{Landing: &l, Task: &t}, coppice.LandingRefused, checkText(red))
	d.Reason, l.Failure = fail.Text, fail
	t.Stage, t.Failure, t.Next = coppice.StageWaiting, fail, nil
	if l.Reverts == "" {
		t.Next = fixSession(v, l.Evidence)
	}
	t.Wait = &coppice.Wait{On: coppice.WaitPerson, Text: fail.Text, Fix: fail.Fix}
	t.Blocking = nil
	for _, c := range blocking {
		t.Blocking = append(t.Blocking, c.Command)
	}
	return d
}

// landAgain opens another landing for the work that the last one refused, and
// makes the task wait for it. A person's approval of the head stays valid. A revert
// stays a revert.
func landAgain(v *View, t *coppice.Task) *coppice.Landing {
	was := v.Landing
	l := openLanding(v, was.Head)
	l.SessionID, l.ApprovedBy, l.ApprovedAt = was.SessionID, was.ApprovedBy, was.ApprovedAt
	if was.Reverts != "" {
		l.Reverts, l.Verified = was.Reverts, was.Verified
	}
	t.Stage, t.Wait, t.Next, t.Failure = coppice.StageChecking, nil, nil, nil
	return l
}

// skipChecks leaves out the checks that block a task, for this task, and lands it
// again.
func skipChecks(v *View) *Decision {
	if v.asked(coppice.VerbSkipCheck) == nil || v.asked(coppice.VerbStop, coppice.VerbRequeue) != nil {
		return nil
	}
	d := &Decision{By: "skip-check", Kind: coppice.EventTaskChanged, Reason: "it no longer waits because of a check", Asks: v.settled(coppice.VerbSkipCheck)}
	if !verb.Blocked(v.facts()) {
		return d
	}
	t := v.Task
	t.Skip = slices.Clone(t.Skip)
	for _, a := range d.Asks {
		commands := t.Blocking
		if a.Text != "" {
			commands = []string{a.Text}
		}
		for _, c := range commands {
			if !slices.Contains(t.Skip, c) {
				t.Skip = append(t.Skip, c)
			}
		}
	}
	d.Reason = "left out: " + quoted(t.Skip)
	d.Landing, d.Task = landAgain(v, &t), &t
	return d
}

// unskipChecks puts checks back that a person left out for a task. A candidate that was
// proven without them is merged and checked again.
func unskipChecks(v *View) *Decision {
	if v.asked(coppice.VerbUnskipCheck) == nil || v.asked(coppice.VerbStop, coppice.VerbRequeue) != nil {
		return nil
	}
	l, can := verb.Recheck(v.facts())
	if l != nil && v.open(coppice.WorkMerge, coppice.WorkCheck) != nil {
		return nil // the step in progress does not have these checks
	}
	d := &Decision{By: "unskip-check", Kind: coppice.EventTaskChanged, Reason: "its checks stay as they are", Asks: v.settled(coppice.VerbUnskipCheck)}
	t := v.Task
	if !can || t.Outcome == coppice.OutcomeDone {
		return d
	}
	for _, a := range d.Asks {
		t.Skip = slices.DeleteFunc(slices.Clone(t.Skip), func(c string) bool { return a.Text == "" || a.Text == c })
	}
	if len(t.Skip) == len(v.Task.Skip) {
		return d
	}
	d.Task, d.Reason = &t, "puts checks back that were left out"
	if l != nil {
		c := *l
		c.Candidate, c.RedOn = coppice.Candidate{}, ""
		clearWait(&c)
		t.Stage, d.Landing = coppice.StageChecking, &c
	}
	return d
}

func quoted(list []string) string {
	var out []string
	for _, s := range list {
		out = append(out, coppice.Quote(s))
	}
	return strings.Join(out, ", ")
}

// baseMoved lands a task again whose base failed its checks: the base has moved.
func baseMoved(v *View) *Decision {
	if v.asked(coppice.VerbMoved) == nil {
		return nil
	}
	d := &Decision{By: "landing", Kind: coppice.EventTaskChanged, Reason: "it does not wait for this base", Asks: v.settled(coppice.VerbMoved)}
	if verb.Blocked(v.facts()) && v.Landing.Base != v.Queue.Tip {
		t := v.Task
		d.Kind, d.Reason = coppice.EventTaskRetried, "the base has moved to "+short(v.Queue.Tip)
		d.Landing, d.Task = landAgain(v, &t), &t
	}
	return d
}

// mostMoved limits how many blocked tasks land again when the base has moved. All
// of them run their checks, and those that stay blocked wait behind the others.
const mostMoved = 8

// askBlocked asks the tasks that a red base blocks to land again: it has moved.
func (v *QueueView) askBlocked() (asks []coppice.Ask) {
	for _, id := range v.Blocked {
		asks = append(asks, coppice.Ask{Subject: coppice.TaskSubject(id), Verb: coppice.VerbMoved, Text: "the base has moved"})
	}
	return asks
}
