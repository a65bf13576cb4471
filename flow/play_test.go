package flow

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"coppice"
)

// tb is what a player needs of a test: both *testing.T and *rapid.T have it.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

// player carries out the plans of a flow as the engine does. It fails the test if a
// plan breaks a rule of the contract:
//
//   - the plan for the same view is equal, and the view stays as it is
//   - no step key is created twice, and a new task is valid
//   - a document follows its current version and is not too large
//   - only an open step is stopped
//   - a plan that ends has no open and no new step, and does not block as well
//   - a flow without an open step does something
//   - each step is in one part of the outline, and the parts have an order
type player struct {
	t     tb
	kind  coppice.FlowKind
	view  View
	tasks map[string]NewStep // every step that was created, by its key
	docs  []NewDoc           // every version that the plans stored
	block *Block             // of the newest plan
	end   *End               // of the newest plan
	keys  int                // how many tasks have a key
}

// playAgents are the agents of the tests, the best one first.
var playAgents = []Agent{{Name: "ann"}, {Name: "bob"}}

// play returns the player of a new flow. The spec is checked first.
func play(t tb, kind coppice.FlowKind, spec any) *player {
	t.Helper()
	k, err := Of(kind)
	if err != nil {
		t.Fatalf("the kind %s: %v", kind, err)
	}
	raw, err := k.Check(coppice.Raw(spec), playAgents)
	if err != nil {
		t.Fatalf("the spec %s: %v", coppice.Raw(spec), err)
	}
	return &player{t: t, kind: kind, tasks: map[string]NewStep{}, view: View{
		Key: "app-1", Title: "Shall we use X?", Body: "X is new.", Spec: raw, Docs: map[string]coppice.Document{}, Agents: playAgents,
	}}
}

// open returns the open steps, oldest first.
func (p *player) open() []NewStep {
	var open []NewStep
	for _, s := range p.view.Steps {
		if s.State == Open {
			open = append(open, p.tasks[s.Key])
		}
	}
	return open
}

// finish ends an open step. The new state of the step has no key and no task.
func (p *player) finish(key string, how Step) {
	p.t.Helper()
	s := p.view.Step(key)
	if s == nil || s.State != Open {
		p.t.Fatalf("%s is not an open step", key)
	}
	how.Key, how.Task, how.Agent, how.Model, how.Saw = s.Key, s.Task, s.Agent, s.Model, s.Saw
	*s = how
}

// leave removes steps from the view, as when a person resumes the flow before them.
func (p *player) leave(which func(Step) bool) {
	p.view.Steps = slices.DeleteFunc(p.view.Steps, func(s Step) bool {
		if which(s) {
			delete(p.tasks, s.Key)
			return true
		}
		return false
	})
}

// edit stores a version of a document, as a person does.
func (p *player) edit(name, text string) {
	p.view.Docs[name] = coppice.Document{Name: name, Text: text, Version: p.view.Docs[name].Version + 1}
}

// next makes a plan, checks it and carries it out.
func (p *player) next() Plan {
	p.t.Helper()
	before := p.copied()
	plan, err := Next(p.kind, p.view)
	if err != nil {
		p.t.Fatalf("the plan failed: %v", err)
	}
	if again, err := Next(p.kind, p.view); err != nil || !reflect.DeepEqual(plan, again) {
		p.t.Fatalf("the second plan for the same view differs (error %v):\n%+v\n%+v", err, plan, again)
	}
	if !reflect.DeepEqual(before, p.view) {
		p.t.Fatalf("the plan changed the view from\n%+v\nto\n%+v", before, p.view)
	}
	p.block, p.end = plan.Block, plan.End
	for _, d := range plan.Docs {
		p.store(d)
	}
	for _, key := range plan.Stop {
		p.finish(key, Step{State: Cancelled, Class: coppice.ClassCancelled})
	}
	for _, s := range plan.Steps {
		p.create(s)
	}
	p.outline(false)
	p.outline(true)
	open := len(p.open())
	switch {
	case p.end != nil && (p.block != nil || open > 0):
		p.t.Fatalf("a plan that ends blocks as well, or leaves %d steps open: %+v", open, plan)
	case p.end == nil && p.block == nil && open+len(plan.Docs)+len(plan.Stop)+len(plan.Settle) == 0:
		p.t.Fatalf("nothing is open, and the plan does nothing: %+v", plan)
	}
	return plan
}

// outline returns the outline, and checks it.
func (p *player) outline(over bool) []Part {
	p.t.Helper()
	before := p.copied()
	parts, err := Outline(p.kind, p.view, over)
	if err != nil || !reflect.DeepEqual(before, p.view) {
		p.t.Fatalf("the outline failed or changed the view: %v", err)
	}
	in, after := map[string]string{}, map[string][]string{}
	for _, part := range parts {
		if _, twice := after[part.Key]; twice || part.Key == "" || part.Name == "" || over && len(part.Steps) == 0 || part.Most > 0 && part.Runs > part.Most || part.Runs > len(part.Steps) {
			p.t.Fatalf("a part of the outline is not valid: %+v", part)
		}
		after[part.Key] = part.After
		for _, key := range part.Steps {
			if in[key] != "" {
				p.t.Fatalf("%s is a step of %s and of %s", key, in[key], part.Key)
			}
			in[key] = part.Key
		}
	}
	for _, s := range p.view.Steps {
		if in[s.Key] == "" {
			p.t.Fatalf("%s is in no part of the outline %+v", s.Key, parts)
		}
	}
	for done := map[string]bool{}; len(done) < len(after); {
		was := len(done)
		for key, before := range after {
			if !slices.ContainsFunc(before, func(b string) bool { return !done[b] }) {
				done[key] = true
			}
		}
		if len(done) == was {
			p.t.Fatalf("the parts have no order: %v", after)
		}
	}
	return parts
}

