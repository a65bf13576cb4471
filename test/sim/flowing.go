package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"coppice"
	"coppice/flow"
	"coppice/store"
	"coppice/verb"
)

// flowCount is what happened to the flows of a kind.
type flowCount struct {
	Ran     int // had a step,
	Done    int
	Failed  int
	Stopped int // were cancelled,
	Blocked int // waited for a person who had not paused them,
	Paused  int // and requests of people were accepted
	Resumed int
	Wrapped int
}

// flows is what happened to flows, by kind in the order of coppice.FlowKinds, and to
// schedules.
type flows struct {
	Kinds     [4]flowCount
	Landed    int // flows landed their branch
	Spawned   int // workers were requested by leads
	Retried   int // steps were retried by people
	Written   int // versions of documents by people
	Outdated  int // and versions that came too late
	Commented int // and comments on plans that wait for an approval
	Scheduled int // runs of schedules
}

func (f *flows) add(o flows) {
	for n, k := range o.Kinds {
		c := &f.Kinds[n]
		c.Ran, c.Done, c.Failed, c.Stopped, c.Blocked = c.Ran+k.Ran, c.Done+k.Done, c.Failed+k.Failed, c.Stopped+k.Stopped, c.Blocked+k.Blocked
		c.Paused, c.Resumed, c.Wrapped = c.Paused+k.Paused, c.Resumed+k.Resumed, c.Wrapped+k.Wrapped
	}
	f.Landed, f.Spawned, f.Retried = f.Landed+o.Landed, f.Spawned+o.Spawned, f.Retried+o.Retried
	f.Written, f.Outdated, f.Commented, f.Scheduled = f.Written+o.Written, f.Outdated+o.Outdated, f.Commented+o.Commented, f.Scheduled+o.Scheduled
}

// flowing is what the simulation knows of flows.
type flowing struct {
	flows
	rng       *rand.Rand
	kind      coppice.FlowKind // of the first flow
	most      int              // flows that people create, and
	repeats   int              // schedules that they add
	made      int
	schedules int
	keys      []string // of the flows
	newest    int64    // id of the newest task that the world knows
	blocked   map[int64]bool
	helped    map[string]int // how often a person helped a flow at the end
	documents []coppice.Document
}

func newFlowing(seed uint64) *flowing {
	f := &flowing{rng: rand.New(rand.NewPCG(seed, 51)), blocked: map[int64]bool{}, helped: map[string]int{}}
	f.kind, f.most = coppice.FlowKinds[seed%uint64(len(coppice.FlowKinds))], 1
	switch f.rng.IntN(8) {
	case 0:
		f.most = 2
	case 1:
		f.repeats = 1
	}
	return f
}

// of returns the counts of a flow's kind.
func (f *flowing) of(t coppice.Task) *flowCount {
	return &f.Kinds[slices.Index(coppice.FlowKinds, t.Flow.Kind)]
}

// some picks one of the values.
func some[T any](f *flowing, values ...T) T { return values[f.rng.IntN(len(values))] }

// usable returns the agents that every project can use.
func usable(coppice.Project) []flow.Agent {
	return []flow.Agent{{Name: "alpha", Scores: coppice.Scores{Lead: 2, Implement: 1}}, {Name: "beta", Scores: coppice.Scores{Lead: 1, Implement: 2}}}
}

// flowed makes a project one in which flows get far.
func (s *sim) flowed(p *coppice.Policy) {
	if !s.opt.Flows {
		return
	}
	p.Limits.Sessions, p.Budget = 2+s.flowing.rng.IntN(3), coppice.BudgetPolicy{}
	if len(p.Checks) > 1 {
		p.Checks = p.Checks[:1]
	}
	p.Retry.Max, p.Health.Timeout = max(p.Retry.Max, 1), 0
}

// flowActions are what happens where people create a flow, and at times another one or
// a schedule.
func (s *sim) flowActions() weights {
	if s.flowing.made == 0 {
		return weights{{"create flow", 1}}
	}
	work, agent := 60, 50
	if !slices.ContainsFunc(s.works, func(w *worker) bool { return len(w.items) > 0 }) {
		work = 0
	}
	if len(s.running()) == 0 {
		agent = 0
	}
	return weights{
		{"turn", 26}, {"take", 20}, {"work", work}, {"agent", agent}, {"time", 4}, {"renew", 12}, {"ask", 2}, {"create flow", 5}, {"flow", 4},
		{"document", 3}, {"schedule", 2}, {"crash worker", 1}, {"crash server", 1}, {"kill host", 1}, {"move base", 1}, {"converse", 1},
		{"review", 2}, {"undo", 1},
	}
}

