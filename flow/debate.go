package flow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"coppice"
)

func init() { kinds[coppice.FlowDebate] = debateKind{} }

// DebateSpec says how two agents debate. The title and the description of the flow are
// the question.
type DebateSpec struct {
	Between      []string         `json:"between,omitempty" minItems:"2" maxItems:"2" doc:"The two sides: each is an agent, or an agent, a colon and a model; the two best agents when absent"`
	Rounds       int              `json:"rounds,omitempty" minimum:"1" maximum:"10" doc:"The most rounds until the sides must agree; 3 when absent"`
	Loops        int              `json:"loops,omitempty" minimum:"1" maximum:"20" doc:"How often the debate runs, each time with the summary of the time before; 1 when absent"`
	Action       string           `json:"action,omitempty" doc:"What one side does after the rounds of each loop; its work lands when the flow ends"`
	ActionBy     string           `json:"action_by,omitempty" doc:"The side that does it; the first one when absent"`
	Verify       bool             `json:"verify,omitempty" doc:"The other side verifies the action"`
	VerifyRounds int              `json:"verify_rounds,omitempty" minimum:"1" maximum:"10" doc:"The most verifications of an action, with a fix between two of them; 3 when absent"`
	Then         *coppice.NewTask `json:"then,omitempty" doc:"A task that starts after the debate, with its summary in the description; cannot be combined with action"`
}

// complete checks a spec and fills in the defaults. In a batch the task that follows is
// the item, so it is not checked here.
func (s *DebateSpec) complete(agents []Agent, inBatch bool) error {
	if len(s.Between) == 0 && len(agents) > 0 {
		s.Between = []string{agents[0].Name, agents[min(1, len(agents)-1)].Name}
	}
	if len(s.Between) != 2 {
		return coppice.Errorf(coppice.EInvalid, "a debate has 2 sides, not %d", len(s.Between)).
			WithFix("name two agents, such as claude and codex, or one agent with two models, such as claude:opus and claude:sonnet").WithField("between")
	}
	for _, choice := range s.Between {
		agent, _ := coppice.SplitChoice(choice)
		if err := cmp.Or(coppice.ValidChoice(choice), knownAgent(agent, agents)); err != nil {
			return coppice.Public(err).WithField("between")
		}
	}
	if err := cmp.Or(inRange("rounds", &s.Rounds, 1, 10, 3), inRange("loops", &s.Loops, 1, 20, 1)); err != nil {
		return err
	}
	if err := s.completeAction(); err != nil || s.Then == nil {
		return err
	}
	if s.Action != "" {
		return coppice.Errorf(coppice.EInvalid, "a debate has an action or a task that follows, not both").WithFix("leave out action or then").WithField("then")
	}
	if inBatch {
		return nil
	}
	if s.Then.Ref != "" {
		return coppice.Errorf(coppice.EInvalid, "a task that follows a debate cannot have a ref").WithFix("leave it out").WithField("then.ref")
	}
	return within("then", checkTask(s.Then, agents, mostQuestion))
}

func (s *DebateSpec) completeAction() error {
	if s.Action == "" {
		field := map[bool]string{true: "verify", false: "action_by"}[s.Verify]
		if s.Verify || s.ActionBy != "" {
			return coppice.Errorf(coppice.EInvalid, "%s needs an action", field).WithFix("add an action, or leave out %s", field).WithField(field)
		}
	} else {
		if err := coppice.ValidText("action", s.Action, coppice.MaxMessage); err != nil {
			return err
		}
		if !coppice.Visible(s.Action) {
			return coppice.Errorf(coppice.EInvalid, "the action is empty").WithFix("say what one side does after the debate, or leave out action").WithField("action")
		}
		s.ActionBy = cmp.Or(s.ActionBy, s.Between[0])
		if !slices.Contains(s.Between, s.ActionBy) {
			return coppice.Errorf(coppice.EInvalid, "%s is not one of the two sides", coppice.Quote(s.ActionBy)).WithFix("use %s or %s", s.Between[0], s.Between[1]).WithField("action_by")
		}
	}
	if s.Verify {
		return inRange("verify_rounds", &s.VerifyRounds, 1, 10, 3)
	}
	if s.VerifyRounds != 0 {
		return coppice.Errorf(coppice.EInvalid, "verify_rounds needs verify").WithFix("set verify, or leave out verify_rounds").WithField("verify_rounds")
	}
	return nil
}

