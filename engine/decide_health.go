package engine

import (
	"slices"
	"strings"
	"time"

	"coppice"
)

// health checks a running session: silent for long, running for long, near a
// limit, or too old. All but the last are warnings for people. The last one stops
// it.
func health(v *View) *Decision {
	s := v.lastSession()
	if !watched(v, s) {
		return nil
	}
	if most, own := timeLimit(v, s); most > 0 && !own && sessionAge(v, s) >= most {
		if w := v.open(coppice.WorkRun); w != nil && w.Attempt > 0 {
			if d := askStop(v, coppice.StopTimeout); d != nil {
				d.By = "health"
				return d
			}
		}
	}
	h := v.Project.Policy.Health
	var list []string
	switch quiet := v.Now.Sub(lastSign(s)); {
	case h.Stalled > 0 && quiet >= h.Stalled.D() && s.State == coppice.SessionWorking:
		list = append(list, stalledPrefix+durationText(h.Stalled.D()))
	case h.Long > 0 && sessionAge(v, s) >= h.Long.D():
		list = append(list, "long-running: more than "+durationText(h.Long.D()))
	}
	list = append(list, nearLimits(v, s)...)
	warning := strings.Join(list, warningSeparator)
	if v.Task.Warning == warning {
		return nil
	}
	before := strings.Split(v.Task.Warning, warningSeparator)
	fresh := slices.DeleteFunc(list, func(w string) bool { return slices.Contains(before, w) })
	t, c := v.Task, *s
	t.Warning, c.Warning = warning, warning
	return &Decision{By: "health", Kind: coppice.EventSessionWarned, Reason: strings.Join(fresh, warningSeparator), Task: &t, Session: &c}
}

// warningSeparator is between the warnings of a task.
const warningSeparator = "; "

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

// healthDue returns when the session reaches the next limit of time.
func healthDue(v *View) time.Time {
	s := v.lastSession()
	if !watched(v, s) {
		return time.Time{}
	}
	h, began := v.Project.Policy.Health, s.StartedAt.Add(s.ParkedFor.D())
	most, _ := timeLimit(v, s)
	var at time.Time
	for _, t := range []struct {
		from time.Time
		d    time.Duration
	}{{lastSign(s), h.Stalled.D()}, {began, h.Long.D()}, {began, most * 8 / 10}, {began, most}} {
		if t.d == 0 {
			continue
		}
		moment := t.from.Add(t.d)
		if moment.After(v.Now) && (at.IsZero() || moment.Before(at)) {
			at = moment
		}
	}
	return at
}
