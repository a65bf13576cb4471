package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/engine"
	"coppice/store"
)

// families counts what agents did with the tools for work.
type families struct {
	Created   int // tasks were created by agents,
	Delivered int // results of tasks by the tool,
	Resumed   int // and in the prompt of the next session
	Replied   int // questions that the tool asked were answered by it
	Finished  int // sessions were finished by their agents
	Below     int // tasks were stopped with the one above them
}

// toolCall is a call of a tool that an agent waits for.
type toolCall struct {
	id       string
	keys     []string // of the tasks for which it waits
	ids      []int64
	question int64
	ref      string
}

// mostKin bounds the tasks that agents create.
func (s *sim) mostKin() int {
	if s.opt.Family {
		return 14
	}
	return 3
}

// familyActions are what happens where agents create many tasks.
func (s *sim) familyActions() weights {
	return append(s.askingActions(), weights{{"agent", 20}, {"kill host", 1}, {"stop parent", 1}}...)
}

// stopParent is a person who stops a task with open tasks below it.
func (s *sim) stopParent() error {
	if s.kin.IntN(3) > 0 {
		return nil
	}
	keys, err := s.tasksWith(func(r store.Reader, t coppice.Task) (bool, error) {
		open, err := r.Families.OpenChildren(t.ID)
		return len(open) > 0 && !t.Ended(), err
	})
	if err != nil || len(keys) == 0 {
		return err
	}
	return s.stop(keys[s.kin.IntN(len(keys))])
}

// useTool lets an agent use a tool for work, at times. It reports whether it did.
func (s *sim) useTool(key string, h *hostState) (used bool, err error) {
	odds := 3 // in a hundred
	if s.opt.Family {
		odds = 85
	}
	if h.call != nil {
		return true, s.callAgain(key, h)
	}
	if s.calm || s.opt.Plain || s.opt.Kills || s.opt.Red || s.opt.Retries || s.opt.Limits || h.screen || s.kin.IntN(100) >= odds {
		return false, nil
	}
	switch h.role {
	case coppice.RoleImplement, coppice.RoleFix, coppice.RoleAnswer:
	default:
		return false, nil
	}
	if err := s.sayName(key, h); err != nil {
		return true, err
	}
	x, err := s.session(key)
	if err != nil || !x.State.Live() || x.StartedAt.IsZero() {
		return true, err
	}
	s.calls++
	h.call = &toolCall{id: fmt.Sprintf("%s/%d", key, s.calls)}
	switch s.kin.IntN(12) {
	case 0:
		return true, s.finishTool(x, h)
	case 1:
		return true, s.askTool(x, h)
	case 2, 3, 4, 5, 6, 7:
		return true, s.waitTool(x, h)
	}
	return true, s.createTool(x, h)
}

// once carries out a call that is answered at once, and at times a second time, as
// after a crash: that must change nothing.
func (s *sim) once(x coppice.Session, h *hostState, do func(*engine.Intake, store.Tx) (any, error)) error {
	id := h.call.id
	h.call = nil
	call := func() (string, error) {
		b, err := s.intake.Once(s.ctx, x, id, func(_ context.Context, i *engine.Intake, tx store.Tx) (any, error) { return do(i, tx) })
		return string(b), err
	}
	first, err := call()
	if err != nil || s.kin.IntN(3) > 0 {
		return err
	}
	if again, err := call(); err == nil && again != first {
		return fmt.Errorf("the call %s was answered with %s, and then with %s", id, first, again)
	}
	return nil
}

func (s *sim) createTool(x coppice.Session, h *hostState) error {
	if s.families.Created >= s.mostKin() || s.removing {
		h.call = nil
		return nil
	}
	p := s.projects[slices.IndexFunc(s.projects, func(p coppice.Project) bool { return p.ID == x.ProjectID })]
	n := coppice.NewTask{Title: fmt.Sprintf("below %s", x.Key), Answer: s.kin.IntN(2) == 0, Budget: coppice.USD(s.kin.IntN(3))}
	var made []coppice.Task
	err := s.once(x, h, func(i *engine.Intake, _ store.Tx) (out any, err error) {
		made, err = i.CreateTasks(s.ctx, p.Prefix, []coppice.NewTask{n})
		if err != nil {
			return nil, err
		}
		return made[0].Key, nil
	})
	if err != nil {
		return err
	}
	s.families.Created++
	s.keys = append(s.keys, made[0].Key)
	s.world.names(made[0])
	return nil
}