// copied returns a copy of the view that shares nothing which a plan could change.
func (p *player) copied() View {
	v := p.view
	v.Spec, v.Steps, v.Docs, v.Asks, v.Agents = slices.Clone(v.Spec), slices.Clone(v.Steps), maps.Clone(v.Docs), slices.Clone(v.Asks), slices.Clone(v.Agents)
	for n := range v.Steps {
		v.Steps[n].Answer, v.Steps[n].Saw = slices.Clone(v.Steps[n].Answer), maps.Clone(v.Steps[n].Saw)
	}
	return v
}

func (p *player) store(d NewDoc) {
	p.t.Helper()
	now := p.view.Docs[d.Name]
	if d.After != now.Version || len(d.Text) > coppice.MaxDocument || d.Text == "" || coppice.ValidName("document", d.Name) != nil {
		p.t.Fatalf("the document %q has %d bytes and follows version %d, not %d", d.Name, len(d.Text), d.After, now.Version)
	}
	p.view.Docs[d.Name] = coppice.Document{Name: d.Name, Text: d.Text, Version: now.Version + 1, Step: d.Step}
	p.docs = append(p.docs, d)
	if len(p.view.Docs) > coppice.MaxDocuments {
		p.t.Fatalf("the flow has %d documents", len(p.view.Docs))
	}
}

func (p *player) create(s NewStep) {
	p.t.Helper()
	if _, twice := p.tasks[s.Key]; twice || s.Key == "" || s.Below != "" && p.view.Step(s.Below) == nil {
		p.t.Fatalf("the step %q below %q was created before, or cannot be created", s.Key, s.Below)
	}
	if err := coppice.ValidTitle(s.Task.Title); err != nil {
		p.t.Fatalf("the title of %s: %v", s.Key, err)
	}
	if err := coppice.ValidText("body", s.Task.Body, coppice.MaxBody); err != nil {
		p.t.Fatalf("the body of %s: %v", s.Key, err)
	}
	if s.Task.Schema != nil && !json.Valid(s.Task.Schema) || s.Task.Ref != "" {
		p.t.Fatalf("the task of %s has the schema %s and the ref %q", s.Key, s.Task.Schema, s.Task.Ref)
	}
	saw := map[string]int64{}
	for _, name := range s.Saw {
		if saw[name] = p.view.Docs[name].Version; saw[name] == 0 {
			p.t.Fatalf("%s saw the document %s, which does not exist", s.Key, name)
		}
	}
	p.keys++
	p.tasks[s.Key] = s
	p.view.Steps = append(p.view.Steps, Step{Key: s.Key, Task: coppice.TaskKey("app", p.keys+1), State: Open, Agent: s.Task.Agent, Model: s.Task.Model, Saw: saw})
}

// run makes plans until the flow ends or blocks. Each time when nothing else follows,
// move ends a step with finish, or changes the view as a person does. It fails the
// test after most moves.
func (p *player) run(most int, move func(open []NewStep)) {
	p.t.Helper()
	for range most {
		for plans := 0; ; plans++ {
			plan := p.next()
			if p.end != nil || p.block != nil {
				return
			}
			if len(plan.Steps)+len(plan.Docs)+len(plan.Stop)+len(plan.Settle) == 0 {
				break
			}
			if plans == 10 {
				p.t.Fatalf("10 plans in a row have changed something; the newest is %+v", plan)
			}
		}
		move(p.open())
	}
	p.t.Fatalf("the flow neither ended nor blocked after %d moves; its steps are %+v", most, p.view.Steps)
}

// steps returns the keys of the steps that count, oldest first, separated by blanks.
func (p *player) steps() string {
	var keys []string
	for _, s := range p.view.Steps {
		keys = append(keys, s.Key)
	}
	return strings.Join(keys, " ")
}

// badSpecs checks that each spec is refused with code invalid or too_large, because of
// the field, and with a fix.
func badSpecs(t *testing.T, kind coppice.FlowKind, cases map[string]string) {
	t.Helper()
	k, err := Of(kind)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range slices.Sorted(maps.Keys(cases)) {
		_, err := k.Check(json.RawMessage(spec), playAgents)
		if e := coppice.Public(err); err == nil || e.Field != cases[spec] || e.Fix == "" || e.Code == coppice.EInternal {
			t.Errorf("%s: expected an error about %s with a fix, got %v", spec, cases[spec], err)
		}
	}
}

// defaults checks that a spec is stored as expected, and that this does not change when
// it is checked again.
func defaults(t *testing.T, kind coppice.FlowKind, spec, want string) {
	t.Helper()
	k, err := Of(kind)
	if err != nil {
		t.Fatal(err)
	}
	raw := json.RawMessage(spec)
	for range 2 {
		if raw, err = k.Check(raw, playAgents); err != nil || string(raw) != want {
			t.Fatalf("%s is stored as %s (error %v), expected %s", spec, raw, err, want)
		}
	}
}

// stepKeys returns the keys of new steps.
func stepKeys(steps []NewStep) []string {
	var keys []string
	for _, s := range steps {
		keys = append(keys, s.Key)
	}
	return keys
}
