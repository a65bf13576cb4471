package flow

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coppice"
)

var twoAgents = []Agent{{Name: "ann", Scores: coppice.Scores{Lead: 9, Implement: 5}}, {Name: "bob", Scores: coppice.Scores{Lead: 1, Implement: 8}}}

// fatal is what the tests and the property test share.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// cycleSim does what the engine does with a plan.
type cycleSim struct {
	t    fatal
	v    View
	ids  int64
	all  []NewStep // every step that was created
	last Plan
}

func newCycleSim(t fatal, spec string, agents []Agent) *cycleSim {
	t.Helper()
	raw, err := cycle{}.Check(json.RawMessage(spec), agents)
	if err != nil {
		t.Fatalf("the spec %s: %v", spec, err)
	}
	return &cycleSim{t: t, v: View{Key: "app-1", Title: "Build it", Body: "All of it.", Spec: raw, Docs: map[string]coppice.Document{}, Agents: agents}}
}

// settle carries out plans until nothing changes.
func (s *cycleSim) settle() Plan {
	s.t.Helper()
	for range 10 {
		p, err := Next(coppice.FlowCycle, s.v)
		if err != nil {
			s.t.Fatalf("Next: %v", err)
		}
		if again, _ := Next(coppice.FlowCycle, s.v); !reflect.DeepEqual(p, again) {
			s.t.Fatalf("the same view gives two plans:\n%+v\n%+v", p, again)
		}
		if p.Note == "" || strings.Contains(p.Note, "\n") {
			s.t.Fatalf("the note %q is not a line", p.Note)
		}
		s.last = p
		for _, d := range p.Docs {
			if have := s.v.Docs[d.Name].Version; have != d.After {
				s.t.Fatalf("the plan writes %s after version %d, and it has %d", d.Name, d.After, have)
			}
			s.put(d.Name, d.Text, d.Step)
		}
		for _, n := range p.Steps {
			if s.v.Step(n.Key) != nil {
				s.t.Fatalf("the step %s is created twice", n.Key)
			}
			saw := map[string]int64{}
			for _, name := range n.Saw {
				saw[name] = s.v.Docs[name].Version
			}
			s.all = append(s.all, n)
			s.v.Steps = append(s.v.Steps, Step{Key: n.Key, State: Open, Agent: n.Task.Agent, Model: n.Task.Model, Saw: saw})
		}
		for _, key := range p.Stop {
			s.v.Step(key).State = Cancelled
		}
		if len(p.Docs)+len(p.Steps)+len(p.Stop) == 0 {
			return p
		}
	}
	s.t.Fatalf("the plan does not settle: %+v", s.last)
	return Plan{}
}

func (s *cycleSim) put(name, text, step string) {
	if name == planDoc && step != "" {
		before, after := ReadMilestones(s.v.Docs[name].Text), ReadMilestones(text)
		if strings.Contains(step, "review") && len(after) < len(before) {
			s.t.Fatalf("%s has removed milestones: %d before, %d after", step, len(before), len(after))
		}
	}
	s.ids++
	s.v.Docs[name] = coppice.Document{ID: s.ids, Name: name, Version: s.v.Docs[name].Version + 1, Text: text, Step: step}
}

// open returns the open step, or nil.
func (s *cycleSim) open() *Step {
	for i := range s.v.Steps {
		if s.v.Steps[i].State == Open {
			return &s.v.Steps[i]
		}
	}
	return nil
}

// event is what happens to a cycle between two plans.
type event func(*cycleSim)

func ends(change func(*Step)) event {
	return func(s *cycleSim) {
		step := s.open()
		if step == nil {
			s.t.Fatalf("no step is open after %s: %+v", s.keys(), s.last)
		}
		step.State = Done
		change(step)
	}
}

func answers(v map[string]string) event {
	raw, _ := json.Marshal(v)
	return ends(func(s *Step) { s.Answer = raw })
}

// boxes writes a plan: an upper-case letter is a milestone that is done.
func boxes(letters string) string {
	text := "# Plan\n\n"
	for _, c := range letters {
		box := "[ ]"
		if low := strings.ToLower(string(c)); low != string(c) {
			box = "[x]"
		}
		text += "- " + box + " milestone " + strings.ToLower(string(c)) + "\n"
	}
	return text
}

func assessed(letters string) event {
	return answers(map[string]string{"plan": boxes(letters), "contract": "It works.", "notes": "Look at main."})
}

func reviewed(letters string) event {
	return answers(map[string]string{"plan": boxes(letters), "feedback": "Do b first."})
}

func verified(result string) event {
	return answers(map[string]string{"result": result, "findings": "The button is dead."})
}

func landed() event {
	return ends(func(s *Step) { s.Landed, s.Result = "c0ffee", "I did it." })
}

func idle() event { return ends(func(s *Step) { s.Result = "Nothing to do." }) }

