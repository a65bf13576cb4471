package flow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"coppice"
)

// The schemas of the answers.
var (
	assessSchema = json.RawMessage(`{"type": "object", "required": ["plan", "contract"], "properties": {
  "plan": {"type": "string", "description": "The whole plan in Markdown, with one line \"- [ ] milestone\" for each milestone"},
  "contract": {"type": "string", "description": "What must be true at the end, in Markdown"},
  "notes": {"type": "string", "description": "What the next sessions should know"}}}`)
	cycleReviewSchema = json.RawMessage(`{"type": "object", "required": ["plan", "feedback"], "properties": {
  "plan": {"type": "string", "description": "The whole plan in Markdown, in which exactly the milestones are checked that are done in the code"},
  "feedback": {"type": "string", "description": "What to fix or do first"},
  "blocked": {"type": "string", "description": "Why no agent can continue without a person. Leave it out otherwise."}}}`)
	verifySchema = json.RawMessage(`{"type": "object", "required": ["result", "findings"], "properties": {
  "result": {"type": "string", "enum": ["pass", "fail"]},
  "findings": {"type": "string", "description": "What you tried, what happened, and what to fix"}}}`)
)

// planAnswer is the answer of an assessment or a review.
type planAnswer struct {
	Plan, Contract, Notes, Feedback, Blocked string
}

// readPlan reads the answer of the last step. Problem says why it cannot be used. It
// does not check a plan that is stored already, or is not stored.
func (r *cycleRun) readPlan(unchecked bool) (a planAnswer, problem string) {
	if err := json.Unmarshal(r.last.Answer, &a); err != nil {
		return a, "the answer is not a JSON object with a plan"
	}
	for _, s := range []*string{&a.Plan, &a.Contract, &a.Notes, &a.Feedback, &a.Blocked} {
		*s = strings.TrimSpace(coppice.Printable(*s))
	}
	if strings.EqualFold(strings.Trim(a.Blocked, "."), "none") {
		a.Blocked = ""
	}
	if unchecked {
		return a, ""
	}
	milestones := ReadMilestones(a.Plan)
	most := mostPlan
	if r.at.phase == phaseReview {
		most = max(most, len(r.plan.Text)+len(r.milestones)) // a person can write more
		if gone := r.milestones.missing(milestones); len(gone) > 0 {
			return a, fmt.Sprintf("the plan has lost %d of its %d milestones, and a review cannot remove or rephrase one: %s",
				len(gone), len(r.milestones), coppice.Quote(strings.Join(gone, "; ")))
		}
	} else if !coppice.Visible(a.Contract) {
		return a, "the contract is empty"
	}
	if problem := countProblem(milestones); problem != "" {
		return a, problem
	}
	if size := len(a.Plan) + len(a.Contract); size > most {
		return a, fmt.Sprintf("the plan has %d bytes, %d are allowed", size, most)
	}
	return a, ""
}

// countProblem says what is wrong with the number of milestones.
func countProblem(m Milestones) string {
	switch {
	case len(m) == 0:
		return `the plan has no milestone, which is a line such as "- [ ] the tests pass"`
	case len(m) > mostMilestones:
		return fmt.Sprintf("the plan has %d milestones, %d are allowed", len(m), mostMilestones)
	}
	return ""
}

// log returns what the worklog says about an answer.
func (a planAnswer) log() string {
	if a.Blocked != "" {
		return a.Feedback + "\n\nBlocked: " + a.Blocked
	}
	return a.Feedback + a.Notes // an answer has one of them
}

// doneIn returns how many milestones are done after a review.
func doneIn(review *Step) int {
	var a planAnswer
	if json.Unmarshal(review.Answer, &a) != nil {
		return 0
	}
	return ReadMilestones(a.Plan).Done()
}

const pass = "pass"

type verdict struct {
	Result, Findings string
}

