package flow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"coppice"
)

// goal is the kind of flow in which a lead hands out work to workers. Their work lands
// on the branch of the flow. When the lead says that the goal is reached, a verifier
// judges the merged work. Then the branch lands, or a further lead gets the findings.
//
// The requests of a lead are open requests of the flow. That for a worker is settled
// when the worker starts. Those about the end stay open until the plan has acted on
// them, and the final message of the lead repeats them.
type goal struct{ workers int } // the default of the spec's field; 0 means defaultWorkers

func init() { kinds[coppice.FlowGoal] = goal{} }

// Goal returns the kind goal with the default of a project for the most open workers.
// 0 means the built-in default.
func Goal(workers int) Kind { return goal{workers} }

// Branch implements Kind.
func (goal) Branch(json.RawMessage) bool { return true }

// GoalSpec is the spec of a goal.
type GoalSpec struct {
	Agents   []string `json:"agents,omitempty" maxItems:"20" doc:"The agents that can be used, each as agent or agent:model; all that the project can use when absent"`
	Lead     string   `json:"lead,omitempty" doc:"The agent that leads, one of agents; the one with the highest scores.lead when absent"`
	Workers  int      `json:"workers,omitempty" minimum:"1" maximum:"20" doc:"The most workers that are open at the same time; goal.workers of coppice.yaml when absent"`
	Rounds   int      `json:"rounds,omitempty" minimum:"1" maximum:"10" doc:"The most rounds of fixes after a verification that failed; 3 when absent"`
	Plan     bool     `json:"plan,omitempty" doc:"The lead first writes a plan, which a person can edit and must approve"`
	Verifier string   `json:"verifier,omitempty" doc:"The agent that verifies the result, one of agents; another agent than the lead when absent, if there is one"`
}

// Limits and defaults of a goal.
const (
	mostAgents     = 20
	defaultWorkers = 4
	mostRounds     = 10
	defaultRounds  = 3
	mostHelpers    = 3 // agents that work for the lead, unless it names one
)

// ReadGoal reads a stored spec.
func ReadGoal(raw json.RawMessage) (GoalSpec, error) { return readSpec(raw, GoalSpec{}) }

// Check implements Kind.
func (k goal) Check(raw json.RawMessage, agents []Agent) (json.RawMessage, error) {
	s, err := ReadGoal(raw)
	if err != nil {
		return nil, err
	}
	if err := s.checkAgents(agents); err != nil {
		return nil, err
	}
	if err := inRange("workers", &s.Workers, 1, coppice.MaxGoalWorkers, cmp.Or(k.workers, defaultWorkers)); err != nil {
		return nil, err
	}
	if err := inRange("rounds", &s.Rounds, 1, mostRounds, defaultRounds); err != nil {
		return nil, err
	}
	if s.Lead == "" {
		s.Lead = s.Agents[0]
	} else if s.Lead, err = s.Pick(s.Lead); err != nil {
		return nil, coppice.Public(err).WithField("lead")
	}
	if s.Verifier == "" {
		s.Verifier = s.Lead
		lead, _ := coppice.SplitChoice(s.Lead)
		if n := slices.IndexFunc(s.Agents, func(c string) bool { a, _ := coppice.SplitChoice(c); return a != lead }); n >= 0 {
			s.Verifier = s.Agents[n]
		}
	} else if s.Verifier, err = s.Pick(s.Verifier); err != nil {
		return nil, coppice.Public(err).WithField("verifier")
	}
	return json.Marshal(s)
}

// checkAgents checks the agents, and sorts them: the best lead first, and those whose
// account is limited last.
func (s *GoalSpec) checkAgents(agents []Agent) error {
	if len(agents) == 0 {
		return coppice.Errorf(coppice.EInvalid, "the project has no agent").WithFix("add one to agent.use or agent.fallback in coppice.yaml").WithField("agents")
	}
	if len(s.Agents) > mostAgents {
		return coppice.Errorf(coppice.EInvalid, "%d agents are named", len(s.Agents)).WithFix("name at most %d", mostAgents).WithField("agents")
	}
	if len(s.Agents) == 0 {
		usable := free(agents)
		for _, name := range []string{s.Lead, s.Verifier} { // a limited one can be named
			n := slices.IndexFunc(agents, func(a Agent) bool { return a.Name == name })
			if n >= 0 && !slices.Contains(usable, agents[n]) {
				usable = append(slices.Clone(usable), agents[n])
			}
		}
		for _, a := range usable[:min(len(usable), mostAgents)] {
			s.Agents = append(s.Agents, a.Name)
		}
	}
	for n, c := range s.Agents {
		name, model := coppice.SplitChoice(c)
		err := knownAgent(name, agents)
		if err == nil && strings.Contains(c, ":") {
			err = coppice.ValidModel(model)
		}
		if err == nil && slices.Contains(s.Agents[:n], c) {
			err = coppice.Errorf(coppice.EInvalid, "%s is named twice", coppice.Quote(c)).WithFix("name each agent once")
		}
		if err != nil {
			return coppice.Public(err).WithField("agents")
		}
	}
	score := func(c string) int {
		name, _ := coppice.SplitChoice(c)
		a := agents[slices.IndexFunc(agents, func(a Agent) bool { return a.Name == name })]
		if a.Limited {
			return -1
		}
		return a.Scores.Lead
	}
	slices.SortStableFunc(s.Agents, func(a, b string) int { return score(b) - score(a) })
	return nil
}

// Pick returns the choice of the spec that a name means: the same choice, or the first
// one of that agent.
func (s GoalSpec) Pick(name string) (string, error) {
	if slices.Contains(s.Agents, name) {
		return name, nil
	}
	for _, c := range s.Agents {
		if agent, _ := coppice.SplitChoice(c); agent == name {
			return c, nil
		}
	}
	return "", coppice.Errorf(coppice.EInvalid, "%s is not one of the agents of this goal", coppice.Quote(name)).WithFix("use one of: %s", strings.Join(s.Agents, ", "))
}

// Worker returns the choice for the worker with a number, from 1, if the lead names
// none. The agents take turns. The lead's own agent works only if there is no other.
func (s GoalSpec) Worker(n int) string {
	others := slices.DeleteFunc(slices.Clone(s.Agents), func(c string) bool { return c == s.Lead })
	if len(others) == 0 {
		return s.Lead
	}
	others = others[:min(len(others), mostHelpers)]
	return others[max(n-1, 0)%len(others)]
}

// Next implements Kind.
func (goal) Next(v View) (Plan, error) {
	spec, err := ReadGoal(v.Spec)
	if err != nil {
		return Plan{}, err
	}
	g := &goalRun{View: v, spec: spec}
	g.sort()
	p, err := g.next()
	if err != nil {
		return Plan{}, err
	}
	p.Settle = append(p.Settle, g.stale(p)...)
	if p.Note == "" {
		p.Note = g.note()
	}
	return p, nil
}

// goalRun is the view of a goal, with its steps by purpose.
type goalRun struct {
	View
	spec    GoalSpec
	plan    *Step // the newest step that writes the plan
	lead    *Step // the newest
	verify  *Step // that of the newest lead, or of the plan
	leads   []*Step
	workers []*Step
	fails   int    // verifications that failed
	checks  int    // verifications
	after   []bool // for each lead: a verification follows it
}

// The keys of steps.
const (
	leadKey   = "lead"
	planKey   = "plan"
	verifyKey = "verify-"
)

// isPlan reports whether a step writes the plan.
func isPlan(key string) bool { return key == planKey || strings.HasPrefix(key, planKey+"-") }

func (g *goalRun) sort() {
	for i := range g.Steps {
		s := &g.Steps[i]
		switch {
		case IsLead(s.Key):
			g.leads, g.after, g.lead, g.verify = append(g.leads, s), append(g.after, false), s, nil
		case IsWorker(s.Key):
			g.workers = append(g.workers, s)
		case isPlan(s.Key):
			g.plan = s
		case strings.HasPrefix(s.Key, verifyKey):
			g.verify = s
			g.checks++
			if v, ok := readGoalVerdict(s); ok && v.Result == goalFail {
				g.fails++
			}
			if len(g.after) > 0 {
				g.after[len(g.after)-1] = true
			}
		}
	}
}

// next returns what follows, from the newest step backwards.
func (g *goalRun) next() (Plan, error) {
	switch {
	case g.WrapUp:
		return g.wrapUp(), nil
	case g.verify != nil:
		return g.judge()
	case g.lead != nil:
		return g.follow()
	case g.spec.Plan:
		return g.planned()
	}
	return g.newLead(leadReason{})
}

// wrapUp ends the flow with what has landed on its branch.
func (g *goalRun) wrapUp() Plan {
	if open := g.open(); len(open) > 0 {
		return Plan{Stop: open, Note: "wraps up; waits until " + plural(len(open), "step") + " stopped"}
	}
	if g.landed() == 0 {
		return Plan{End: &End{Failed: true, Result: "It was wrapped up before any work had landed."}}
	}
	return Plan{End: &End{Land: true, Result: "It was wrapped up with the work of " + plural(g.landed(), "worker") + ".\n\n" + g.workerList(0)}}
}

// open returns the keys of the open steps.
func (g *goalRun) open() (keys []string) {
	for _, s := range g.Steps {
		if s.State == Open {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// count returns how many workers are in a state.
func (g *goalRun) count(state State) (n int) {
	for _, w := range g.workers {
		if w.State == state {
			n++
		}
	}
	return n
}

// landed returns how many steps have work on the branch.
func (g *goalRun) landed() (n int) {
	for _, s := range g.Steps {
		if s.Landed != "" {
			n++
		}
	}
	return n
}

// note says where the flow is.
func (g *goalRun) note() string {
	working := "the plan is carried out"
	switch {
	case g.verify != nil:
		working = "the result is verified"
	case g.lead != nil && g.lead.State == Open:
		working = "lead works"
	case g.lead != nil:
		working = "the lead has ended"
	}
	if g.fails > 0 {
		working += fmt.Sprintf(" (round %d of fixes)", g.fails)
	}
	if len(g.workers) == 0 {
		return working
	}
	return fmt.Sprintf("%s; %d of %s done", working, g.count(Done), plural(len(g.workers), "worker"))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// stopped returns the block for a step that failed or was stopped.
func (g *goalRun) stopped(s *Step, what string) Plan {
	text, class := what+" was stopped", coppice.ClassCancelled
	if s.State == Failed {
		text, class = what+" failed", s.Class
		if line := coppice.FirstLine(strings.TrimPrefix(s.Result, "failed: ")); line != "" {
			text += ": " + line
		}
	}
	return Plan{Block: &Block{
		Class: class, Text: text,
		Fix: fmt.Sprintf("read %s; then run `coppice flow resume %s` to start the step again, or `coppice flow wrap-up %s`", s.Task, g.Key, g.Key),
	}}
}
