package coppice

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// RunLimits say when a session is stopped before it is done. 0 means no limit.
type RunLimits struct {
	Turns  int      `json:"turns,omitempty" yaml:"turns"`   // answers of the model
	Time   Duration `json:"time,omitempty" yaml:"time"`     // without the time that it is parked
	Budget USD      `json:"budget,omitempty" yaml:"budget"` // its cost
}

// MaxTurns is the most turns of any session.
const MaxTurns = 1000

// MaxTime is the longest time limit of a session that people can write.
const MaxTime = Duration(365 * 24 * time.Hour)

// RunLimits returns the limits of each session of a task in a role. A limit of
// the task replaces the role's. Where there is neither, the role's own default
// applies, also if the task runs until it is done.
func (t Task) RunLimits(p Policy, r Role) RunLimits {
	l := p.Agent.Limits[r]
	if t.UntilDone {
		l = RunLimits{}
	}
	if t.Turns > 0 {
		l.Turns = t.Turns
	}
	if t.Time > 0 {
		l.Time = t.Time
	}
	own := r.Info().Limits
	l.Turns, l.Time, l.Budget = cmp.Or(l.Turns, own.Turns), cmp.Or(l.Time, own.Time), cmp.Or(l.Budget, own.Budget)
	if l.Turns <= 0 || l.Turns > MaxTurns {
		l.Turns = MaxTurns
	}
	return l
}

// Words says what stops each session of a task before it is done, unless that is only
// the limit of every session.
func (l RunLimits) Words() string {
	var list []string
	if l.Turns > 0 && l.Turns < MaxTurns {
		list = append(list, fmt.Sprintf("%d turns", l.Turns))
	}
	if l.Time > 0 {
		text, _ := l.Time.MarshalText() // it never fails
		list = append(list, string(text))
	}
	if l.Budget > 0 {
		list = append(list, fmt.Sprintf("$%.2f", float64(l.Budget)))
	}
	if len(list) == 0 {
		return ""
	}
	return strings.Join(list, ", ") + " per session"
}

// ValidLimits checks the limits of a task.
func (t TaskDetails) ValidLimits() error {
	switch {
	case t.Turns < 0 || t.Turns > MaxTurns:
		return Errorf(EInvalid, "%d is not a valid number of turns", t.Turns).WithFix("use 1 to %d, or 0 for the limit of the role", MaxTurns).WithField("turns")
	case t.Time < 0 || t.Time > MaxTime || t.Time > 0 && t.Time.D() < time.Second:
		return Errorf(EInvalid, "%s is not a valid limit of time", t.Time.D()).WithFix("use 1s to 365d, such as 30m, or 0 for the limit of the role").WithField("time")
	case t.UntilDone && (t.Turns > 0 || t.Time > 0):
		return Errorf(EInvalid, "a task with its own limit of turns or time cannot also run until it is done").
			WithFix("leave out until_done, or turns and time").WithField("until_done")
	}
	return nil
}