func readVerdict(raw json.RawMessage) (a verdict, problem string) {
	if err := json.Unmarshal(raw, &a); err != nil || a.Result != pass && a.Result != "fail" {
		return a, `the result is neither "pass" nor "fail"`
	}
	if a.Result != pass && !coppice.Visible(a.Findings) {
		return a, "the result is fail, without findings"
	}
	return a, ""
}

func (a verdict) log() string { return "Result: " + a.Result + "\n\n" + a.Findings }

// commitLine starts the worklog of a step that landed.
const commitLine = "Commit: "

// worklog returns the document with the result of the last step, unless it is stored.
// A person's change of it stays.
func (r *cycleRun) worklog(text string) []NewDoc {
	if text = strings.TrimSpace(coppice.Printable(text)); text == "" {
		text = "The step ended without a message."
	}
	if r.last.Landed != "" {
		text = commitLine + r.last.Landed + "\n\n" + text
	}
	text = shorten(text, coppice.MaxDocument)
	name := r.at.worklog()
	old, exists := r.Docs[name]
	if by, _, _ := placeOf(old.Step); exists && (by != r.at || old.Text == text) || !exists && len(r.Docs) >= coppice.MaxDocuments {
		return nil
	}
	return []NewDoc{{name, text, old.Version, r.last.Key}}
}

// log stores the worklog of the last step, and then starts the next one.
func (r *cycleRun) log(text string, next place) (Plan, error) {
	if docs := r.worklog(text); len(docs) > 0 {
		return Plan{Docs: docs}, nil
	}
	return r.start(next)
}

// start creates the first step at a place.
func (r *cycleRun) start(at place) (Plan, error) {
	if problem := countProblem(r.milestones); problem != "" && at.phase == phaseReview {
		return r.badPlan(problem), nil
	}
	return r.attempt(at)
}

// attempt creates the next step at a place that does its whole work.
func (r *cycleRun) attempt(at place) (Plan, error) {
	text, err := r.prompt(at)
	if err != nil {
		return Plan{}, err
	}
	n := 1
	for _, s := range r.places[at] {
		if _, repair, _ := placeOf(s.Key); !repair {
			n++
		}
	}
	key := at.key()
	if n > 1 {
		key += fmt.Sprintf("-%d", n)
	}
	return r.step(at, key, text, 0), nil
}

// repairFields are the fields of the text of a repair's prompt.
type repairFields struct{ Task, Problem, Answer string }

// repair creates a step that answers again after an answer that cannot be used.
func (r *cycleRun) repair(problem string) (Plan, error) {
	n := 1
	for _, s := range r.places[r.at] {
		if _, repair, _ := placeOf(s.Key); repair {
			n++
		}
	}
	if n > mostRepairs {
		return r.block(coppice.ClassImplementation, fmt.Sprintf("the answer of %s cannot be used after %d repairs: %s", r.at.key(), mostRepairs, problem), r.resume()), nil
	}
	task, err := r.prompt(r.at)
	if err != nil {
		return Plan{}, err
	}
	text, err := r.text("cycle-repair", repairFields{
		task, problem, labelled("The earlier answer", shorten(cmp.Or(string(r.last.Answer), r.last.Result), coppice.MaxAnswer)),
	})
	if err != nil {
		return Plan{}, err
	}
	return r.step(r.at, fmt.Sprintf("%s/repair-%d", r.at.key(), n), text, n), nil
}

// first returns the choice of agent for the first step at a place.
func (r *cycleRun) first(at place) string {
	if phases[at.phase].reviewer {
		return r.spec.Reviewer
	}
	return r.spec.Implementer
}