// createFlow is a person who creates a flow.
func (s *sim) createFlow() error {
	f := s.flowing
	if f.made == f.most {
		return nil
	}
	n := coppice.NewTask{Title: fmt.Sprintf("flow %d", f.made), Flow: s.newFlow()}
	if f.rng.IntN(4) == 0 {
		n.Budget = coppice.USD(2 + f.rng.IntN(12))
	}
	if f.rng.IntN(4) == 0 {
		n.Flow.Time = coppice.Duration(1+f.rng.IntN(120)) * coppice.Duration(time.Minute)
	}
	if len(f.keys) > 0 && f.rng.IntN(2) == 0 {
		n.After = []string{some(f, f.keys...)}
	}
	if _, err := s.intake.CreateTasks(s.ctx, "p", []coppice.NewTask{n}); err != nil {
		return err
	}
	f.made++
	return s.meet()
}

// newFlow returns a request for a flow, the first one of the kind of the history.
func (s *sim) newFlow() *coppice.NewFlow {
	f := s.flowing
	kind := f.kind
	if f.made > 0 {
		kind = some(f, coppice.FlowKinds...)
	}
	var spec any
	switch kind {
	case coppice.FlowDebate:
		spec = s.debateSpec()
	case coppice.FlowCycle:
		spec = map[string]any{
			"cycles": 1 + f.rng.IntN(4), "threshold": some(f, 0.5, 1), "verify": some(f, "", "run it"), "verify_tries": f.rng.IntN(3),
			"limits": map[string]any{"implement": map[string]any{"turns": 20 + f.rng.IntN(100)}},
		}
	case coppice.FlowBatch:
		spec = s.batchSpec()
	default:
		spec = flow.GoalSpec{Workers: 1 + f.rng.IntN(4), Rounds: 1 + f.rng.IntN(3), Plan: f.rng.IntN(3) == 0, Lead: some(f, "", "alpha", "beta")}
	}
	return &coppice.NewFlow{Kind: kind, Spec: coppice.Raw(spec)}
}

func (s *sim) debateSpec() flow.DebateSpec {
	f := s.flowing
	d := flow.DebateSpec{Between: some(f, nil, []string{"alpha", "beta"}, []string{"beta:big", "beta:small"}), Rounds: 1 + f.rng.IntN(3), Loops: 1 + f.rng.IntN(2)}
	switch f.rng.IntN(4) {
	case 0:
		d.Then = &coppice.NewTask{Title: "do it"}
	case 1:
		d.Action = "do it"
	case 2:
		d.Action, d.Verify, d.VerifyRounds = "do it", true, 1+f.rng.IntN(3)
	}
	return d
}

func (s *sim) batchSpec() flow.BatchSpec {
	f := s.flowing
	b := flow.BatchSpec{Most: f.rng.IntN(3)}
	if f.rng.IntN(3) == 0 {
		b.Debate = &flow.DebateSpec{Rounds: 1 + f.rng.IntN(2)}
		if f.rng.IntN(2) == 0 {
			b.Debate.Then = &coppice.NewTask{}
		}
	}
	for n := range 1 + f.rng.IntN(4) {
		t := coppice.NewTask{Title: fmt.Sprintf("item %d", n), Ref: fmt.Sprintf("i%d", n)}
		if n > 0 && f.rng.IntN(2) == 0 {
			t.After = []string{fmt.Sprintf("i%d", f.rng.IntN(n))}
		}
		if b.Debate == nil && f.rng.IntN(4) == 0 {
			t.Answer = true
		}
		b.Tasks = append(b.Tasks, t)
	}
	return b
}

// meet lets the world and the people know the tasks that the engine created.
func (s *sim) meet() error {
	if !s.opt.Flows && !s.opt.Pulls {
		return nil
	}
	f := s.flowing
	return s.st.View(s.ctx, func(r store.Reader) error {
		newest, err := r.Tasks.List(store.TaskFilter{Most: 1})
		if err != nil || len(newest) == 0 || newest[0].ID <= f.newest {
			return err
		}
		tasks, err := r.Tasks.List(store.TaskFilter{Most: 30}) // the newest first; no turn creates as many
		for _, t := range slices.Backward(tasks) {
			if t.ID <= f.newest {
				continue
			}
			f.newest = t.ID
			s.world.names(t)
			if !slices.Contains(s.keys, t.Key) {
				s.keys = append(s.keys, t.Key)
			}
			if t.IsFlow() {
				f.keys = append(f.keys, t.Key)
			}
			if t.Schedule != 0 {
				f.Scheduled++
			}
		}
		return err
	})
}

