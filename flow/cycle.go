package flow

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"coppice"
)

// cycle is the kind of flow that assesses, and then reviews and implements until
// enough milestones of its plan are done. One step runs at a time, so the last step
// says where the flow is.
//
// Only a review checks milestones off. The plan is a document, not a file of the
// repository, so the agent that implements cannot complete its own work.
type cycle struct{}

func init() { kinds[coppice.FlowCycle] = cycle{} }

// Branch implements Kind.
func (cycle) Branch(json.RawMessage) bool { return true }

// The documents of a cycle. Each done step has a worklog as well.
const (
	planDoc     = "plan"
	contractDoc = "contract"
	worklogs    = "worklog/"
)

// Bounds of a cycle.
const (
	mostMilestones = 60
	wideScope      = 22     // milestones; above it, a review gets a warning
	mostContext    = 50_000 // bytes of plan, contract and worklogs in a prompt
	mostPlan       = 40_000 // bytes of plan and contract that a step can write
	mostRepairs    = 2      // of each phase and cycle
	mostReruns     = 3      // of each phase and cycle, after edits by a person
	mostIdle       = 2      // cycles in a row without progress
	meanCycles     = 3      // cycles over which the mean progress is taken
	leastMean      = 0.3    // milestones of a cycle
)

// The phases of a cycle.
const (
	phaseAssess    = "assess"
	phaseReview    = "review"
	phaseImplement = "implement"
	phaseVerify    = "verify"
	phaseFix       = "fix"
)

// phase says how the steps of a phase are made, and what follows one that is done.
type phase struct {
	doing    string // in the flow's note
	title    string // of a step, before the flow's
	prompt   string
	reviewer bool            // the reviewer does it; otherwise the implementer
	schema   json.RawMessage // of its answer; empty if it changes files
	limits   func(CycleLimits) PhaseLimits
	done     func(*cycleRun) (Plan, error)
}

// phases is filled in by init, because what follows a phase depends on the others.
var phases map[string]phase

func init() {
	phases = map[string]phase{
		phaseAssess: {"assessing", "Plan", "cycle-assess", false, assessSchema,
			func(l CycleLimits) PhaseLimits { return l.Assess }, (*cycleRun).afterPlan},
		phaseReview: {"reviewing", "Review", "cycle-review", true, cycleReviewSchema,
			func(l CycleLimits) PhaseLimits { return l.Review }, (*cycleRun).afterPlan},
		phaseImplement: {"implementing", "Implement", "cycle-implement", false, nil,
			func(l CycleLimits) PhaseLimits { return l.Implement }, (*cycleRun).afterImplement},
		phaseVerify: {"verifying", "Verify", "cycle-verify", true, verifySchema,
			func(l CycleLimits) PhaseLimits { return l.Verify }, (*cycleRun).afterVerify},
		phaseFix: {"fixing what the verification found", "Fix", "cycle-implement", false, nil,
			func(l CycleLimits) PhaseLimits { return l.Implement }, (*cycleRun).afterFix},
	}
}

// place is where a step is in a cycle. All steps at a place do the same work: the
// first one, its repairs, and the ones that replace a failed or outdated one.
type place struct {
	cycle int // from 1; 0 for the assessment
	phase string
	n     int // which verification or fix, from 1; otherwise 0
}

// key returns the key of the first step at a place.
func (p place) key() string {
	switch {
	case p.cycle == 0:
		return p.phase
	case p.n > 0:
		return fmt.Sprintf("c%d/%s-%d", p.cycle, p.phase, p.n)
	}
	return fmt.Sprintf("c%d/%s", p.cycle, p.phase)
}

// worklog returns the name of the document that has the result of a place.
func (p place) worklog() string {
	if p.cycle == 0 {
		return worklogs + p.key()
	}
	return worklogs + "cycle-" + strings.ReplaceAll(strings.TrimPrefix(p.key(), "c"), "/", "-")
}

var keyRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(assess)|c([0-9]{1,9})/(?:(review|implement)|(verify|fix)-([0-9]{1,9})))(?:-[0-9]+|/(repair)-[0-9]+)?$`)
})

// placeOf returns the place of a step, and whether it repairs an answer.
func placeOf(key string) (p place, repair, ok bool) {
	m := keyRE().FindStringSubmatch(key)
	if m == nil {
		return place{}, false, false
	}
	p.phase = m[1] + m[3] + m[4]
	p.cycle, _ = strconv.Atoi(m[2])
	p.n, _ = strconv.Atoi(m[5])
	return p, m[6] != "", true
}

// cycleRun is a cycle at one moment.
type cycleRun struct {
	View
	spec       CycleSpec
	at         place // of the last step
	last       *Step // nil if there is none
	places     map[place][]*Step
	plan       coppice.Document // the newest version; its zero value if there is none
	milestones Milestones       // of that version
}

// Next implements Kind.
func (cycle) Next(v View) (Plan, error) {
	spec, err := readCycle(v.Spec)
	if err != nil {
		return Plan{}, err
	}
	r := &cycleRun{View: v, spec: spec, places: map[place][]*Step{}, plan: v.Docs[planDoc]}
	r.milestones = ReadMilestones(r.plan.Text)
	for i := range v.Steps {
		if at, _, ok := placeOf(v.Steps[i].Key); ok {
			r.at, r.last = at, &v.Steps[i]
			r.places[at] = append(r.places[at], r.last)
		}
	}
	p, err := r.next()
	if err != nil {
		return Plan{}, err
	}
	if p.Note == "" {
		p.Note = r.note(r.at, p)
	}
	return p, nil
}

func (r *cycleRun) next() (Plan, error) {
	var open []string
	for _, s := range r.Steps {
		if s.State == Open {
			open = append(open, s.Key)
		}
	}
	switch {
	case r.WrapUp:
		return r.wrapUp(open), nil
	case len(open) > 0:
		return Plan{}, nil
	case r.last == nil:
		return r.start(place{phase: phaseAssess})
	case r.last.State == Failed:
		return r.afterFailure()
	case r.last.State == Cancelled:
		return r.block(coppice.ClassCancelled, fmt.Sprintf("the step %s was stopped", r.last.Key), r.resume()), nil
	}
	return phases[r.at.phase].done(r)
}

// wrapUp stops the open steps, and lands what is on the branch.
func (r *cycleRun) wrapUp(open []string) Plan {
	result := fmt.Sprintf("wrapped up by a person with %s", r.progress())
	switch {
	case len(open) > 0:
		return Plan{Stop: open, Note: "wrapping up: " + strings.Join(open, ", ") + " stops"}
	case !r.landed():
		return Plan{End: &End{Failed: true, Result: result + ": no step has landed work"}}
	}
	return Plan{End: &End{Land: true, Result: result}}
}

// afterFailure tries a failed step one more time, with the other agent.
func (r *cycleRun) afterFailure() (Plan, error) {
	failed := 0
	for _, s := range r.places[r.at] {
		if s.State == Failed {
			failed++
		}
	}
	other := r.spec.after(r.first(r.at), r.Agents)
	if failed > 1 || other == "" || sameForAll[r.last.Class] {
		text := fmt.Sprintf("the step %s failed", r.last.Key)
		if why := coppice.FirstLine(r.last.Result); why != "" {
			text += ": " + why
		}
		return r.block(r.last.Class, text, "fix the cause, then "+r.resume()), nil
	}
	return r.attempt(r.at)
}

// sameForAll has the classes of failures that another agent would meet as well.
var sameForAll = map[coppice.Class]bool{
	coppice.ClassBudget: true, coppice.ClassDayBudget: true, coppice.ClassDisk: true, coppice.ClassEnvironment: true, coppice.ClassBase: true,
	coppice.ClassCancelled: true,
}

// afterPlan stores the plan of an assessment or a review, and continues from it.
func (r *cycleRun) afterPlan() (Plan, error) {
	saw := r.last.Saw[planDoc]
	stored := r.plan.Version > saw && r.plan.Step == r.last.Key
	edited := !stored && r.plan.Version != saw
	// The plan that a person writes during the assessment stays, and the assessment adds
	// only the contract.
	replaced := edited && r.at.phase == phaseAssess && countProblem(r.milestones) == ""
	if edited && !replaced {
		return r.afterEdit()
	}
	a, problem := r.readPlan(stored || replaced)
	if problem != "" {
		return r.repair(problem)
	}
	var docs []NewDoc
	if !stored && !replaced {
		// A review without a change is a version too: it marks what the step saw.
		docs = append(docs, NewDoc{planDoc, a.Plan, saw, r.last.Key})
	}
	if contract := r.Docs[contractDoc]; a.Contract != "" && r.at.phase == phaseAssess && contract.Version == r.last.Saw[contractDoc] {
		docs = append(docs, NewDoc{contractDoc, a.Contract, contract.Version, r.last.Key})
	}
	if docs = append(docs, r.worklog(a.log())...); len(docs) > 0 {
		return Plan{Docs: docs}, nil
	}
	if r.at.phase == phaseAssess {
		return r.start(place{cycle: 1, phase: phaseReview})
	}
	return r.afterReview(a)
}

// afterEdit runs a step again whose plan a person changed while it ran. The person's
// text stays.
func (r *cycleRun) afterEdit() (Plan, error) {
	steps, reruns := r.places[r.at], 0
	for i, s := range steps[1:] {
		if _, repair, _ := placeOf(s.Key); !repair && steps[i].State == Done {
			reruns++
		}
	}
	if reruns >= mostReruns {
		return r.block(coppice.ClassLimit, fmt.Sprintf("the plan was changed during each of %d runs of %s", reruns+1, r.at.key()), r.resume()), nil
	}
	if problem := countProblem(r.milestones); problem != "" && r.at.phase == phaseReview {
		return r.badPlan(problem), nil
	}
	return r.attempt(r.at)
}

func (r *cycleRun) afterReview(a planAnswer) (Plan, error) {
	n := r.at.cycle
	switch why := r.stalled(); {
	case r.milestones.reached(r.spec.Threshold) && r.spec.Verify != "":
		return r.start(place{n, phaseVerify, 1})
	case r.milestones.reached(r.spec.Threshold):
		return r.complete(), nil
	case a.Blocked != "":
		return r.block(coppice.ClassImplementation, "the review cannot continue: "+coppice.FirstLine(a.Blocked), "fix the cause or change the plan, then "+r.resume()), nil
	case n > r.spec.Cycles:
		return r.block(coppice.ClassLimit, fmt.Sprintf("all %d cycles are used, with %s", r.spec.Cycles, r.progress()),
			fmt.Sprintf("to land what is done, run: coppice flow wrap-up %s; to continue, run: coppice flow resume %s --from review", r.Key, r.Key)), nil
	case why != "":
		return r.block(coppice.ClassImplementation, why+", with "+r.progress(),
			fmt.Sprintf("change the plan, then run: coppice flow resume %s --from review; to land what is done, run: coppice flow wrap-up %s", r.Key, r.Key)), nil
	}
	return r.start(place{cycle: n, phase: phaseImplement})
}

func (r *cycleRun) afterImplement() (Plan, error) {
	return r.log(r.last.Result, place{cycle: r.at.cycle + 1, phase: phaseReview})
}

func (r *cycleRun) afterFix() (Plan, error) {
	return r.log(r.last.Result, place{r.at.cycle, phaseVerify, r.at.n + 1})
}

func (r *cycleRun) afterVerify() (Plan, error) {
	a, problem := readVerdict(r.last.Answer)
	if problem != "" {
		return r.repair(problem)
	}
	if docs := r.worklog(a.log()); len(docs) > 0 {
		return Plan{Docs: docs}, nil
	}
	switch {
	case a.Result == pass && r.milestones.reached(r.spec.Threshold):
		return r.complete(), nil
	case a.Result == pass: // a person changed the plan
		return r.start(place{cycle: r.at.cycle + 1, phase: phaseReview})
	case r.at.n > r.spec.VerifyTries:
		return r.block(coppice.ClassVerification, fmt.Sprintf("the result was not verified after %d fixes: %s", r.spec.VerifyTries, coppice.FirstLine(a.Findings)),
			fmt.Sprintf("to review and fix it again, run: coppice flow resume %s --from review; to land it as it is, run: coppice flow wrap-up %s", r.Key, r.Key)), nil
	}
	return r.start(place{r.at.cycle, phaseFix, r.at.n})
}

// complete ends the flow. There is nothing to land if everything was done before.
func (r *cycleRun) complete() Plan {
	result := r.progress()
	if r.at.phase == phaseVerify {
		result += ", and the result is verified"
	}
	return Plan{End: &End{Land: r.landed(), Result: result}}
}

func (r *cycleRun) block(class coppice.Class, text, fix string) Plan {
	if class == "" {
		class = coppice.ClassUnknown
	}
	return Plan{Block: &Block{Class: class, Text: text, Fix: fix}}
}

// badPlan blocks because of a plan that only a person can have written.
func (r *cycleRun) badPlan(problem string) Plan {
	return r.block(coppice.ClassImplementation, "the plan cannot be used: "+problem, "change the plan, then "+r.resume())
}

func (r *cycleRun) resume() string {
	fix := fmt.Sprintf("run: coppice flow resume %s --from %s", r.Key, r.at.phase)
	if r.at.cycle > 0 {
		fix += fmt.Sprintf(" --cycle %d", r.at.cycle)
	}
	return fix
}
