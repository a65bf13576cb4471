package flow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"coppice"
)

const (
	// mostContinues is how often leads can continue in a further session, for each
	// time that a person started or resumed the flow.
	mostContinues = 20
	// defaultKeep is how many results of workers a further lead gets in full.
	defaultKeep = 3
	// mostReport limits such a result, in bytes.
	mostReport = 8 << 10
)

// GoalDone has the arguments of the request that says that the goal is reached. The
// text of the request is the summary.
type GoalDone struct {
	Criteria string `json:"criteria,omitempty"` // how to see that it is
}

// asked returns the oldest request of the newest lead with one of the verbs, or nil.
func (g *goalRun) asked(verbs ...coppice.Verb) *coppice.Ask {
	for i, a := range g.Asks {
		if slices.Contains(verbs, a.Verb) && g.leadOf(a) == g.lead {
			return &g.Asks[i]
		}
	}
	return nil
}

// leadOf returns the lead whose session made a request, or nil if it does not count.
func (g *goalRun) leadOf(a coppice.Ask) *Step {
	task := a.By.Name
	if n := strings.LastIndex(task, "."); n >= 0 {
		task = task[:n]
	}
	for _, l := range g.leads {
		if l.Task == task {
			return l
		}
	}
	return nil
}

// follow returns what follows from the newest lead, which no verification follows.
func (g *goalRun) follow() (Plan, error) {
	mark, text := g.outcome()
	if mark == MarkFailed {
		return g.give(text), nil
	}
	if mark == "" && g.lead.State != Open && g.lead.State != Done {
		return g.stopped(g.lead, "the lead"), nil
	}
	p, pending, err := g.spawn()
	if err != nil {
		return p, err
	}
	switch {
	case mark == MarkDone && g.lead.State == Open:
		if g.lead.Waits != "" { // it waits for a person although its work is done
			p.Stop = []string{g.lead.Key}
		}
		return p, nil
	case mark == MarkDone:
		if pending > 0 || len(p.Steps) > 0 || g.count(Open) > 0 {
			return p, nil
		}
		return g.check(text, g.criteria())
	case g.lead.State == Open:
		return p, nil
	}
	next, err := g.further(mark, text)
	next.Steps, next.Settle = append(p.Steps, next.Steps...), append(p.Settle, next.Settle...)
	return next, err
}

// outcome returns how the newest lead ended, as its request or its final message says.
func (g *goalRun) outcome() (Mark, string) {
	if a := g.asked(coppice.VerbGoalDone, coppice.VerbGoalFailed); a != nil {
		if a.Verb == coppice.VerbGoalDone {
			return MarkDone, a.Text
		}
		return MarkFailed, a.Text
	}
	if g.lead.State != Done {
		return "", ""
	}
	return ReadMark(g.lead.Result, MarkDone, MarkFailed, MarkContinues)
}

// criteria returns how to see that the goal is reached, as the lead says.
func (g *goalRun) criteria() string {
	var d GoalDone
	if a := g.asked(coppice.VerbGoalDone); a != nil && len(a.Args) > 0 {
		_ = json.Unmarshal(a.Args, &d) // without criteria, the goal itself is compared
	}
	return d.Criteria
}

// give ends a goal that its lead cannot reach, when all its steps have ended.
func (g *goalRun) give(reason string) Plan {
	var stop []string
	for _, s := range g.Steps {
		if s.State == Open && (IsWorker(s.Key) || s.Waits != "") {
			stop = append(stop, s.Key)
		}
	}
	if len(g.open()) > 0 {
		return Plan{Stop: stop, Note: "the lead gives up; waits until its steps have stopped"}
	}
	return Plan{End: &End{Failed: true, Result: cmp.Or(strings.TrimSpace(reason), "The lead could not reach the goal.")}}
}