// flowPerson is a person who wants something of a random flow.
func (s *sim) flowPerson() error {
	f := s.flowing
	if len(f.keys) == 0 {
		return nil
	}
	key := some(f, f.keys...)
	switch n := f.rng.IntN(16); n {
	case 0, 1:
		return s.askFlow(key, coppice.VerbPause, "")
	case 2, 3, 4:
		return s.askFlow(key, coppice.VerbResume, "")
	case 5, 6:
		from, err := s.someStep(key, counting)
		if err != nil || from.Step == nil {
			return err
		}
		return s.askFlow(key, coppice.VerbResume, from.Step.Key)
	case 7, 8:
		return s.askFlow(key, coppice.VerbWrapUp, "")
	case 9:
		return s.stop(key)
	case 10, 11:
		_, err := s.intake.Ask(s.ctx, key, coppice.VerbUnstop, verb.Request{})
		return err
	case 12:
		b := coppice.USD(3 + f.rng.IntN(20))
		_, err := s.intake.ChangeTask(s.ctx, key, coppice.TaskChange{Budget: &b})
		return err
	case 13:
		step, err := s.someStep(key, allSteps)
		if err != nil || step.Step == nil {
			return err
		}
		return s.stop(step.Key)
	default:
		step, err := s.someStep(key, allSteps)
		if err != nil || step.Step == nil {
			return err
		}
		_, err = s.intake.Ask(s.ctx, step.Key, coppice.VerbRetry, verb.Request{})
		if err == nil {
			f.Retried++
		}
		return err
	}
}

// askFlow asks something of a flow. One that was done can land once more.
func (s *sim) askFlow(key string, v coppice.Verb, text string) error {
	t, err := s.intake.Ask(s.ctx, key, v, verb.Request{Text: text})
	if err != nil {
		return err
	}
	switch c := s.flowing.of(t); v {
	case coppice.VerbPause:
		c.Paused++
	case coppice.VerbResume:
		c.Resumed++
	case coppice.VerbWrapUp:
		c.Wrapped++
	}
	if t.Outcome == coppice.OutcomeDone {
		s.world.rounds[key] = max(s.world.rounds[key], len(s.world.landed[key]))
	}
	return nil
}

// allSteps returns the steps of a flow, with those that no longer count.
func allSteps(r store.Reader, t coppice.Task) ([]coppice.Task, error) { return r.Families.Steps(t.ID) }

// someStep returns a random one of the steps of a flow, or a task without a step.
func (s *sim) someStep(key string, steps func(store.Reader, coppice.Task) ([]coppice.Task, error)) (t coppice.Task, err error) {
	err = s.st.View(s.ctx, func(r store.Reader) error {
		f, err := r.Tasks.ByKey(key)
		if err != nil {
			return err
		}
		list, err := steps(r, f)
		if len(list) > 0 {
			t = some(s.flowing, list...)
		}
		return err
	})
	return t, err
}

// writeDocument is a person who changes a document of a flow, at times one that has
// changed since the person read it.
func (s *sim) writeDocument() error {
	f := s.flowing
	if len(f.keys) == 0 {
		return nil
	}
	key := some(f, f.keys...)
	var docs []coppice.Document
	err := s.st.View(s.ctx, func(r store.Reader) error {
		t, err := r.Tasks.ByKey(key)
		if err == nil {
			docs, err = r.Documents.Newest(t.ID)
		}
		return err
	})
	if err != nil {
		return err
	}
	doc := coppice.Document{Name: "note"}
	if len(docs) > 0 {
		doc = some(f, docs...)
	}
	s.made++
	text, expected := doc.Text+fmt.Sprintf("\n> a person wrote this (%d)\n", s.made), doc.Version
	if doc.Name == "plan" && f.rng.IntN(3) == 0 {
		text += fmt.Sprintf("- [ ] m%d: one more\n", s.made)
	}
	wrong := f.rng.IntN(4) == 0
	if wrong {
		expected += int64(some(f, -1, 1))
	}
	got, err := s.intake.WriteDocument(s.ctx, key, doc.Name, text, &expected)
	switch {
	case wrong && err == nil:
		return fmt.Errorf("%s: version %d of %s was accepted after %d", key, got.Version, doc.Name, expected)
	case wrong && coppice.ErrorCode(err) == coppice.EConflict:
		f.Outdated++
		return nil
	case err == nil:
		f.Written++
		f.documents = append(f.documents, got)
	}
	return err
}

// commentPlan is a person who comments on a plan that waits for an approval. It reports
// false if no plan does.
func (s *sim) commentPlan(key string) bool {
	_, err := s.intake.SendComments(s.ctx, key, "change it")
	if err == nil {
		s.flowing.Commented++
	}
	return err == nil
}

// helpFlow is a person who helps a flow that waits: the person resumes it, then wraps
// it up, and stops it in the end.
func (s *sim) helpFlow(t coppice.Task) error {
	f := s.flowing
	f.helped[t.Key]++
	if t.Failure != nil && t.Failure.Class == coppice.ClassBudget && !t.Flow.Paused {
		t.Failure.Of = t.Key
		return s.raiseAbove(t)
	}
	switch n := f.helped[t.Key]; {
	case n == 1 && s.commentPlan(t.Key):
		return nil
	case n <= 3:
		return s.askFlow(t.Key, coppice.VerbResume, "")
	case n == 4:
		return s.askFlow(t.Key, coppice.VerbWrapUp, "")
	}
	return s.stop(t.Key)
}
