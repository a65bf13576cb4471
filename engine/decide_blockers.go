package engine

import (
	"fmt"
	"slices"

	"coppice"
	"coppice/store"
)

// newBlockers returns the tasks of the issues that block an issue since it was last read,
// and why the task of the issue cannot wait for one of them. Only a task that has not
// started gets them.
func newBlockers(r store.Reader, source coppice.Tracker, of TrackedIssue, read coppice.IssueRead) (ids []int64, refused string, err error) {
	if of.Task == nil || !waitsToStart(*of.Task) {
		return nil, "", nil
	}
	some, err := issuesOfPlace(r, source, read.BlockedBy)
	if err != nil {
		return nil, "", err
	}
	for _, name := range read.BlockedBy {
		id := some[name].TaskID
		known := slices.Contains(of.Read.BlockedBy, name) && of.Refused == ""
		if known || id == 0 || id == of.TaskID || slices.Contains(of.Task.After, id) {
			continue
		}
		err := validAfter(r, *of.Task, []int64{id})
		switch {
		case err == nil:
			ids = append(ids, id)
		case coppice.ErrorCode(err) == coppice.EInvalid:
			refused = fmt.Sprintf("its task does not wait for %s: %s", coppice.IssueName(name), coppice.Public(err).Cause)
		default:
			return nil, "", err
		}
	}
	return ids, refused, nil
}

// waitsToStart reports whether the dependencies of the task of an issue can change.
func waitsToStart(t coppice.Task) bool { return coppice.IssueStatusOf(t) == coppice.IssueWaiting }

// viewBlockers reads which of the tasks that the issue reports can be dependencies. Other
// dependencies might have changed since it reported them.
func (t *turn) viewBlockers(v *View) error {
	if v.asked(coppice.VerbIssue) == nil || !waitsToStart(v.Task) {
		return nil
	}
	for _, a := range v.settled(coppice.VerbIssue) {
		c, err := coppice.DecodeSpec[issueChange](coppice.Work{Spec: a.Args})
		if err != nil {
			continue
		}
		for _, id := range c.After {
			if slices.Contains(v.Task.After, id) || slices.Contains(v.Blockers, id) {
				continue
			}
			switch err := validAfter(t.tx.Reader(), v.Task, []int64{id}); coppice.ErrorCode(err) {
			case "":
				v.Blockers = append(v.Blockers, id)
			case coppice.EInvalid, coppice.ENotFound: // refused, or its task was removed
			default:
				return err
			}
		}
	}
	return nil
}