type debateKind struct{}

func (debateKind) Check(raw json.RawMessage, agents []Agent) (json.RawMessage, error) {
	spec, err := readSpec(raw, DebateSpec{})
	if err == nil {
		err = spec.complete(agents, false)
	}
	if err != nil {
		return nil, err
	}
	return coppice.Raw(spec), nil
}

func (debateKind) Branch(raw json.RawMessage) bool {
	var spec DebateSpec
	return json.Unmarshal(raw, &spec) == nil && spec.Action != ""
}

func (debateKind) Next(v View) (Plan, error) {
	d := debate{View: v, name: v.Key}
	if err := json.Unmarshal(v.Spec, &d.spec); err != nil {
		return Plan{}, fmt.Errorf("flow: the spec of %s: %w", v.Key, err)
	}
	p, err := d.follow()
	if err == nil && v.WrapUp && p.End == nil {
		p = d.wrapUp()
	}
	return p, err
}

// summaryDoc is the document with the summary of a flow.
const summaryDoc = "summary"

// What a prompt contains is limited, so that a description stays below coppice.MaxBody.
const (
	mostQuestion = coppice.MaxBody / 2
	mostPosition = 64 << 10
	mostSummary  = 8 << 10
)

// sides are the names of the two sides in step keys.
var sides = [2]string{"a", "b"}

// debate plans one debate. The fields below the blank line belong to the loop that it
// has reached.
type debate struct {
	View
	spec DebateSpec
	name string          // for titles of steps
	base coppice.NewTask // what each step has

	loop    int
	said    []round  // the rounds that are complete
	ended   bool     // no further round follows
	summary string   // of the newest rounds that ended, as people might have changed it
	docs    []NewDoc // the summary, if it is not stored yet
	open    []string // issues of every loop that no verification closed
}

// follow returns what follows, without regard to WrapUp.
func (d *debate) follow() (Plan, error) {
	for d.loop = 1; d.loop <= d.spec.Loops; d.loop++ {
		for _, phase := range []func() (*Plan, error){d.discuss, d.act, d.verify} {
			if p, err := phase(); err != nil || p != nil {
				return valueOf(p), err
			}
		}
	}
	d.loop = d.spec.Loops
	if d.spec.Then != nil {
		return d.then()
	}
	return Plan{Docs: d.docs, End: &End{Land: d.spec.Action != "", Result: d.result()}}, nil
}

func valueOf(p *Plan) Plan {
	if p == nil {
		return Plan{}
	}
	return *p
}

// wrapUp stops the open steps, and then ends with what the debate has reached.
func (d *debate) wrapUp() Plan {
	var stop []string
	landed := false
	for _, s := range d.Steps {
		if s.State == Open {
			stop = append(stop, s.Key)
		}
		landed = landed || s.Landed != ""
	}
	if len(stop) > 0 {
		return Plan{Stop: stop, Note: "wraps up"}
	}
	if !d.ended && len(d.said) > 0 {
		d.store("Wrapped up after " + count(len(d.said), "round"))
	}
	return Plan{Docs: d.docs, End: &End{Land: landed && d.spec.Action != "", Result: cmp.Or(d.result(), "wrapped up before the first round ended")}}
}

// ask is a step that a debate needs.
type ask struct {
	key        string // below the loop
	title      string
	side       int
	prompt     string
	schema     json.RawMessage // if it answers
	about      func(*debateText)
	completion []string
}

// debateText is what the prompts of a debate can contain. Everything that people or
// agents wrote is marked.
type debateText struct {
	Round, Rounds, Loop, Loops            int
	Question, Summary, Own, Other, Action string
	Issues, Response                      string
	Body                                  string // the description of the task that follows
	Commit                                string
}

func (d *debate) key(format string, args ...any) string {
	return fmt.Sprintf("l%d/", d.loop) + fmt.Sprintf(format, args...)
}

// side returns a side as people see it.
func (d *debate) side(n int) string { return sides[n] + ": " + d.spec.Between[n] }

