package flow

import (
	"encoding/json"
	"slices"
	"strings"

	"coppice"
)

// CycleSpec is the spec of a cycle.
type CycleSpec struct {
	Implementer string      `json:"implementer" doc:"The agent that plans and implements, as agent or agent:model; if absent, the agent that implements best"`
	Reviewer    string      `json:"reviewer" doc:"The agent that reviews and verifies, as agent or agent:model; if absent, another agent than the implementer, if the project has one"`
	Cycles      int         `json:"cycles" minimum:"1" maximum:"50" doc:"The most cycles of review and implementation; 10 when absent"`
	Threshold   float64     `json:"threshold" minimum:"0.1" maximum:"1" doc:"The share of the milestones that must be done; 1 when absent"`
	Verify      string      `json:"verify,omitempty" maxLength:"20000" doc:"How to start or try the result; if absent, nothing is verified after the last review"`
	VerifyTries int         `json:"verify_tries" minimum:"0" maximum:"10" doc:"How often work that was not verified is fixed; 2 when absent"`
	Limits      CycleLimits `json:"limits" doc:"The limits of the steps, by phase"`
}

// CycleLimits are the limits of a cycle's steps, by phase.
type CycleLimits struct {
	Assess    PhaseLimits `json:"assess" doc:"50 turns when absent"`
	Review    PhaseLimits `json:"review" doc:"30 turns when absent"`
	Implement PhaseLimits `json:"implement" doc:"100 turns when absent"`
	Verify    PhaseLimits `json:"verify" doc:"40 turns when absent"`
}

// PhaseLimits are the limits of the steps of a phase, as those of a task.
type PhaseLimits struct {
	Turns     int              `json:"turns,omitempty" minimum:"0" maximum:"1000" doc:"The most turns of each session"`
	Time      coppice.Duration `json:"time,omitempty" doc:"How long each session can work, such as 30m"`
	Budget    coppice.USD      `json:"budget,omitempty" doc:"The most to spend on a step, such as 5 USD"`
	UntilDone bool             `json:"until_done,omitempty" doc:"Only completion, a budget or 1,000 turns stop its sessions"`
}

// mostVerify limits how a spec describes how to try the result, in bytes.
const mostVerify = 20_000

// readCycle reads a spec. A field that is absent has its default. The agents of a
// stored spec are always present.
func readCycle(raw json.RawMessage) (CycleSpec, error) {
	s, err := readSpec(raw, CycleSpec{Cycles: 10, Threshold: 1, VerifyTries: 2})
	if err != nil {
		return CycleSpec{}, err
	}
	for _, l := range s.Limits.all() {
		if l.limits.Turns == 0 && !l.limits.UntilDone {
			l.limits.Turns = l.turns
		}
	}
	return s, nil
}

type limitsOf struct {
	phase  string
	limits *PhaseLimits
	turns  int // when absent
}

func (l *CycleLimits) all() []limitsOf {
	return []limitsOf{{"assess", &l.Assess, 50}, {"review", &l.Review, 30}, {"implement", &l.Implement, 100}, {"verify", &l.Verify, 40}}
}

// Check implements Kind.
func (cycle) Check(raw json.RawMessage, agents []Agent) (json.RawMessage, error) {
	s, err := readCycle(raw)
	if err != nil {
		return nil, err
	}
	if err := s.staff(agents); err != nil {
		return nil, err
	}
	wrong := func(field, fix string, value any) error {
		return coppice.Errorf(coppice.EInvalid, "%v is not a valid value for %s", value, field).WithFix("%s", fix).WithField(field)
	}
	switch {
	case s.Cycles < 1 || s.Cycles > 50:
		return nil, wrong("cycles", "use 1 to 50", s.Cycles)
	case !(s.Threshold >= 0.1 && s.Threshold <= 1):
		return nil, wrong("threshold", "use 0.1 to 1, such as 0.9 for nine of ten milestones", s.Threshold)
	case s.VerifyTries < 0 || s.VerifyTries > 10:
		return nil, wrong("verify_tries", "use 0 to 10", s.VerifyTries)
	}
	if err := coppice.ValidText("verify", s.Verify, mostVerify); err != nil {
		return nil, err
	}
	if !coppice.Visible(s.Verify) {
		s.Verify = ""
	}
	for _, l := range s.Limits.all() {
		err := coppice.TaskDetails{Turns: l.limits.Turns, Time: l.limits.Time, UntilDone: l.limits.UntilDone}.ValidLimits()
		if err == nil {
			err = l.limits.Budget.Valid("budget")
		}
		if err != nil {
			e := coppice.Public(err)
			return nil, e.WithField("limits." + l.phase + "." + e.Field)
		}
	}
	return json.Marshal(s)
}

// staff checks the agents, and fills in those that are absent.
func (s *CycleSpec) staff(agents []Agent) error {
	if len(agents) == 0 {
		return coppice.Errorf(coppice.EInvalid, "the project has no agent").WithFix("add one to agent.use or agent.fallback in coppice.yaml").WithField("implementer")
	}
	if s.Implementer == "" {
		best := slices.MaxFunc(free(agents), func(a, b Agent) int { return a.Scores.Implement - b.Scores.Implement }) // the first of equal ones
		s.Implementer = best.Name
	}
	if s.Reviewer == "" {
		s.Reviewer = s.Implementer
		if other := anotherAgent(agents, s.Implementer); other != "" {
			s.Reviewer = other
		}
	}
	for _, c := range []struct{ field, choice string }{{"implementer", s.Implementer}, {"reviewer", s.Reviewer}} {
		if err := coppice.ValidChoice(c.choice); err != nil {
			return coppice.Public(err).WithField(c.field)
		}
		name, _ := coppice.SplitChoice(c.choice)
		if !slices.ContainsFunc(agents, func(a Agent) bool { return a.Name == name }) {
			names := make([]string, len(agents))
			for i, a := range agents {
				names[i] = a.Name
			}
			return coppice.Errorf(coppice.EInvalid, "the project has no agent %s", coppice.Quote(name)).
				WithFix("use one of: %s", strings.Join(names, ", ")).WithField(c.field)
		}
	}
	return nil
}

// anotherAgent returns the best agent that is not the agent of a choice; empty if
// there is none.
func anotherAgent(agents []Agent, choice string) string {
	name, _ := coppice.SplitChoice(choice)
	for _, a := range agents {
		if a.Name != name {
			return a.Name
		}
	}
	return ""
}

// after returns the choice for a step whose phase had a failed step: the other of the
// spec's two, or another agent. It is empty if there is none.
func (s CycleSpec) after(choice string, agents []Agent) string {
	for _, c := range []string{s.Reviewer, s.Implementer} {
		if c != choice {
			return c
		}
	}
	return anotherAgent(agents, choice)
}

// turnsOf returns the turns of the nth repair of a step, or of the step itself if n is
// 0: each repair gets half as many again.
func (l PhaseLimits) turnsOf(n int) int {
	return min(l.Turns*(2+n)/2, coppice.MaxTurns)
}
