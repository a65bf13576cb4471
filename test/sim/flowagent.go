package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"coppice"
	"coppice/engine"
	"coppice/flow"
	"coppice/store"
	"coppice/verb"
)

// finalWords returns what an agent says at the end of a step: an answer that matches
// its schema, most of the time. It reports false if the task is not a step with an
// answer that its kind reads.
func (s *sim) finalWords(x coppice.Session) (text string, ok bool, err error) {
	if !s.opt.Flows {
		return "", false, nil
	}
	var t, f coppice.Task
	var plan string
	err = s.st.View(s.ctx, func(r store.Reader) error {
		t, err = r.Tasks.Get(x.TaskID)
		if err != nil || t.Step == nil {
			return err
		}
		if f, err = r.Tasks.Get(t.Step.Flow); err != nil {
			return err
		}
		d, err := r.Documents.Get(f.ID, "plan", 0)
		if coppice.ErrorCode(err) == coppice.ENotFound {
			err = nil
		}
		plan = d.Text
		return err
	})
	if err != nil || t.Step == nil {
		return "", false, err
	}
	if f.Flow.Kind == coppice.FlowGoal && flow.IsLead(t.Step.Key) {
		return s.leadWords(), true, nil
	}
	if len(t.Schema) == 0 {
		return flow.MarkWorker.Line("it is fine"), true, nil
	}
	var schema struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(t.Schema, &schema); err != nil {
		return "", false, err
	}
	has := func(name string) bool { _, ok := schema.Properties[name]; return ok }
	var a any
	switch {
	case has("verdict"):
		a = map[string]any{"verdict": s.word("agree", "disagree", "partial"), "summary": "in short", "position": "at length", "changed": some(s.flowing, "", "a test")}
	case has("issues"):
		a = map[string]any{"result": s.word("no_issues", "has_issues"), "issues": []string{"an issue"}}
	case has("contract"):
		a = map[string]any{"plan": s.milestones(), "contract": "it works", "notes": "none"}
	case has("plan"):
		a = s.reviewed(plan)
	case has("findings") && schema.Properties["findings"].Type == "array":
		a = map[string]any{"result": s.word("pass", "fail"), "findings": []string{"a finding"}}
	case has("findings"):
		a = map[string]any{"result": s.word("pass", "fail"), "findings": "a finding"}
	case has("tasks"):
		a = s.planned()
	default:
		return "", false, nil
	}
	return string(coppice.Raw(a)), true, nil
}

// word picks a word. At the end it is the first one, with which a flow ends.
func (s *sim) word(good string, others ...string) string {
	if s.calm || s.flowing.rng.IntN(2) == 0 {
		return good
	}
	return some(s.flowing, others...)
}

// milestones returns a plan of a cycle, at times one without milestones.
func (s *sim) milestones() string {
	f := s.flowing
	if !s.calm && f.rng.IntN(10) == 0 {
		return "it is simple"
	}
	var b strings.Builder
	for n := range 1 + f.rng.IntN(4) {
		fmt.Fprintf(&b, "- [ ] m%d: a milestone\n", n)
	}
	return b.String()
}

// reviewed returns the answer of a review, which checks some milestones off, or at
// times loses one or cannot continue.
func (s *sim) reviewed(plan string) any {
	f := s.flowing
	lines := strings.Split(plan, "\n")
	for n, line := range lines {
		switch {
		case !strings.HasPrefix(line, "- [ ]"):
		case s.calm || f.rng.IntN(2) == 0:
			lines[n] = "- [x]" + line[5:]
		case f.rng.IntN(15) == 0:
			lines[n] = ""
		}
	}
	a := map[string]any{"plan": strings.Join(lines, "\n"), "feedback": "continue"}
	if !s.calm && f.rng.IntN(12) == 0 {
		a["blocked"] = "nobody has the key"
	}
	return a
}