// doer returns the side of the action.
func (d *debate) doer() int { return max(0, slices.Index(d.spec.Between, d.spec.ActionBy)) }

// reach returns the steps if all of them are done. Otherwise it returns the plan: it
// creates those that are missing, waits for the open ones, and blocks if one failed.
func (d *debate) reach(asked ...ask) ([]*Step, *Plan, error) {
	steps := make([]*Step, len(asked))
	p, done := Plan{Note: d.where(asked[0])}, true
	for n, a := range asked {
		s := d.Step(d.key("%s", a.key))
		steps[n] = s
		done = done && s != nil && s.State == Done
		if s != nil && (s.State == Failed || s.State == Cancelled) {
			return nil, d.blocked(s, ""), nil
		}
	}
	for n, a := range asked {
		if steps[n] == nil {
			step, err := d.newStep(a)
			if err != nil {
				return nil, nil, err
			}
			p.Steps, p.Docs = append(p.Steps, step), d.docs
		}
	}
	if !done {
		return nil, &p, nil
	}
	return steps, nil, nil
}

// where says in a line what the debate does.
func (d *debate) where(a ask) string {
	if d.spec.Loops == 1 {
		return a.title
	}
	return fmt.Sprintf("loop %d of %d, %s", d.loop, d.spec.Loops, a.title)
}

func (d *debate) newStep(a ask) (NewStep, error) {
	data := debateText{Rounds: d.spec.Rounds, Loop: d.loop, Loops: d.spec.Loops, Question: marked(clip(d.Title+"\n\n"+d.Body, mostQuestion)), Action: marked(d.spec.Action)}
	step := NewStep{Key: d.key("%s", a.key), Task: d.base}
	if d.summary != "" {
		data.Summary, step.Saw = fence(d.summary), []string{summaryDoc}
	}
	if a.about != nil {
		a.about(&data)
	}
	body, err := d.text(a.prompt, data)
	if err != nil {
		return NewStep{}, err
	}
	t := &step.Task
	t.Title, t.Body, t.Schema, t.Answer = fmt.Sprintf("Debate of %s: %s (%s)", d.name, d.where(a), d.side(a.side)), body, a.schema, a.schema != nil
	t.Completion = a.completion
	t.Agent, t.Model = coppice.SplitChoice(d.spec.Between[a.side])
	return step, nil
}

// blocked says that the debate needs a person because of a step. Why is empty if the
// step itself failed.
func (d *debate) blocked(s *Step, why string) *Plan {
	b := Block{Class: cmp.Or(s.Class, coppice.ClassUnknown), Fix: "fix the cause, then run: coppice flow resume " + d.Key}
	switch {
	case why != "":
		b.Class = coppice.ClassImplementation
	case s.State == Cancelled:
		b.Class, why = coppice.ClassCancelled, "was stopped"
	default:
		why = "failed: " + cmp.Or(coppice.FirstLine(s.Result), b.Class.Words())
	}
	b.Text = fmt.Sprintf("the step %s (%s) %s", s.Key, s.Task, why)
	return &Plan{Block: &b, Note: b.Text}
}

// discuss runs the rounds of the loop.
func (d *debate) discuss() (*Plan, error) {
	d.said, d.ended = nil, false
	for n := range d.spec.Rounds {
		asked := make([]ask, len(sides))
		for side := range sides {
			asked[side] = ask{
				key: fmt.Sprintf("r%d/%s", n, sides[side]), title: fmt.Sprintf("round %d of %d", n+1, d.spec.Rounds), side: side, prompt: "debate-open", schema: statementSchema,
				about: func(t *debateText) {
					if t.Round = n + 1; n > 0 {
						before := d.said[n-1]
						t.Own, t.Other = fence(before[side].String()), fence(before[1-side].String())
					}
				},
			}
			if n > 0 {
				asked[side].prompt = "debate-reply"
			}
		}
		steps, p, err := d.reach(asked...)
		if err != nil || p != nil {
			return p, err
		}
		var r round
		for side, s := range steps {
			if !r[side].read(s.Answer) {
				return d.blocked(s, "has an answer without a valid verdict"), nil
			}
		}
		d.said = append(d.said, r)
		if r.agree() {
			break
		}
	}
	d.conclude()
	return nil, nil
}