func fails(class coppice.Class) event {
	return ends(func(s *Step) { s.State, s.Class, s.Result = Failed, class, "it broke" })
}

func edits(letters string) event {
	return func(s *cycleSim) { s.put(planDoc, boxes(letters), "") }
}

func wrapsUp(s *cycleSim) { s.v.WrapUp = true }

func stops(s *cycleSim) { s.open().State = Cancelled }

// resumes leaves out the steps from a key on.
func resumes(key string) event {
	return func(s *cycleSim) {
		s.v.Steps = s.v.Steps[:slices.IndexFunc(s.v.Steps, func(x Step) bool { return x.Key == key })]
	}
}

func (s *cycleSim) keys() string {
	var keys []string
	for _, n := range s.all {
		keys = append(keys, n.Key)
	}
	return strings.Join(keys, " ")
}

// outcome describes a plan in a few words.
func outcome(p Plan) string {
	switch {
	case p.Block != nil:
		return fmt.Sprintf("block %s: %s (%s)", p.Block.Class, p.Block.Text, p.Block.Fix)
	case p.End != nil:
		return fmt.Sprintf("end land=%t failed=%t: %s", p.End.Land, p.End.Failed, p.End.Result)
	}
	return "open: " + p.Note
}

// Whatever the agents and people do, a cycle creates no step twice, ends or blocks
// after a limited number of steps, and lands only what is done or wrapped up.
func TestCyclesEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cycles := rapid.IntRange(1, 4).Draw(t, "cycles")
		tries := rapid.IntRange(0, 2).Draw(t, "tries")
		threshold := rapid.SampledFrom([]float64{0.5, 1}).Draw(t, "threshold")
		how := rapid.SampledFrom([]string{"", "run it"}).Draw(t, "verify")
		s := newCycleSim(t, fmt.Sprintf(`{"cycles": %d, "verify_tries": %d, "threshold": %g, "verify": %q}`, cycles, tries, threshold, how),
			twoAgents[:rapid.IntRange(1, 2).Draw(t, "agents")])
		// A place has at most 1 step, 1 after a failure, 3 after edits and 2 repairs. Each
		// edit during a verification adds a cycle.
		const perPlace, mostEdits = 7, 5
		bound := perPlace * (1 + (cycles+1+mostEdits)*(2+2*(tries+1)))
		done := ""
		edited := 0
		for p := s.settle(); p.Block == nil && p.End == nil; p = s.settle() {
			if len(s.all) > bound {
				t.Fatalf("there are %d steps, at most %d were expected: %s", len(s.all), bound, s.keys())
			}
			if edited < mostEdits && rapid.IntRange(0, 9).Draw(t, "edit") == 0 {
				edited++
				edits(rapid.StringMatching(`[a-cA-C]{0,4}`).Draw(t, "plan of a person"))(s)
			}
			if rapid.IntRange(0, 29).Draw(t, "wrap up") == 0 {
				wrapsUp(s)
				continue
			}
			step := s.open()
			if step == nil {
				t.Fatalf("the flow waits without an open step: %+v", p)
			}
			at, _, _ := placeOf(step.Key)
			if rapid.IntRange(0, 9).Draw(t, "fails") == 0 {
				fails(rapid.SampledFrom(coppice.Classes).Draw(t, "class"))(s)
				continue
			}
			switch at.phase {
			case phaseAssess:
				assessed(rapid.StringMatching(`[a-e]{0,5}`).Draw(t, "plan"))(s)
			case phaseReview:
				reviewed(randomReview(t, s.v.Docs[planDoc].Text))(s)
			case phaseVerify:
				verified(rapid.SampledFrom([]string{"pass", "fail", "fail", "what"}).Draw(t, "result"))(s)
			default:
				rapid.SampledFrom([]event{landed(), idle()}).Draw(t, "work")(s)
			}
			done = step.Key
		}
		if end := s.last.End; end != nil && !s.v.WrapUp {
			if m := ReadMilestones(s.v.Docs[planDoc].Text); !m.reached(threshold) || end.Failed {
				t.Fatalf("after %s it ends with %d of %d milestones: %+v", done, m.Done(), len(m), end)
			}
		}
		if b := s.last.Block; b != nil && (b.Class == "" || b.Text == "" || b.Fix == "") {
			t.Fatalf("the reason %+v is not complete", b)
		}
	})
}

// randomReview checks off some milestones of a plan, and sometimes loses or adds one.
func randomReview(t *rapid.T, plan string) string {
	letters := ""
	for _, m := range ReadMilestones(plan) {
		letter := m.Text[len(m.Text)-1:]
		if m.Done || rapid.IntRange(0, 2).Draw(t, "finished") == 0 {
			letter = strings.ToUpper(letter)
		}
		if rapid.IntRange(0, 19).Draw(t, "lost") > 0 {
			letters += letter
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "added") == 0 {
		letters += "z"
	}
	return letters
}