// planned returns the plan of a goal, at times one whose tasks wait for each other.
func (s *sim) planned() any {
	f := s.flowing
	var tasks []any
	for n := range 1 + f.rng.IntN(4) {
		after := []string{}
		if n > 0 && f.rng.IntN(2) == 0 {
			after = append(after, fmt.Sprintf("t%d", f.rng.IntN(n)))
		}
		if !s.calm && f.rng.IntN(15) == 0 {
			after = append(after, fmt.Sprintf("t%d", n))
		}
		tasks = append(tasks, map[string]any{
			"id": fmt.Sprintf("t%d", n), "title": "a part", "description": "do it", "dependencies": after, "effort": some(f, "low", "high"), "scope": []string{some(f, "f1", "f2")},
		})
	}
	return map[string]any{"tasks": tasks}
}

// leadWords is the final message of a lead.
func (s *sim) leadWords() string {
	switch f := s.flowing; {
	case s.calm || f.rng.IntN(2) == 0:
		return flow.MarkDone.Line("all is done")
	case f.rng.IntN(4) == 0:
		return flow.MarkFailed.Line("it cannot be done")
	case f.rng.IntN(2) == 0:
		return flow.MarkContinues.Line("2")
	}
	return "I think so"
}

// stepAnswer lets a session of a step end with its answer. It reports whether it did.
func (s *sim) stepAnswer(key string, h *hostState) (bool, error) {
	if !s.opt.Flows {
		return false, nil
	}
	x, err := s.session(key)
	if err != nil {
		return false, err
	}
	text, ok, err := s.finalWords(x)
	if err != nil || !ok {
		return false, err
	}
	zero := 0
	res := coppice.RunResult{Exit: &zero, Conversation: "c-" + key, Summary: text, Usage: s.used(h)}
	if f := s.flowing; !s.calm {
		switch f.rng.IntN(24) {
		case 0:
			res.Summary = ""
		case 1:
			res.Summary = "it depends"
		case 2:
			res.Summary = "{}"
		case 3:
			res.Changed = []string{"README"}
		}
	}
	s.world.end(h, res)
	return true, nil
}

// lead lets an agent that leads a goal use a tool of leads, at times. It reports
// whether it did.
func (s *sim) lead(key string, h *hostState) (used bool, err error) {
	if !s.opt.Flows || s.calm || h.role != coppice.RoleAnswer || h.call != nil {
		return false, nil
	}
	f := s.flowing
	x, err := s.session(key)
	if err != nil || !x.State.Live() || x.StartedAt.IsZero() {
		return false, err
	}
	err = s.st.View(s.ctx, func(r store.Reader) error {
		t, err := r.Tasks.Get(x.TaskID)
		if err == nil {
			used, err = engine.Leads(r, t, x.Role)
		}
		return err
	})
	if err != nil || !used {
		return false, err
	}
	if err := s.sayName(key, h); err != nil {
		return true, err
	}
	s.calls++
	h.call = &toolCall{id: fmt.Sprintf("%s/%d", key, s.calls)}
	switch n := f.rng.IntN(12); {
	case n < 5:
		return true, s.spawn(x, h)
	case n < 8:
		return true, s.waitTool(x, h)
	case n == 8:
		return true, s.killWorker(x, h)
	case n == 9:
		return true, s.mark(x, h, flow.MarkDone, coppice.VerbGoalDone)
	case n == 10 && f.rng.IntN(3) == 0:
		return true, s.mark(x, h, flow.MarkFailed, coppice.VerbGoalFailed)
	}
	h.call = nil
	return false, nil
}