// waitTool waits for some of the tasks that were created for the agent's task.
func (s *sim) waitTool(x coppice.Session, h *hostState) error {
	c := h.call
	h.call = nil
	err := s.st.View(s.ctx, func(r store.Reader) error {
		list, err := r.Families.Children(x.TaskID)
		for _, t := range list {
			if s.kin.IntN(4) > 0 {
				c.keys = append(c.keys, t.Key)
			}
		}
		return err
	})
	if err != nil || len(c.keys) == 0 {
		return err
	}
	_, ids, err := s.intake.Wait(s.ctx, x, c.id, c.keys, time.Duration(1+s.kin.IntN(300))*time.Minute)
	if err == nil {
		c.ids, h.call = ids, c
	}
	return err
}

func (s *sim) askTool(x coppice.Session, h *hostState) error {
	c := h.call
	h.call = nil
	_, id, err := s.intake.AskPerson(s.ctx, x, c.id, "which way, "+c.id+"?", nil, time.Duration(1+s.kin.IntN(60))*time.Minute)
	if err == nil {
		c.question, c.ref, h.call = id, coppice.CallRef+c.id, c
	}
	return err
}

func (s *sim) finishTool(x coppice.Session, h *hostState) error {
	if h.role.Lands() {
		s.made++
		s.world.write(h, fmt.Sprintf("f%d", s.kin.IntN(6)), fmt.Sprintf("%s#%d", x.Key, s.made))
	}
	text, ok, err := s.finalWords(x)
	if err != nil {
		return err
	}
	if !ok {
		text = "42"
	}
	err = s.once(x, h, func(i *engine.Intake, tx store.Tx) (any, error) { return "ok", i.Finish(tx, x.ID, text) })
	if err == nil {
		h.call = &toolCall{} // it does nothing more
		s.families.Finished++
	}
	return err
}

// callAgain is a call that waits. At times its agent ends its turn before the call
// is answered.
func (s *sim) callAgain(key string, h *hostState) error {
	c := h.call
	if c.id == "" {
		return nil
	}
	x, err := s.session(key)
	if err != nil || !x.State.Live() {
		return err
	}
	ready := func(r store.Reader) error {
		if c.question != 0 {
			_, err := engine.Answered(r, c.question)
			return err
		}
		_, err := engine.WaitOver(r, x.ID, c.ids, s.now)
		return err
	}
	if err := s.st.View(s.ctx, ready); errors.Is(err, engine.ErrNotYet) {
		if c.question == 0 && !s.calm && s.kin.IntN(12) == 0 {
			zero := 0
			s.world.end(h, coppice.RunResult{Exit: &zero, Conversation: "c-" + key, Summary: "it takes long", Usage: s.used(h)})
		}
		return nil
	} else if err != nil {
		h.call = nil
		return err
	}
	err = s.once(x, h, func(i *engine.Intake, tx store.Tx) (any, error) {
		if c.question != 0 {
			q, err := engine.Answered(tx.Reader(), c.question)
			if err != nil {
				return nil, err
			}
			return q.Answer, i.EndQuestion(tx, q)
		}
		now, err := engine.WaitOver(tx.Reader(), x.ID, c.ids, s.now)
		if err != nil {
			return nil, err
		}
		return "results", i.EndWait(tx, now)
	})
	switch {
	case errors.Is(err, errInjected), errors.Is(err, engine.ErrNotYet):
		h.call = c // the same call comes again
		return nil
	case err == nil && c.question != 0:
		s.world.answered[c.ref] = true
		s.families.Replied++
	case err == nil:
		s.families.Delivered++
	}
	return err
}

// inCall reports whether the agent of a session waits in a tool, as the facts say.
func inCall(r store.Reader, x coppice.Session) bool {
	questions, err := r.Questions.Of(x.TaskID)
	return err == nil && (x.Waits != nil || slices.ContainsFunc(questions, func(q coppice.Question) bool {
		return q.SessionID == x.ID && q.ByCall() && q.ClosedAt.IsZero()
	}))
}

// resultsFollow checks that a session has the results for which the one before it
// waited.
func (s *sim) resultsFollow(r store.Reader, x coppice.Session, before []coppice.Session) error {
	for i := len(before) - 1; i >= 0; i-- {
		o := before[i]
		if o.Role.Info().Prepares || o.StartedAt.IsZero() {
			continue
		}
		if o.Waits == nil || o.Round != x.Round || x.Role.Info().Prepares {
			return nil
		}
		text, err := received(r, x)
		if err != nil {
			return err
		}
		keys, err := r.Tasks.Keys(o.Waits.Tasks)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if !strings.Contains(text, key+" (") {
				return fmt.Errorf("%s does not have the result of %s, for which %s waited: %s", x.Key, key, o.Key, text)
			}
		}
		s.families.Resumed++
		return nil
	}
	return nil
}

