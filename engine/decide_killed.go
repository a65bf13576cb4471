package engine

import (
	"fmt"
	"time"

	"coppice"
)

// keptKills is how many killed runs of a command are kept in a row: the run and
// its repetition. A landing that waits after that can retry for days, and its
// failure names the last killed command.
const keptKills = 2

// killedPause returns how long a landing waits after its checks were killed
// again. The check itself might be the cause, by the memory that it uses, so the
// pauses become long.
func killedPause(killed int) time.Duration {
	return doubled(5*time.Second, killed-1, 10*time.Minute)
}

// sortRuns returns the check runs that refused the tree, and the first run that
// must be repeated. Killed runs come before those that timed out.
//
// On the base the first run that times out is a result: a person decides what
// follows.
func sortRuns(v *View, l coppice.Landing, onBase bool, all []coppice.Check) (red []coppice.Check, again *coppice.Check) {
	for i := range all {
		c := &all[i]
		switch {
		case c.Passed():
		case c.Killed():
			if again == nil || !again.Killed() {
				again = c
			}
		case c.TimedOut && !onBase && !timedOut(v, l, *c):
			if again == nil {
				again = c
			}
		default:
			red = append(red, *c)
		}
	}
	return red, again
}

// timedOut reports whether the last run of the same command on the same tree
// timed out too, since the landing was opened.
func timedOut(v *View, l coppice.Landing, c coppice.Check) bool {
	for _, o := range v.Checks {
		if o.TimedOut && o.Tree == l.Tree && o.Command == c.Command && !o.EndedAt.Before(l.CreatedAt) {
			return true
		}
	}
	return false
}

// runAgain repeats checks on the same tree. A check that timed out, or was
// killed for the first time, is repeated immediately. A check that was killed
// again postpones the landing with a failure of the environment, without a
// limit: a kill is neither a result nor one of the landing's tries. Such a
// landing leaves the queue, where others wait behind it.
func runAgain(v *View, d *Decision, c coppice.Check) *Decision {
	l := d.Landing
	switch {
	case !c.Killed():
		clearWait(l)
		l.Waits = fmt.Sprintf("the command %s took longer than %s; it runs again", coppice.Quote(c.Command), durationText(v.Project.Policy.Health.Check.D()))
	case l.Killed == 0:
		l.Killed = 1
		l.Failure, l.Waits, l.RetryAt = nil, coppice.Killed(c.Command, c.Signal).Text+"; it runs again", time.Time{}
	default:
		fail := coppice.Killed(c.Command, c.Signal)
		fail.Text += fmt.Sprintf(", %d times in a row", l.Killed+1)
		return postponeKilled(v, d, *fail)
	}
	d.Kind, d.Reason = coppice.EventLandingWaits, l.Waits
	return d
}

// postponeKilled postpones a landing whose checks were killed again.
func postponeKilled(v *View, d *Decision, fail coppice.Failure) *Decision {
	l := d.Landing
	l.Killed++
	fail.Fix += fmt.Sprintf("; its checks are retried from time to time, or now with `coppice land %s`", v.Task.Key)
	l.Failure, l.Waits, l.RetryAt, l.QueuedAt = &fail, fail.Text, v.Now.Add(killedPause(l.Killed)), time.Time{}
	l.QueueID = 0
	d.Kind, d.Reason = coppice.EventLandingWaits, l.Waits
	return d
}