// goalOf returns the flow of a lead, its workers that count, and the number of the
// next one. It refuses a flow that takes no more requests, as the tools do.
func (s *sim) goalOf(r store.Reader, x coppice.Session) (t coppice.Task, workers []coppice.Task, next int, err error) {
	t, _, err = engine.FlowOf(r, x)
	if err != nil {
		return t, nil, 0, err
	}
	if !t.Planned() || t.Ended() || t.Flow.WrapUp {
		return t, nil, 0, coppice.Errorf(coppice.EConflict, "the goal %s takes no more requests", t.Key)
	}
	asks, err := r.Asks.Open(coppice.TaskSubject(t.ID))
	if err != nil {
		return t, nil, 0, err
	}
	for _, a := range asks {
		var s flow.Spawn
		switch {
		case a.Verb == coppice.VerbSpawn && json.Unmarshal(a.Args, &s) == nil:
			next = max(next, numberOf(s.Key))
		case a.By.Name == x.Key && (a.Verb == coppice.VerbGoalDone || a.Verb == coppice.VerbGoalFailed):
			return t, nil, 0, coppice.Errorf(coppice.EConflict, "%s has ended its work", x.Key)
		}
	}
	steps, err := r.Families.Steps(t.ID)
	for _, w := range steps {
		if flow.IsWorker(w.Step.Key) && !slices.Contains(t.Flow.Left, w.ID) {
			workers, next = append(workers, w), max(next, numberOf(w.Step.Key))
		}
	}
	return t, workers, next + 1, err
}

// numberOf returns the number of a worker; 0 for one of a plan.
func numberOf(key string) (n int) {
	_, _ = fmt.Sscanf(key, "w%d", &n) // a key without a number has none
	return n
}

// spawn requests a worker, as spawn_worker does.
func (s *sim) spawn(x coppice.Session, h *hostState) error {
	perspective := some(s.flowing, flow.Implementer, flow.Implementer, "tester", flow.Reviewer, flow.Verifier)
	err := s.once(x, h, func(i *engine.Intake, tx store.Tx) (any, error) {
		t, workers, next, err := s.goalOf(tx.Reader(), x)
		if err != nil {
			return nil, err
		}
		if len(workers) > 5 {
			return nil, coppice.Errorf(coppice.EConflict, "%s has had enough workers", t.Key)
		}
		spec, err := flow.ReadGoal(t.Flow.Spec)
		if err != nil {
			return nil, err
		}
		w := flow.Spawn{Key: flow.WorkerKey(next), Perspective: perspective, Agent: spec.Worker(next), Task: fmt.Sprintf("part %d", s.calls)}
		return w.Key, i.AskFlow(tx, t, coppice.VerbSpawn, w.Task, w)
	})
	if err == nil {
		s.flowing.Spawned++
	}
	return err
}

// killWorker stops an open worker, as kill_worker does.
func (s *sim) killWorker(x coppice.Session, h *hostState) error {
	return s.once(x, h, func(i *engine.Intake, tx store.Tx) (any, error) {
		_, workers, _, err := s.goalOf(tx.Reader(), x)
		if err != nil {
			return nil, err
		}
		for _, w := range workers {
			if !w.Ended() {
				_, err := i.Ask(s.ctx, w.Key, coppice.VerbStop, verb.Request{})
				return w.Key, err
			}
		}
		return "none", nil
	})
}

// mark ends the work of a lead, as mark_goal_done and mark_goal_failed do.
func (s *sim) mark(x coppice.Session, h *hostState, m flow.Mark, v coppice.Verb) error {
	err := s.once(x, h, func(i *engine.Intake, tx store.Tx) (any, error) {
		t, workers, _, err := s.goalOf(tx.Reader(), x)
		if err != nil {
			return nil, err
		}
		if m == flow.MarkDone && slices.ContainsFunc(workers, func(w coppice.Task) bool { return !w.Ended() }) {
			return nil, coppice.Errorf(coppice.EConflict, "workers of %s have not ended", t.Key)
		}
		return "ok", errors.Join(i.AskFlow(tx, t, v, "that was it", nil), i.Finish(tx, x.ID, m.Line("that was it")))
	})
	if err == nil {
		h.call = &toolCall{} // it does nothing more
		s.families.Finished++
	}
	return err
}
