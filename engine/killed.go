package engine

import (
	"fmt"
	"time"

	"coppice"
)

// keptKills is how many killed runs of a command are kept in a row: the run and
// its repetition. A landing that waits after that may try for days, and its
// failure names what was killed last.
const keptKills = 2

// killedPause is how long a landing waits before its checks run again after
// they were killed again. What kills a check may be the check itself, by the
// memory it takes, so the pauses become long.
func killedPause(killed int) time.Duration {
	return doubled(5*time.Second, killed-1, 10*time.Minute)
}

// runs sorts what the commands of a check did: those that went against the tree,
// and those that have to run again before they say anything. Of the latter the
// killed ones come before those that ran out of time.
func runs(v *View, l coppice.Landing, all []coppice.Check) (red []coppice.Check, again *coppice.Check) {
	for i := range all {
		c := &all[i]
		switch {
		case c.Passed():
		case c.Killed():
			if again == nil || !again.Killed() {
				again = c
			}
		case c.TimedOut && !timedOut(v, l, *c):
			if again == nil {
				again = c
			}
		default:
			red = append(red, *c)
		}
	}
	return red, again
}

// timedOut tells whether the last run of the same command on the same tree ran
// out of time as well, since the landing was opened.
func timedOut(v *View, l coppice.Landing, c coppice.Check) bool {
	for _, o := range v.Checks {
		if o.TimedOut && o.Tree == l.Tree && o.Command == c.Command && !o.EndedAt.Before(l.CreatedAt) {
			return true
		}
	}
	return false
}

// runAgain has checks run again on the same tree. One that ran out of time, and
// one that was killed for the first time, runs again at once. One that was
// killed again puts the landing off with a failure of the environment, for as
// long as it takes: a kill is neither a verdict nor one of the landing's tries.
// Such a landing leaves the queue, where others wait behind it.
func runAgain(v *View, d *Decision, c coppice.Check) *Decision {
	l := d.Landing
	switch {
	case !c.Killed():
		goesOn(l)
		l.Waits = fmt.Sprintf("the command %s took longer than %s; it runs again", coppice.Quote(c.Command), durationText(v.Project.Policy.Health.Check.D()))
	case l.Killed == 0:
		l.Killed = 1
		l.Failure, l.Waits, l.RetryAt = nil, coppice.Killed(c.Command, c.Signal).Text+"; it runs again", time.Time{}
	default:
		fail := coppice.Killed(c.Command, c.Signal)
		fail.Text += fmt.Sprintf(", %d times in a row", l.Killed+1)
		return wasKilled(v, d, *fail)
	}
	d.Kind, d.Reason = coppice.EventLandingWaits, l.Waits
	return d
}

// wasKilled puts a landing off whose checks were killed again.
func wasKilled(v *View, d *Decision, fail coppice.Failure) *Decision {
	l := d.Landing
	l.Killed++
	fail.Fix += fmt.Sprintf("; its checks run again from time to time, or at once with `coppice land %s`", v.Task.Key)
	l.Failure, l.Waits, l.RetryAt, l.QueuedAt = &fail, fail.Text, v.Now.Add(killedPause(l.Killed)), time.Time{}
	l.QueueID = 0
	d.Kind, d.Reason = coppice.EventLandingWaits, l.Waits
	return d
}
