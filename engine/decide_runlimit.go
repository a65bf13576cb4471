package engine

import (
	"fmt"
	"time"

	"coppice"
)

// runLimits returns what stops a session of the task before it is done.
func (v *View) runLimits(s *coppice.Session) coppice.RunLimits {
	return v.Task.RunLimits(v.Project.Policy, s.Role)
}

// watched reports whether limits of turns and time apply to the newest session.
// They do not while a person uses it, or while it waits for a person.
func watched(v *View, s *coppice.Session) bool {
	return v.Task.Stage == coppice.StageSession && s != nil && s.State.Live() && !s.StartedAt.IsZero() && !s.Screen && !s.Parked()
}

// runLimit stops a session that has used its turns, its time or the budget of its
// role. A session between turns is usually about to end, so only its time counts.
func runLimit(v *View) *Decision {
	s := v.lastSession()
	if !watched(v, s) {
		return nil
	}
	if most, own := timeLimit(v, s); s.State == coppice.SessionIdle && !(own && sessionAge(v, s) >= most) {
		return nil
	}
	if w := v.open(coppice.WorkRun); w == nil || w.Attempt == 0 || reachedLimit(v, s, s.Usage) == nil {
		return nil
	}
	d := askStop(v, coppice.StopLimit)
	if d != nil {
		d.By = "limits"
	}
	return d
}

// reachedLimit returns the failure for the first limit that a session has reached
// with that usage, or nil.
func reachedLimit(v *View, s *coppice.Session, u coppice.Usage) *coppice.Failure {
	l, age := v.runLimits(s), sessionAge(v, s)
	switch {
	case u.Turns >= int64(l.Turns):
		return limitFailure(v, s, fmt.Sprintf("has used %d of %d turns", u.Turns, l.Turns), "turns")
	case l.Time > 0 && age >= l.Time.D():
		return limitFailure(v, s, fmt.Sprintf("has worked for %s of %s", durationText(age.Truncate(time.Second)), durationText(l.Time.D())), "time")
	}
	return reachedCost(v, s, u.CostUSD)
}

// reachedCost returns the failure of a session that has spent the budget of its
// role, or nil.
func reachedCost(v *View, s *coppice.Session, cost float64) *coppice.Failure {
	most := v.runLimits(s).Budget
	if most == 0 || coppice.USD(cost) < most {
		return nil
	}
	return limitFailure(v, s, fmt.Sprintf("has cost %s USD of %s USD in the role %s", dollars(coppice.USD(cost)), dollars(most), s.Role), "budget")
}

// limitFailure returns the failure of a session that has reached a limit. A
// person decides what follows.
func limitFailure(v *View, s *coppice.Session, text, name string) *coppice.Failure {
	fix := fmt.Sprintf("retry it to grant the same again, or raise the limit (coppice set %s --%s N)", v.Task.Key, name)
	if name == "budget" {
		fix = fmt.Sprintf("retry it to grant the same again, or raise agent.limits.%s.budget in coppice.yaml", s.Role)
	}
	if s.Role.Lands() {
		fix += fmt.Sprintf("; to check and land the work so far, run: coppice land %s", v.Task.Key)
	}
	return coppice.Failf(coppice.ClassLimit, text, fix)
}

// endedByLimit returns the failure of a session that was stopped because of a
// limit. If the limit has been raised since, the task continues.
func endedByLimit(v *View, s *coppice.Session, u coppice.Usage) *coppice.Failure {
	if f := reachedLimit(v, s, u); f != nil {
		return f
	}
	return coppice.Failf(coppice.ClassDayBudget, "was stopped because of a limit that has been raised since", "")
}

// sessionAge returns how long a session has worked.
func sessionAge(v *View, s *coppice.Session) time.Duration {
	return v.Now.Sub(s.StartedAt) - s.ParkedFor.D()
}

// timeLimit returns the age at which a session is stopped, and whether that is a
// limit of its task or role; 0 means no limit. Otherwise it is a sign of a problem,
// and the session is retried.
func timeLimit(v *View, s *coppice.Session) (most time.Duration, own bool) {
	switch l := v.runLimits(s); {
	case l.Time > 0:
		return l.Time.D(), true
	case v.Task.UntilDone:
		return 0, false
	}
	return v.Project.Policy.Health.Timeout.D(), false
}

// near reports whether 80% of a limit is used.
func near(used, most float64) bool { return most > 0 && used >= 0.8*most }

// nearLimits returns a warning for each limit of which a session has used 80%. A
// text stays the same until the session ends, so that people are warned one time.
func nearLimits(v *View, s *coppice.Session) (list []string) {
	l := v.runLimits(s)
	most, _ := timeLimit(v, s)
	if near(float64(v.Spent), float64(v.allowed())) {
		list = append(list, fmt.Sprintf("80%% of its budget of %s USD is spent", dollars(v.allowed())))
	}
	if near(s.Usage.CostUSD, float64(l.Budget)) {
		list = append(list, fmt.Sprintf("80%% of the session's %s USD is spent", dollars(l.Budget)))
	}
	if near(float64(s.Usage.Turns), float64(l.Turns)) {
		list = append(list, fmt.Sprintf("80%% of its %d turns are used", l.Turns))
	}
	if near(float64(sessionAge(v, s)), float64(most)) {
		list = append(list, fmt.Sprintf("80%% of its time of %s is used", durationText(most)))
	}
	return list
}
