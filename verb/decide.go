package verb

import (
	"slices"
	"strings"

	"coppice"
)

// waitsAs reports whether a task waits for a person because of a class of failure.
func waitsAs(t coppice.Task, class coppice.Class) bool {
	return WaitsForPerson(t) && t.Wait.On == coppice.WaitPerson && t.Failure != nil && t.Failure.Class == class
}

// refused returns the landing of the task's current round if it was refused, or
// nil.
func (f Facts) refused() *coppice.Landing {
	if l := f.Landing; l != nil && l.Round == f.Task.Round && (l.Outcome == coppice.LandingRefused || l.Outcome == coppice.LandingConflict) {
		return l
	}
	return nil
}

// Blocked reports whether a task waits for a person because the base fails its
// checks as well, or because the command of a check is missing.
func Blocked(f Facts) bool {
	l := f.refused()
	return waitsAs(f.Task, coppice.ClassBase) && l != nil && l.Failure != nil && l.Failure.Class == coppice.ClassBase &&
		(f.Task.Next != nil || l.Reverts != "")
}

// Unchanged reports whether a task waits for a person because its session changed
// nothing.
func Unchanged(t coppice.Task) bool { return t.Next != nil && waitsAs(t, coppice.ClassUnchanged) }

// Relands reports whether a task waits for a person, and its refused work can land
// again without a session.
func Relands(f Facts) bool { return Blocked(f) || Unchanged(f.Task) && f.refused() != nil }

// FitsDone says why a person cannot decide that a task is done as it is.
func FitsDone(f Facts) error {
	switch t := f.Task; {
	case t.Outcome == coppice.OutcomeDone:
		return coppice.Errorf(coppice.EConflict, "%s is done already", t.Key)
	case !Unchanged(t):
		return coppice.Errorf(coppice.EConflict, "%s does not wait for this decision: no session of it has ended without changing anything", t.Key).
			WithFix("stop it with `coppice stop %s`, or see what it waits for with `coppice show %s`", t.Key, t.Key)
	case f.refused() != nil:
		return coppice.Errorf(coppice.EConflict, "%s has work that has not landed", t.Key).
			WithFix("check it again with `coppice land %s`, continue it with `coppice continue %s`, or stop it with `coppice stop %s`", t.Key, t.Key, t.Key)
	}
	return nil
}

func fitsSkipCheck(f Facts) error {
	if t := f.Task; !Blocked(f) {
		return coppice.Errorf(coppice.EConflict, "no check blocks %s", t.Key).
			WithFix("a check can be left out while its task waits because the base fails it as well; see `coppice show %s`", t.Key)
	}
	return nil
}

// fitsUnskipCheck accepts a task for which checks were left out, unless it lands, or a
// verifier has its candidate.
func fitsUnskipCheck(f Facts) error {
	t := f.Task
	_, again := Recheck(f)
	switch {
	case len(t.Skip) == 0:
		return coppice.Errorf(coppice.ENotFound, "no check was left out for %s", t.Key)
	case t.Outcome == coppice.OutcomeDone:
		return coppice.Errorf(coppice.EConflict, "%s has landed without the check", t.Key).WithFix("run `coppice revert %s`, or fix the base in a new task", t.Key)
	case !again:
		return coppice.Errorf(coppice.EConflict, "the candidate of %s is landing, or being verified", t.Key).WithFix("wait for the result, or stop it with `coppice stop %s`", t.Key)
	}
	return nil
}

// Recheck returns the open landing whose candidate has to be checked again when the
// checks of its task change; nil if there is none. The second result is false if that
// is not possible now.
func Recheck(f Facts) (*coppice.Landing, bool) {
	l := f.Candidate()
	if l == nil || l.Reverts != "" {
		return nil, true
	}
	return l, l.QueueID == 0 && (f.Task.Stage == coppice.StageChecking || f.Task.Stage.Awaits())
}

// checkUnskipCheck refuses a check that was not left out.
func checkUnskipCheck(f Facts, r Request) error {
	if r.Text == "" || slices.Contains(f.Task.Skip, r.Text) {
		return nil
	}
	return coppice.Errorf(coppice.EInvalid, "the check %s was not left out for %s", coppice.Quote(r.Text), f.Task.Key).
		WithFix("see the checks that were left out with `coppice show %s`", f.Task.Key).WithField("text")
}

// checkSkipCheck refuses a check that does not block the task.
func checkSkipCheck(f Facts, r Request) error {
	if r.Text == "" || slices.Contains(f.Task.Blocking, r.Text) {
		return nil
	}
	var list []string
	for _, c := range f.Task.Blocking {
		list = append(list, coppice.Quote(c))
	}
	return coppice.Errorf(coppice.EInvalid, "the check %s does not block %s", coppice.Quote(r.Text), f.Task.Key).
		WithFix("name one of %s, or none to leave out all of them", strings.Join(list, ", ")).WithField("text")
}