// concluded reports whether the debate has a step after the rounds of the loop. Then
// the summary has been stored, and it can be newer than the rounds.
func (d *debate) concluded() bool {
	action, next := d.key("action"), fmt.Sprintf("l%d/", d.loop+1)
	return slices.ContainsFunc(d.Steps, func(s Step) bool {
		return s.Key == action || s.Key == "then" || strings.HasPrefix(s.Key, next)
	})
}

// conclude writes the summary of the loop's rounds.
func (d *debate) conclude() {
	d.docs, d.ended = nil, true
	if stored := d.Docs[summaryDoc]; stored.Version > 0 && d.concluded() {
		d.summary = stored.Text
		return
	}
	d.store(d.headline())
}

// store plans a version of the summary, unless it is the current one.
func (d *debate) store(headline string) {
	d.summary = d.markdown(headline)
	if now := d.Docs[summaryDoc]; now.Text != d.summary {
		d.docs = []NewDoc{{Name: summaryDoc, Text: d.summary, After: now.Version, Step: d.key("r%d/%s", len(d.said)-1, sides[1])}}
	}
}

// act lets one side do the action.
func (d *debate) act() (*Plan, error) {
	if d.spec.Action == "" {
		return nil, nil
	}
	_, p, err := d.reach(ask{key: "action", title: "action", side: d.doer(), prompt: "debate-action"})
	return p, err
}

// verify lets the other side verify the action, until it finds no issue.
func (d *debate) verify() (*Plan, error) {
	if !d.spec.Verify {
		return nil, nil
	}
	work := d.Step(d.key("action"))
	commit, issues, response := work.Landed, "", ""
	for n := 1; ; n++ {
		before := issues
		steps, p, err := d.reach(ask{
			key: fmt.Sprintf("verify/%d", n), title: fmt.Sprintf("verification %d of %d", n, d.spec.VerifyRounds), side: 1 - d.doer(), prompt: "debate-verify", schema: reviewSchema,
			about: func(t *debateText) { t.Commit, t.Issues, t.Response = commit, before, response },
		})
		if err != nil || p != nil {
			return p, err
		}
		var r review
		if !r.read(steps[0].Answer) {
			return d.blocked(steps[0], "has an answer without a valid result"), nil
		}
		if r.Result == noIssues {
			return nil, nil
		}
		if n == d.spec.VerifyRounds {
			d.open = append(d.open, r.Issues...)
			return nil, nil
		}
		issues = fence(clip(list(r.Issues), coppice.MaxMessage/4))
		steps, p, err = d.reach(ask{
			key: fmt.Sprintf("respond/%d", n), title: fmt.Sprintf("response %d", n), side: d.doer(), prompt: "debate-respond",
			about:      func(t *debateText) { t.Commit, t.Issues = commit, issues },
			completion: []string{coppice.CompletionNone},
		})
		if err != nil || p != nil {
			return p, err
		}
		commit, response = cmp.Or(steps[0].Landed, commit), fence(clip(cmp.Or(steps[0].Result, "(no message)"), coppice.MaxMessage/4))
	}
}

// then runs the task that follows.
func (d *debate) then() (Plan, error) {
	s := d.Step("then")
	switch {
	case s == nil:
		task := *d.spec.Then
		body, err := d.text("debate-then", debateText{Body: task.Body, Summary: fence(d.summary)})
		task.Body = body
		return Plan{Steps: []NewStep{{Key: "then", Task: task, Saw: []string{summaryDoc}}}, Docs: d.docs, Note: "the task after the debate"}, err
	case s.State == Open:
		return Plan{Note: "the task after the debate"}, nil
	}
	how := map[State]string{Done: "is done", Failed: "failed", Cancelled: "was stopped"}[s.State]
	result := strings.TrimSuffix(fmt.Sprintf("%s; %s %s: %s", d.headline(), s.Task, how, coppice.FirstLine(s.Result)), ": ")
	return Plan{End: &End{Failed: s.State == Failed || s.State == Cancelled && !d.WrapUp, Result: result}}, nil
}