// further creates the next lead after one whose session ended before the goal was
// reached.
func (g *goalRun) further(mark Mark, text string) (Plan, error) {
	again := 0
	for n := len(g.leads) - 1; n >= 0 && !g.after[n]; n-- {
		if m, _ := ReadMark(g.leads[n].Result, MarkDone, MarkFailed, MarkContinues); m != mark {
			break
		}
		again++
	}
	if mark == MarkContinues {
		if again > mostContinues*(1+g.Resumes) {
			return g.blocked(coppice.ClassContext, fmt.Sprintf("the lead has continued in %d further sessions", again)), nil
		}
		keep, err := strconv.Atoi(coppice.FirstLine(text))
		if err != nil || keep < 0 {
			keep = defaultKeep
		}
		return g.newLead(leadReason{keep: keep})
	}
	if again > 1+g.Resumes {
		return g.blocked(coppice.ClassImplementation, "the lead has ended twice without saying whether the goal is reached"), nil
	}
	return g.newLead(leadReason{missing: true, keep: defaultKeep})
}

func (g *goalRun) blocked(class coppice.Class, text string) Plan {
	return Plan{Block: &Block{
		Class: class, Text: text,
		Fix: fmt.Sprintf("run `coppice flow resume %s` for another try, or `coppice flow wrap-up %s` to land what the workers have done", g.Key, g.Key),
	}}
}

// spawn starts the workers that leads have requested, up to the limit. pending is how
// many have to wait.
func (g *goalRun) spawn() (p Plan, pending int, err error) {
	open := g.count(Open)
	for _, a := range g.Asks {
		lead := g.leadOf(a)
		if a.Verb != coppice.VerbSpawn || lead == nil {
			continue
		}
		var s Spawn
		if err := json.Unmarshal(a.Args, &s); err != nil || workerNumber(s.Key) == 0 || s.Check() != nil {
			p.Settle = append(p.Settle, Settled{a.ID, "is not a valid request"})
			continue
		}
		if g.Step(s.Key) != nil || slices.ContainsFunc(p.Steps, func(n NewStep) bool { return n.Key == s.Key }) {
			p.Settle = append(p.Settle, Settled{a.ID, "had started"})
			continue
		}
		if open >= g.spec.Workers {
			pending++
			continue
		}
		step, err := g.worker(s, lead.Key)
		if err != nil {
			return p, 0, err
		}
		open++
		p.Steps, p.Settle = append(p.Steps, step), append(p.Settle, Settled{a.ID, "started"})
	}
	return p, pending, nil
}

// stale settles the requests that a plan does not act on: those of leads that no longer
// count or are not the newest, and all if the flow ends.
func (g *goalRun) stale(p Plan) (list []Settled) {
	for _, a := range g.Asks {
		lead := g.leadOf(a)
		ends := p.End != nil || slices.ContainsFunc(p.Steps, func(n NewStep) bool { return IsLead(n.Key) })
		switch old := lead == nil || lead != g.lead || ends; {
		case slices.ContainsFunc(p.Settle, func(s Settled) bool { return s.ID == a.ID }):
		case a.Verb == coppice.VerbSpawn && (lead == nil || p.End != nil):
			list = append(list, Settled{a.ID, "its lead has ended"})
		case (a.Verb == coppice.VerbGoalDone || a.Verb == coppice.VerbGoalFailed) && old:
			list = append(list, Settled{a.ID, "was taken into account"})
		}
	}
	return list
}

// workerFields are the fields of the texts of perspectives.
type workerFields struct {
	Key, Worker           string
	Title                 string // of the goal
	Task                  string
	Scope                 []string
	Criteria, Context     string
	Done, Blocked, Failed Mark
}

// worker returns the step of a worker.
func (g *goalRun) worker(s Spawn, below string) (NewStep, error) {
	p := perspective(s.Perspective)
	text, err := g.text("perspective-"+p.Name, workerFields{
		Key: g.Key, Worker: s.Key, Title: g.Title, Task: s.Task, Scope: s.Scope, Criteria: s.Criteria, Context: s.Context,
		Done: MarkWorker, Blocked: MarkBlocked, Failed: MarkBroken,
	})
	if err != nil {
		return NewStep{}, err
	}
	task := coppice.NewTask{Title: clip(strings.ToUpper(p.Name[:1])+p.Name[1:]+": "+coppice.TitleOf(s.Task), coppice.MaxTitle), Body: text, Answer: !p.Changes}
	if p.Changes { // the lead decides about one that changes nothing, and says why
		task.Completion = []string{coppice.CompletionNone}
	}
	task.Agent, task.Model = coppice.SplitChoice(s.Agent)
	return NewStep{Key: s.Key, Task: task, Below: below}, nil
}