func (r *cycleRun) step(at place, key, text string, repair int) Plan {
	ph := phases[at.phase]
	choice := r.first(at)
	if slices.ContainsFunc(r.places[at], func(s *Step) bool { return s.State == Failed }) {
		choice = cmp.Or(r.spec.after(choice, r.Agents), choice)
	}
	title := ph.title
	if at.cycle > 0 {
		title += fmt.Sprintf(" (cycle %d)", at.cycle)
	}
	limits := ph.limits(r.spec.Limits)
	task := coppice.NewTask{
		Title: shorten(title+": "+r.Title, coppice.MaxTitle), Body: text,
		Turns: limits.turnsOf(repair), Time: limits.Time, Budget: limits.Budget, UntilDone: limits.UntilDone,
		Answer: len(ph.schema) > 0, Schema: ph.schema,
	}
	if !task.Answer { // the reviews see what is missing
		task.Completion = []string{coppice.CompletionNone}
	}
	task.Agent, task.Model = coppice.SplitChoice(choice)
	var saw []string
	for _, name := range []string{planDoc, contractDoc} {
		if _, exists := r.Docs[name]; exists {
			saw = append(saw, name)
		}
	}
	p := Plan{Steps: []NewStep{{Key: key, Task: task, Saw: saw}}}
	p.Note = r.note(at, p)
	return p
}

// cycleFields are the fields of the texts of a cycle's prompts. Texts that agents
// wrote are fenced as data.
type cycleFields struct {
	Key, Title, Body string
	Plan, Contract   string
	Worklogs         string
	Cycle, Cycles    int
	Closing          bool // no cycle follows the review
	Milestones, Done int
	Wide             bool // the plan has many milestones
	Unchecked        []string
	Feedback         string // of the review
	Findings         string // of the verification
	Verify           string
	Failure          string // of an earlier step that did the same
}

// prompt writes the description of a step.
func (r *cycleRun) prompt(at place) (string, error) {
	contract := r.Docs[contractDoc].Text
	f := cycleFields{
		Key: r.Key, Title: r.Title, Body: shorten(r.Body, coppice.MaxBody/2), Verify: r.spec.Verify,
		Cycle: at.cycle, Cycles: r.spec.Cycles, Closing: at.cycle > r.spec.Cycles,
		Milestones: len(r.milestones), Done: r.milestones.Done(), Wide: len(r.milestones) > wideScope, Unchecked: r.milestones.Unchecked(),
		Worklogs: r.recent(mostContext - len(r.plan.Text) - len(contract)),
	}
	if r.plan.Text != "" {
		f.Plan = labelled("The plan", r.plan.Text)
	}
	if contract != "" {
		f.Contract = labelled("The contract", contract)
	}
	if steps := r.places[at]; len(steps) > 0 && steps[len(steps)-1].State == Failed {
		f.Failure = labelled("Why it failed", shorten(steps[len(steps)-1].Result, mostContext))
	}
	switch at.phase {
	case phaseImplement:
		if steps := r.places[place{cycle: at.cycle, phase: phaseReview}]; len(steps) > 0 {
			var a planAnswer
			if json.Unmarshal(steps[len(steps)-1].Answer, &a) == nil && a.Feedback != "" {
				f.Feedback = labelled("The review", coppice.Printable(a.Feedback))
			}
		}
	case phaseFix:
		if steps := r.places[place{at.cycle, phaseVerify, at.n}]; len(steps) > 0 {
			a, _ := readVerdict(steps[len(steps)-1].Answer)
			f.Findings = labelled("The findings", coppice.Printable(a.Findings))
		}
	}
	return r.text(phases[at.phase].prompt, f)
}

// recent returns the newest worklogs, fenced, up to a number of bytes.
func (r *cycleRun) recent(most int) string {
	var docs []coppice.Document
	for name, d := range r.Docs {
		if strings.HasPrefix(name, worklogs) {
			docs = append(docs, d)
		}
	}
	slices.SortFunc(docs, func(a, b coppice.Document) int { return cmp.Or(cmp.Compare(b.ID, a.ID), cmp.Compare(a.Name, b.Name)) })
	var all strings.Builder
	for _, d := range docs {
		const marks = 200 // bytes of the name and the marks
		left := most - all.Len() - marks
		if left < marks {
			break
		}
		all.WriteString(labelled(d.Name, shorten(d.Text, left)))
	}
	return all.String()
}