// familyHolds checks a task that an agent created: it ends with the task above it if
// that one was stopped, unless a person says otherwise; and what it spent counts
// above.
func (s *sim) familyHolds(r store.Reader, t coppice.Task) error {
	if err := s.familySpendHolds(r, t); err != nil || t.Parent == 0 {
		return err
	}
	p, err := r.Tasks.Get(t.Parent)
	if coppice.ErrorCode(err) == coppice.ENotFound && s.removing {
		return nil
	}
	if err != nil {
		return err
	}
	return s.stopsWith(r, t, p)
}

// stopsWith checks that a task ends with a stopped one above it, unless a person says
// otherwise.
func (s *sim) stopsWith(r store.Reader, t, p coppice.Task) error {
	if p.Outcome != coppice.OutcomeCancelled || p.Reverted != nil || t.Ended() {
		return nil
	}
	asks, err := r.Asks.Open(coppice.TaskSubject(t.ID))
	if err != nil || coppice.Asked(asks, coppice.VerbStop) != nil {
		return err
	}
	events, err := r.Log.Events(0, 10000, store.EventFilter{TaskID: t.ID, Kinds: []coppice.EventKind{coppice.EventTaskEnded, coppice.EventTaskRetried, coppice.EventTaskRequeued, coppice.EventTaskRevert}})
	for _, e := range events {
		if !e.At.Before(p.EndedAt) {
			return err
		}
	}
	return errors.Join(err, fmt.Errorf("%s is %s, and %s, which created it, was stopped", t.Key, t.Stage, p.Key))
}

// familySpendHolds checks that the counter of a family is the sum over all sessions
// below a task.
func (s *sim) familySpendHolds(r store.Reader, t coppice.Task) error {
	sum := 0.0
	var below func(id int64) error
	below = func(id int64) error {
		children, err := r.Families.Children(id)
		if err != nil {
			return err
		}
		for _, c := range children {
			sessions, err := r.Sessions.Of(c.ID)
			if err != nil {
				return err
			}
			for _, x := range sessions {
				sum += x.Usage.CostUSD
			}
			if err := below(c.ID); err != nil {
				return err
			}
		}
		return nil
	}
	if err := below(t.ID); err != nil {
		return err
	}
	spent, err := r.Spend.Of(coppice.FamilySubject(t.ID), "")
	if err == nil && math.Abs(spent.CostUSD-sum) > 1e-6 && !s.removing {
		err = fmt.Errorf("the tasks below %s have spent %v by the counter, and %v by their sessions", t.Key, spent.CostUSD, sum)
	}
	return err
}

// budgetsHold checks after a turn that nothing runs whose task, or a task above it,
// has spent its budget.
func (s *sim) budgetsHold(r store.Reader) error {
	live, err := r.Sessions.Live()
	if err != nil {
		return err
	}
	for _, x := range live {
		if x.StopWhy != "" || x.Screen || x.StartedAt.IsZero() {
			continue
		}
		above, err := r.Families.Ancestors(x.TaskID)
		if err != nil {
			return err
		}
		for _, id := range append(above, x.TaskID) {
			t, err := r.Tasks.Get(id)
			if err != nil {
				return err
			}
			p, err := r.Projects.Get(t.ProjectID)
			if err != nil {
				return err
			}
			most := t.Budget
			if most == 0 {
				most = p.Policy.Budget.Task
			}
			spent, err := engine.Spent(r, id)
			if err != nil {
				return err
			}
			if most > 0 && spent >= most && !t.Ended() {
				return fmt.Errorf("%s runs, and %s has spent %v of %v USD", x.Key, t.Key, spent, most)
			}
		}
	}
	return nil
}

// belowStopped reports whether a task ended because the one above it was stopped.
func (s *sim) belowStopped(r store.Reader, e coppice.Event) bool {
	t, err := r.Tasks.Get(e.TaskID)
	if err != nil || t.Parent == 0 || t.Outcome != coppice.OutcomeCancelled {
		return false
	}
	p, err := r.Tasks.Get(t.Parent)
	return err == nil && p.Outcome == coppice.OutcomeCancelled && !p.EndedAt.After(t.EndedAt)
}

// raiseAbove is a person who raises the budget for which a task waits.
func (s *sim) raiseAbove(t coppice.Task) error {
	var most coppice.USD
	err := s.st.View(s.ctx, func(r store.Reader) error {
		above, err := r.Tasks.ByKey(t.Failure.Of)
		if err != nil {
			return err
		}
		spent, err := engine.Spent(r, above.ID)
		most = spent + 3
		return err
	})
	if err == nil {
		_, err = s.intake.ChangeTask(s.ctx, t.Failure.Of, coppice.TaskChange{Budget: &most})
	}
	return err
}