// leadReason says why a lead starts.
type leadReason struct {
	findings string // of the verification that failed
	missing  bool   // the lead before ended without a result
	keep     int    // how many results of workers it gets in full
}

// ruleFields are the fields of the text of the project's rules for leads.
type ruleFields struct{ Key, Title, Body string }

// leadFields are the fields of the text of the lead's prompt.
type leadFields struct {
	Key, Title, Body string
	Rules            string // of the project, for leads
	Perspectives     []Perspective
	Agents           []string
	Workers, Rounds  int
	Round            int    // of fixes; 0 at the start
	Findings         string // fenced
	Missing          bool
	State            string // what the workers did, fenced
	Plan             string // fenced
	Done, Failed     Mark
}

// newLead creates the next lead.
func (g *goalRun) newLead(why leadReason) (Plan, error) {
	rules, err := g.text("goal-rules", ruleFields{g.Key, g.Title, g.Body})
	if err != nil {
		return Plan{}, err
	}
	f := leadFields{
		Key: g.Key, Title: g.Title, Body: g.Body, Rules: rules, Perspectives: Perspectives, Workers: g.spec.Workers, Rounds: g.spec.Rounds, Round: g.fails,
		Missing: why.missing, Done: MarkDone, Failed: MarkFailed,
	}
	for _, c := range g.spec.Agents {
		f.Agents = append(f.Agents, g.describe(c))
	}
	if why.findings != "" {
		f.Findings = fence(why.findings)
	}
	if len(g.workers) > 0 {
		f.State = fence(g.workerList(why.keep))
	}
	if d, ok := g.Docs[goalPlanDoc]; ok {
		f.Plan = fence(d.Text)
	}
	text, err := g.text("goal-lead", f)
	if err != nil {
		return Plan{}, err
	}
	key := leadKey
	for n := 2; g.Step(key) != nil; n++ {
		key = fmt.Sprintf("%s-%d", leadKey, n)
	}
	p := Plan{Steps: []NewStep{g.answer(key, "Lead: ", text, g.spec.Lead, nil)}}
	if p.Note = "lead works"; g.fails > 0 {
		p.Note = fmt.Sprintf("lead works on round %d of fixes", g.fails)
	}
	return p, nil
}

// describe returns a choice of agent with what is known about it.
func (g *goalRun) describe(choice string) string {
	name, _ := coppice.SplitChoice(choice)
	for _, a := range g.Agents {
		if a.Name == name && (a.Scores.Lead > 0 || a.Scores.Implement > 0) {
			return fmt.Sprintf("%s (lead %d, implement %d)", choice, a.Scores.Lead, a.Scores.Implement)
		}
	}
	return choice
}

// answer returns a step that answers at the tip of the flow's branch.
func (g *goalRun) answer(key, title, text, choice string, schema json.RawMessage) NewStep {
	task := coppice.NewTask{Title: clip(title+g.Title, coppice.MaxTitle), Body: text, Answer: true, Schema: schema}
	task.Agent, task.Model = coppice.SplitChoice(choice)
	s := NewStep{Key: key, Task: task}
	if _, ok := g.Docs[goalPlanDoc]; ok && !strings.HasPrefix(key, planKey) {
		s.Saw = []string{goalPlanDoc}
	}
	return s
}

// workerList says what the workers did: the last keep of those that ended in full, and
// the others in a line.
func (g *goalRun) workerList(keep int) string {
	var b strings.Builder
	ended := len(g.workers) - g.count(Open)
	for _, w := range g.workers {
		fmt.Fprintf(&b, "- %s (task %s, agent %s): %s", w.Key, w.Task, w.Agent, w.State)
		if w.Landed != "" {
			fmt.Fprintf(&b, ", landed as %.10s", w.Landed)
		}
		if w.State != Open {
			ended--
		}
		switch {
		case w.State == Open && w.Waits != "":
			b.WriteString(", waits: " + coppice.FirstLine(w.Waits))
		case w.State != Open && ended < keep && w.Result != "":
			b.WriteString("\n" + indented(clip(strings.TrimSpace(coppice.Printable(w.Result)), mostReport)))
		case w.State != Open && w.Result != "":
			b.WriteString(": " + coppice.FirstLine(w.Result))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func indented(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }
