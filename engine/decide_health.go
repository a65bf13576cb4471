package engine

import (
	"strings"
	"time"

	"coppice"
)

// health checks a running session: silent for long, running for long, or too
// old. The first two are warnings for people. The last one stops it.
func health(v *View) *Decision {
	s := v.lastSession()
	if v.Task.Stage != coppice.StageSession || s == nil || !s.State.Live() || s.StartedAt.IsZero() {
		return nil
	}
	if s.Screen || s.Parked() {
		return nil // a person uses it, or it waits for a person
	}
	h := healthFor(v, s)
	age := v.Now.Sub(s.StartedAt) - s.ParkedFor.D()
	if h.Timeout > 0 && age >= h.Timeout.D() {
		if w := v.open(coppice.WorkRun); w != nil && w.Attempt > 0 {
			if d := askStop(v, coppice.StopTimeout); d != nil {
				d.By = "health"
				return d
			}
		}
	}
	warning := ""
	switch quiet := v.Now.Sub(lastSign(s)); {
	case h.Stalled > 0 && quiet >= h.Stalled.D() && s.State == coppice.SessionWorking:
		warning = stalledPrefix + durationText(h.Stalled.D())
	case h.Long > 0 && age >= h.Long.D():
		warning = "long-running: more than " + durationText(h.Long.D())
	}
	if v.Task.Warning == warning {
		return nil
	}
	t, c := v.Task, *s
	t.Warning, c.Warning = warning, warning
	return &Decision{By: "health", Kind: coppice.EventSessionWarned, Reason: warning, Task: &t, Session: &c}
}

// stalledPrefix starts the warning of a task whose session is silent.
const stalledPrefix = "stalled: no output for "

// stalled reports whether a task's session is silent for long.
func stalled(t coppice.Task) bool {
	return t.Stage == coppice.StageSession && strings.HasPrefix(t.Warning, stalledPrefix)
}

func lastSign(s *coppice.Session) time.Time {
	if s.OutputAt.After(s.StartedAt) {
		return s.OutputAt
	}
	return s.StartedAt
}

// healthDue returns when the session reaches the next limit of health.
func healthDue(v *View) time.Time {
	s := v.lastSession()
	if v.Task.Stage != coppice.StageSession || s == nil || !s.State.Live() || s.StartedAt.IsZero() || s.Screen || s.Parked() {
		return time.Time{}
	}
	h, began := healthFor(v, s), s.StartedAt.Add(s.ParkedFor.D())
	var at time.Time
	for _, t := range []struct {
		from time.Time
		d    coppice.Duration
	}{{lastSign(s), h.Stalled}, {began, h.Long}, {began, h.Timeout}} {
		if t.d == 0 {
			continue
		}
		moment := t.from.Add(t.d.D())
		if moment.After(v.Now) && (at.IsZero() || moment.Before(at)) {
			at = moment
		}
	}
	return at
}
